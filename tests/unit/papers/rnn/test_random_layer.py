"""Exact tails and angular integrals against draws, closed forms and a second way to integrate."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from hierlib.papers.rnn.random_layer import (
    gated_squares_tail,
    hermite_coefficients,
    pair_mean,
    product_moment,
    signs_tail,
    squares_tail,
    sub_exponential_scale,
)


def relu(x):
    return np.maximum(x, 0)


def step(x):
    return (x > 0).astype(float)


@pytest.mark.parametrize(
    ("tail", "term"),
    [(signs_tail, np.sign), (squares_tail, lambda g: g**2 - 1), (gated_squares_tail, lambda g: 2 * relu(g) ** 2 - 1)],
)
def test_tails_against_draws(tail, term):
    m, eps, draws = 20, 0.55, 40_000
    means = term(np.random.default_rng(0).standard_normal((draws, m))).mean(1)
    p = math.exp(tail(m, eps))
    assert (np.abs(means) > eps).mean() == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / draws))


def test_an_impossible_mean_has_no_probability():
    assert signs_tail(10, 1.0) == -math.inf


def test_the_scale_of_signs_is_one_and_that_of_squares_is_where_its_edge_binds():
    assert sub_exponential_scale(lambda s: np.logaddexp(s, -s) - math.log(2), math.inf) == pytest.approx(1, abs=1e-3)
    scale = sub_exponential_scale(lambda s: -s - np.log1p(-2 * s) / 2, 0.5)
    assert -1 / scale - math.log1p(-2 / scale) / 2 == pytest.approx(0.5, abs=1e-3)


def test_a_law_without_exponential_moments_has_no_scale():
    assert sub_exponential_scale(lambda s: np.where(s > 0, np.inf, 0.0), math.inf) == math.inf
    powers = product_moment(np.square, np.square, 0.3, np.array([-0.1, 1e-9]), degree=2)
    g = np.random.default_rng(0).standard_normal((2, 400_000))
    u, v = g[0], 0.3 * g[0] + math.sqrt(1 - 0.09) * g[1]
    assert powers[0] == pytest.approx(np.exp(-0.1 * (u * v) ** 2).mean(), abs=2e-3)
    assert powers[1] == math.inf


def test_the_moment_of_a_bounded_product():
    # Both gates open with probability k0 / 2.
    k0 = (math.pi - math.acos(0.4)) / math.pi
    assert product_moment(step, step, 0.4, np.array(2.0), degree=0) == pytest.approx(1 + k0 / 2 * math.expm1(2.0))


@pytest.mark.parametrize("z", [-1.0, -0.3, 0.0, 0.8, 1.0])
def test_pair_means_against_closed_forms(z):
    k0 = (math.pi - math.acos(z)) / math.pi
    assert 2 * pair_mean(step, step, z, 0) == pytest.approx(k0, abs=1e-12)
    assert 2 * pair_mean(relu, relu, z, 2) == pytest.approx(math.sqrt(1 - z * z) / math.pi + z * k0, abs=1e-12)
    assert pair_mean(relu, step, z, 1) == pytest.approx((1 + z) / (2 * math.sqrt(2 * math.pi)), abs=1e-12)


def test_product_moment_against_a_plain_integral_and_beyond_its_edge():
    z, s = 0.4, 0.3
    density = stats.multivariate_normal([0, 0], [[1, z], [z, 1]]).pdf
    quadrant, _ = integrate.dblquad(lambda v, u: math.expm1(s * u * v) * density([u, v]), 0, 30, 0, 30, epsabs=1e-7)
    assert product_moment(relu, relu, z, s) == pytest.approx(1 + quadrant, abs=1e-6)
    assert product_moment(relu, relu, 1.0, 0.51) == math.inf


def test_hermite_coefficients_of_known_functions():
    cubic = hermite_coefficients(lambda x: x**3, 6)
    assert cubic == pytest.approx([0, 3, 0, math.sqrt(6), 0, 0], abs=1e-10)
    assert hermite_coefficients(relu, 40) == pytest.approx(hermite_coefficients(relu, 40, half_line=True), abs=1e-10)
    z = 0.9
    series = (hermite_coefficients(relu, 200) ** 2 * z ** np.arange(200)).sum()
    assert series == pytest.approx(pair_mean(relu, relu, z, 2), abs=1e-11)
