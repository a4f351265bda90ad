import math

import numpy as np
import pytest
import torch
from scipy.special import factorial2

from hierlib.data.spheres import unit_sphere
from hierlib.kernels import relu
from hierlib.kernels.arc_cosine import k0
from hierlib.kernels.relu import eigenvalue_bound, relu_gram, series_coefficient


def by_formula(x: np.ndarray, z: np.ndarray) -> float:
    t = min(1.0, max(-1.0, float(np.dot(x, z))))
    return t * (math.pi - math.acos(t)) / (2 * math.pi)


def test_the_gram_matrix_is_the_formula_written_as_loops():
    X, Z = unit_sphere(6, 4, seed=0), unit_sphere(5, 4, seed=1)
    assert np.allclose(relu_gram(X), [[by_formula(x, z) for z in X.numpy()] for x in X.numpy()], atol=1e-15)
    assert np.allclose(relu_gram(X, Z), [[by_formula(x, z) for z in Z.numpy()] for x in X.numpy()], atol=1e-15)


def test_it_is_half_the_arc_cosine_kernel_times_the_inner_product():
    X, Z = unit_sphere(40, 4, seed=0), unit_sphere(30, 4, seed=1)
    assert torch.allclose(relu_gram(X, Z), (X @ Z.T) * k0(X @ Z.T) / 2, rtol=0, atol=2e-16)


def test_known_angles_give_known_values():
    half = 3**0.5 / 2
    X = torch.tensor([[1.0, 0.0], [0.5, half], [0.0, 1.0], [-0.5, half], [-1.0, 0.0]]).double()
    assert torch.allclose(relu_gram(X)[0], torch.tensor([1 / 2, 1 / 6, 0, -1 / 12, 0]).double(), atol=1e-15)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_diagonal_is_exactly_one_half(dtype):
    assert (relu_gram(unit_sphere(300, 20, seed=0, dtype=dtype)).diagonal() == 0.5).all()


def test_naming_the_second_set_of_points_changes_only_the_diagonal():
    X = unit_sphere(20, 5, seed=0)
    difference = relu_gram(X, X) - relu_gram(X)
    assert difference.fill_diagonal_(0).abs().max() < 1e-15


def test_the_matrix_is_symmetric_and_positive_definite():
    H = relu_gram(unit_sphere(300, 20, seed=0))
    assert (H - H.T).abs().max() < 1e-15
    assert torch.linalg.eigvalsh(H).min() > 0


@pytest.mark.parametrize("rows", [1, 7, 299, 300, 10_000])
def test_the_block_size_does_not_matter(rows, monkeypatch):
    X, Z = unit_sphere(300, 10, seed=0), unit_sphere(11, 10, seed=1)
    square, oblong = relu_gram(X), relu_gram(X, Z)
    monkeypatch.setattr(relu, "ROWS", rows)
    assert (relu_gram(X) - square).abs().max() < 1e-15
    assert (relu_gram(X, Z) - oblong).abs().max() < 1e-15


@pytest.mark.parametrize("sign", [1, -1])
def test_rows_that_are_unit_only_to_rounding_give_no_nan(sign):
    X = unit_sphere(100, 30, seed=0, dtype=torch.float32) * (1 + 2e-7)
    X = torch.cat([X, sign * X])
    assert (X @ X.T).abs().max() > 1  # arccos alone would be undefined here
    exact = relu_gram(torch.nn.functional.normalize(X.double()))
    assert (relu_gram(X) - exact).abs().max() < 1e-3
    assert (relu_gram(X, X) - exact).abs().max() < 1e-3


def test_the_inputs_are_left_alone():
    X = unit_sphere(5, 3, seed=0)
    copy = X.clone()
    relu_gram(X), relu_gram(X, X)
    assert torch.equal(X, copy)


def test_the_series_sums_to_the_formula():
    t = np.linspace(-0.99, 0.99, 199)
    series = sum(series_coefficient(p) * t**p for p in range(1, 301))
    formula = t * (np.pi - np.arccos(t)) / (2 * np.pi)
    assert np.abs(series - formula).max() < 1e-4


