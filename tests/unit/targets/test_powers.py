import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import eval_gegenbauer

from hierlib.data.spheres import unit_sphere
from hierlib.targets.powers import (
    arctangent,
    arctangent_series,
    cosine,
    cosine_harmonics,
    cosine_series,
    monomial,
    power_sum,
    quadratic,
    series_slope,
    series_value,
)

X = unit_sphere(20, 4, seed=0)
BETA = torch.tensor([0.5, -0.3, 0.2, 0.4]).double()
POINTS = torch.tensor([[1.0, 2.0], [0.5, -1.0], [-3.0, 0.0], [0.0, 0.0]])
SLOPE = torch.tensor([2.0, 1.0])


def test_a_power_series_and_its_slope():
    z = torch.linspace(-1, 1, 9, dtype=torch.float64)
    c = torch.tensor([1.0, -2.0, 0.0, 3.0]).double()
    assert torch.allclose(series_value(c, z), 1 - 2 * z + 3 * z**3, atol=1e-15)
    assert torch.allclose(series_slope(c, z), -2 + 9 * z**2, atol=1e-15)


@pytest.mark.parametrize("p", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [1.0, -0.5])
def test_a_monomial_is_a_power_of_a_linear_function_times_alpha(p, alpha):
    by_hand = []
    for x in POINTS.tolist():
        product = alpha
        for _ in range(p):
            product *= sum(x_j * beta_j for x_j, beta_j in zip(x, SLOPE.tolist(), strict=True))
        by_hand.append(product)
    assert monomial(POINTS, SLOPE, p, alpha).tolist() == pytest.approx(by_hand)


def test_alpha_is_one_when_omitted():
    assert monomial(POINTS, SLOPE, 2).tolist() == [16.0, 0.0, 36.0, 0.0]


def test_a_power_sum_is_the_sum_of_its_monomials():
    betas = 2 * unit_sphere(3, 4, seed=1)
    summed = sum(monomial(X, beta, p, a) for beta, p, a in zip(betas, [1, 2, 6], [0.5, -1.5, 2.0], strict=True))
    assert torch.allclose(power_sum(X, [1, 2, 6], torch.tensor([0.5, -1.5, 2.0]).double(), betas), summed, atol=1e-14)


def test_a_quadratic_form_is_the_double_sum_and_the_power_sum_of_its_eigenvectors():
    A = torch.tensor([[1.0, 2.0, 0.0, 0.5], [2.0, -1.0, 0.3, 0.0], [0.0, 0.3, 0.2, 1.0], [0.5, 0.0, 1.0, -2.0]]).double()
    loops = [sum(A[i, j] * x[i] * x[j] for i in range(4) for j in range(4)) for x in X]
    assert quadratic(X, A).tolist() == pytest.approx([float(value) for value in loops])
    alphas, vectors = torch.linalg.eigh(A)
    assert torch.allclose(power_sum(X, [2] * 4, alphas, vectors.T), quadratic(X, A), atol=1e-13)


def test_the_examples_are_the_functions_they_are_named_after():
    z = [sum(a * b for a, b in zip(x, BETA.tolist(), strict=True)) for x in X.tolist()]
    assert cosine(X, BETA).tolist() == pytest.approx([math.cos(v) - 1 for v in z])
    assert arctangent(X, BETA).tolist() == pytest.approx([v * math.atan(v / 2) for v in z])


def test_the_cosine_keeps_its_digits_for_small_arguments():
    assert cosine(X, 1e-9 * BETA).tolist() == pytest.approx((-((1e-9 * X @ BETA) ** 2) / 2).tolist(), rel=1e-12)


@pytest.mark.parametrize(
    ("series", "function", "size"),
    [(cosine_series, cosine, 1.0), (cosine_series, cosine, 5.0), (arctangent_series, arctangent, 1.0)],
)
def test_a_series_sums_to_its_function(series, function, size):
    beta = size * unit_sphere(1, 4, seed=2)
    powers, alphas = series(30)
    assert torch.allclose(power_sum(X, powers, alphas, beta.expand(30, -1)), function(X, beta[0]), atol=1e-12)


def test_the_arctangent_series_has_radius_two():
    powers, alphas = arctangent_series(200)
    for z, converges in ((1.8, True), (2.2, False)):
        error = abs(float((alphas * z ** torch.tensor(powers).double()).sum()) - z * math.atan(z / 2))
        assert (error < 1e-8) == converges


def legendre(k: int, d: int, t: np.ndarray) -> np.ndarray:
    """P_k of dimension d, one at t = 1 (Gegenbauer of index d/2 - 1, normalised)."""
    return eval_gegenbauer(k, d / 2 - 1, t) / eval_gegenbauer(k, d / 2 - 1, 1.0)


@pytest.mark.parametrize(("size", "d"), [(0.5, 3), (2.0, 3), (9.0, 5), (4.0, 10)])
def test_the_harmonics_of_the_cosine_are_one_dimensional_integrals(size, d):
    def weighted(f):
        return quad(lambda angle: f(math.cos(angle)) * math.sin(angle) ** (d - 2), 0, math.pi, epsabs=1e-13)[0]

    total = weighted(lambda t: 1.0)
    expected = [weighted(lambda t, k=k: (math.cos(size * t) - 1) * legendre(k, d, t)) / total for k in (0, 2, 4, 6)]
    assert cosine_harmonics(size, d, 6).tolist() == pytest.approx(expected, abs=1e-12)
