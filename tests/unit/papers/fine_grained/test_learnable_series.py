import math

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram, series_coefficient
from hierlib.kernels.spectrum import inverse_norm
from hierlib.papers.fine_grained.harmonics import limiting_square
from hierlib.papers.fine_grained.learnable_series import series_bound, triangle_bound
from hierlib.targets.powers import arctangent_series, cosine_harmonics, cosine_series, power_sum

SIZES = [0.1, 0.5, 1.0]


def along(size: float, terms: int) -> torch.Tensor:
    return torch.tensor([[size, 0.0]]).double().expand(terms, -1)


@pytest.mark.parametrize("size", [*SIZES, 8.0])
def test_the_right_hand_side_of_equation_13_for_the_cosine_is_a_hyperbolic_sine(size):
    assert triangle_bound(*cosine_series(40), along(size, 40)) == pytest.approx(3 * size * math.sinh(size))


@pytest.mark.parametrize("size", SIZES)
def test_the_right_hand_side_of_equation_13_for_the_arctangent_in_closed_form(size):
    closed = 3 * (2 * (size / 2) ** 2 / (1 - (size / 2) ** 2) + size * math.atanh(size / 2))
    assert triangle_bound(*arctangent_series(60), along(size, 60)) == pytest.approx(closed)


def test_the_series_bound_of_a_quadratic_form_is_its_frobenius_norm():
    A = torch.tensor([[1.0, 2.0, 0.0], [2.0, -1.0, 0.3], [0.0, 0.3, 0.2]]).double()
    alphas, vectors = torch.linalg.eigh(A)
    assert series_bound([2, 2, 2], alphas, vectors.T) == pytest.approx(float((2 * math.pi) ** 0.5 * A.norm()))
    assert triangle_bound([2, 2, 2], alphas, vectors.T) == pytest.approx(float(6 * alphas.abs().sum()))


def test_the_series_bound_is_the_norm_of_explicit_tensors():
    betas = torch.tensor([[1.0, 0.5], [-0.3, 2.0], [0.7, 0.7], [1.1, -0.2]]).double()
    a, b, c, e = betas
    linear = 2.0 * a
    matrix = 0.5 * torch.outer(b, b) - 1.5 * torch.outer(c, c)
    fourth = torch.einsum("i,j,k,l->ijkl", e, e, e, e)
    expected = sum(t.square().sum() / series_coefficient(p) for p, t in ((1, linear), (2, matrix), (4, fourth)))
    assert series_bound([1, 2, 2, 4], torch.tensor([2.0, 0.5, -1.5, 1.0]).double(), betas) == pytest.approx(
        float(expected) ** 0.5
    )


def test_both_bounds_hold_on_points_and_the_series_is_the_sharper_one():
    powers, alphas, betas = (
        [1, 2, 2, 6],
        torch.tensor([1.0, -2.0, 0.5, 3.0]).double(),
        unit_sphere(4, 3, seed=0, name="betas"),
    )
    X = unit_sphere(300, 3, seed=0)
    length = float(inverse_norm(relu_gram(X), power_sum(X, powers, alphas, betas)))
    assert length < series_bound(powers, alphas, betas) < triangle_bound(powers, alphas, betas)


def test_terms_that_cancel_cost_nothing_in_the_series_bound():
    beta = unit_sphere(1, 3, seed=0).expand(2, -1)
    assert series_bound([4, 4], torch.tensor([1.0, -1.0]).double(), beta) == 0
    assert series_bound([2], torch.tensor([1.0]).double(), torch.zeros(1, 3).double()) == 0


def test_the_series_bound_is_what_the_limit_of_many_points_tends_to_in_high_dimension():
    bound = series_bound(*cosine_series(40), along(2.0, 40)) ** 2
    limits = [limiting_square(cosine_harmonics(2.0, d, 40), d) / bound for d in (10, 50, 200)]
    missing = [1 - limit for limit in limits]
    assert missing == sorted(missing, reverse=True)
    assert missing[1] / missing[2] == pytest.approx(4, rel=0.2), "what is missing falls like 1/d"
    assert 0.94 < limits[-1] < 1