def test_the_first_coefficients_are_those_of_the_paper():
    assert series_coefficient(1) == 1 / 4
    assert series_coefficient(2) == pytest.approx(1 / (2 * math.pi), rel=1e-15)
    assert [series_coefficient(p) for p in range(3, 30, 2)] == [0.0] * 14
    for p in range(4, 40, 2):
        expected = factorial2(p - 3) / (factorial2(p - 2) * (p - 1) * 2 * math.pi)
        assert series_coefficient(p) == pytest.approx(expected, rel=1e-13)


def test_a_large_power_does_not_overflow():
    p = 200_000  # (p-3)!!/(p-2)!! tends to sqrt(2 / (pi p))
    assert series_coefficient(p) == pytest.approx(math.sqrt(2 / math.pi) / (2 * math.pi) * p**-1.5, rel=1e-4)


def test_the_coefficients_sum_to_one_half():
    last = 2000
    rest = math.sqrt(2 / math.pi) / (2 * math.pi) * last**-0.5  # of the asymptotic form, beyond the last power
    assert sum(series_coefficient(p) for p in range(1, last + 1)) + rest == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("p", [0, -2])
def test_the_series_has_no_power_below_one(p):
    with pytest.raises(ValueError, match=f"^the series starts at the first power, got p = {p}$"):
        series_coefficient(p)


def closest(X: torch.Tensor) -> float:
    return (X @ X.T).abs().fill_diagonal_(0).max().item()


@pytest.mark.parametrize("d", [2, 3, 5, 10, 50])
@pytest.mark.parametrize("n", [2, 10, 100])
def test_no_eigenvalue_lies_below_the_bound(n, d):
    X = unit_sphere(n, d, seed=n)
    smallest = torch.linalg.eigvalsh(relu_gram(X)).min().item()
    assert 0 < eigenvalue_bound(n, closest(X)) <= smallest


@pytest.mark.parametrize(
    ("n", "overlap", "kept"), [(2, 0.1, 0.4), (2, 0.5, 0.4), (30, 0.5, 0.6), (30, 0.9, 0.9), (1000, 0.99, 0.99)]
)
def test_the_bound_lies_below_the_series_it_was_integrated_from(n, overlap, kept):
    last, coefficients = 1000, [0.0]
    coefficients += [series_coefficient(2 * k) for k in range(1, last)]
    series = sum(c * max(0.0, 1 - (n - 1) * overlap ** (2 * k)) for k, c in enumerate(coefficients))
    rest = 0.25 - sum(coefficients)  # the gain of the powers left out is one to more than three digits
    assert kept * (series + rest) < eigenvalue_bound(n, overlap) <= series + rest


@pytest.mark.parametrize("angle", [1e-2, 1e-3, 1e-5])
def test_for_a_small_angle_the_bound_is_proportional_to_it(angle):
    two = (math.pi - (math.pi - angle) * math.cos(angle)) / (2 * math.pi)  # the eigenvalue of two inputs
    assert eigenvalue_bound(2, math.cos(angle)) == pytest.approx(angle / (2 * math.pi), rel=0.01)
    assert eigenvalue_bound(2, math.cos(angle)) < two
    many = eigenvalue_bound(10**6, math.cos(angle)) * 2 * math.pi / angle
    assert many == pytest.approx(1 / math.sqrt(math.pi * math.log(10**6)), rel=0.05)


def test_parallel_inputs_leave_nothing():
    assert eigenvalue_bound(10, 1.0) == 0.0


@pytest.mark.parametrize("overlap", [-0.1, 0.0, 1.1, math.nan])
def test_an_overlap_that_inputs_cannot_have_is_refused(overlap):
    with pytest.raises(ValueError, match=f"^the overlap must be positive and at most 1, got {overlap}$"):
        eigenvalue_bound(5, overlap)
