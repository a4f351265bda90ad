import math

import pytest

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram, series_coefficient
from hierlib.kernels.spectrum import inverse_norm
from hierlib.papers.fine_grained.harmonics import limiting_square
from hierlib.papers.fine_grained.whole_sphere import largest_square, power_coefficient, smallest_share
from hierlib.targets.powers import cosine_harmonics, cosine_series, monomial
from hierlib.theory.loewner import largest_share
from tests.unit.papers.fine_grained.test_harmonics import average, legendre


@pytest.mark.parametrize("d", [3, 4, 10])
@pytest.mark.parametrize("p", [1, 2, 3, 6])
@pytest.mark.parametrize("k", range(8))
def test_the_coefficients_of_a_power_are_integrals(p, k, d):
    assert power_coefficient(p, k, d) == pytest.approx(average(lambda t: t**p * legendre(k, d, t), d), abs=1e-12)


@pytest.mark.parametrize("p", [1, 2, 4, 8])
def test_points_on_the_sphere_approach_the_largest_square_from_below(p):
    nested, beta = unit_sphere(800, 3, seed=0), unit_sphere(1, 3, seed=0, name="beta")[0]
    squares = [float(inverse_norm(relu_gram(nested[:n]), monomial(nested[:n], beta, p))) ** 2 for n in (50, 200, 800)]
    limit = largest_square([p], [1.0], 3)
    assert squares == sorted(squares)
    assert 0.97 < squares[-1] / limit < 1


def test_a_linear_function_costs_four_in_every_dimension():
    assert [largest_square([1], [-2.0], d) for d in (3, 10, 1000)] == pytest.approx([16, 16, 16])


@pytest.mark.parametrize("p", [2, 4, 8])
def test_in_many_dimensions_a_power_costs_one_over_its_coefficient(p):
    costs = [largest_square([p], [1.0], d) * series_coefficient(p) for d in (3, 10, 100, 10_000)]
    assert costs == sorted(costs)
    assert 0.99 < costs[-1] < 1


@pytest.mark.parametrize("powers", [[3], [5], [2, 3], [1, 7]])
def test_an_odd_power_above_one_has_no_bound(powers):
    assert largest_square(powers, [0.01] * len(powers), 5) == math.inf


def test_a_series_costs_what_its_harmonics_cost():
    powers, alphas = cosine_series(20)
    size, d = 2.0, 5
    scaled = [float(a) * size**p for p, a in zip(powers, alphas, strict=True)]
    assert largest_square(powers, scaled, d) == pytest.approx(limiting_square(cosine_harmonics(size, d, 40), d))


@pytest.mark.parametrize("p", [1, 2, 4])
def test_what_fits_into_the_matrix_of_many_points_tends_to_the_smallest_share(p):
    X = unit_sphere(600, 3, seed=0)
    share, limit = largest_share(relu_gram(X), (X @ X.T) ** p), smallest_share(p, 3)
    assert limit <= share <= 1.15 * limit


def test_the_smallest_share_of_a_power_is_at_least_its_coefficient():
    for p in (1, 2, 4, 10):
        assert all(smallest_share(p, d) >= series_coefficient(p) * (1 - 1e-12) for d in (3, 8, 50))
    assert smallest_share(3, 5) == smallest_share(5, 3) == 0
