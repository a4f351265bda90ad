import math

import pytest
import torch
from scipy.integrate import quad
from scipy.special import eval_gegenbauer

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import inverse_norm
from hierlib.papers.fine_grained.harmonics import limiting_square, multiplicity, relu_eigenvalue, step_coefficient
from hierlib.targets.powers import cosine, cosine_harmonics


def average(f, d: int) -> float:
    """E f(t) for one coordinate t of a uniform point on the sphere in R^d, by quadrature over the angle."""
    parts = [
        quad(lambda angle, g=g: g(math.cos(angle)) * math.sin(angle) ** (d - 2), low, high, epsabs=1e-13)[0]
        for low, high in ((0, math.pi / 2), (math.pi / 2, math.pi))
        for g in (f, lambda t: 1.0)
    ]
    return (parts[0] + parts[2]) / (parts[1] + parts[3])


def legendre(k: int, d: int, t: float) -> float:
    return eval_gegenbauer(k, d / 2 - 1, t) / eval_gegenbauer(k, d / 2 - 1, 1.0)


def test_the_harmonics_are_counted_as_in_the_plane_of_textbooks():
    assert [multiplicity(k, 3) for k in range(5)] == [1, 3, 5, 7, 9]
    assert [multiplicity(k, 4) for k in range(5)] == [1, 4, 9, 16, 25]
    assert multiplicity(2, 10) == 10 * 11 // 2 - 1


@pytest.mark.parametrize("d", [3, 4, 10])
@pytest.mark.parametrize("k", range(8))
def test_the_coefficients_of_the_step_are_integrals(k, d):
    assert step_coefficient(k, d) == pytest.approx(average(lambda t: (t >= 0) * legendre(k, d, t), d), abs=1e-11)


@pytest.mark.parametrize("d", [3, 4, 10])
@pytest.mark.parametrize("k", range(8))
def test_the_eigenvalues_are_integrals_of_the_kernel(k, d):
    expected = average(lambda t: t * (math.pi - math.acos(t)) / (2 * math.pi) * legendre(k, d, t), d)
    assert relu_eigenvalue(k, d) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("d", [5, 10])
def test_the_eigenvalues_add_up_to_the_diagonal(d):
    assert sum(multiplicity(k, d) * relu_eigenvalue(k, d) for k in range(2000)) == pytest.approx(0.5, abs=5e-4)


def test_a_gram_matrix_of_many_points_has_these_eigenvalues_with_these_multiplicities():
    values = torch.linalg.eigvalsh(relu_gram(unit_sphere(1500, 3, seed=0)) / 1500).flip(0)
    expected = sorted((relu_eigenvalue(k, 3) for k in (0, 1, 2) for _ in range(multiplicity(k, 3))), reverse=True)
    assert values[:9].tolist() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("size", [0.5, 2.0, 4.0])
def test_points_on_the_sphere_approach_the_limit_from_below(size):
    limit = limiting_square(cosine_harmonics(size, 3, 60), 3)
    beta = size * unit_sphere(1, 3, seed=0, name="beta")[0]
    nested = unit_sphere(800, 3, seed=0)
    squares = [float(inverse_norm(relu_gram(nested[:n]), cosine(nested[:n], beta))) ** 2 for n in (50, 200, 800)]
    assert squares == sorted(squares)
    assert 0.98 < squares[-1] / limit < 1


def test_a_constant_costs_one_over_the_first_eigenvalue():
    assert limiting_square(torch.tensor([1.0, 0.0, 0.0]).double(), 7) == pytest.approx(1 / relu_eigenvalue(0, 7))
