import numpy as np
import pytest
from scipy import integrate
from scipy.special import eval_hermitenorm, factorial2

from hierlib.theory import hermite
from hierlib.theory.hermite import gate_coefficient, gate_function, gated_mean

PHI = np.array([0.3, 0.8, 0.0, -0.5, 0.0, 0.2])


def density(z):
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


@pytest.mark.parametrize("i", [1, 3, 5, 7, 9])
def test_the_gate_coefficient_is_the_integral_of_the_polynomial_over_a_half_line(i):
    direct, _ = integrate.quad(lambda z: eval_hermitenorm(i, z) * density(z), 0, np.inf)
    assert gate_coefficient(i) == pytest.approx(direct, rel=1e-8)
    double = factorial2(i - 2) if i > 1 else 1.0
    assert gate_coefficient(i) == pytest.approx((-1) ** ((i - 1) // 2) * double / np.sqrt(2 * np.pi), rel=1e-12)


def test_even_polynomials_have_no_mean_behind_a_gate():
    assert gate_coefficient(4) == 0
    assert gated_mean(lambda z: eval_hermitenorm(4, z), 0.7) == pytest.approx(0, abs=1e-12)
    with pytest.raises(ValueError):
        gate_coefficient(0)


def test_the_quadrature_agrees_with_a_two_dimensional_one():
    def h(z):
        return np.tanh(z) + 0.3 * z**2

    # the other view of the proof: alpha_1 = alpha x_1 + beta sqrt(1 - x_1^2), and the gate is alpha >= 0
    x1 = 0.6
    inner = lambda beta, alpha: h(alpha * x1 + beta * 0.8) * density(alpha) * density(beta)  # noqa: E731
    expected, _ = integrate.dblquad(inner, 0, 9, -9, 9)
    assert gated_mean(h, x1) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("x1", [-1.0, -0.999999, -0.3, 0.0, 0.5, 0.9999, 1.0])
def test_the_mean_of_h_behind_the_gate_is_the_power_series(x1):
    phi = np.polynomial.polynomial.polyval(x1, PHI)
    assert gated_mean(lambda z: gate_function(PHI, z), x1) == pytest.approx(phi, abs=1e-10)


def test_even_terms_are_left_out_of_h():
    z = np.linspace(-2, 2, 5)
    assert gate_function([0.3, 0.8, 9.0], z) == pytest.approx(gate_function([0.3, 0.8], z))


def test_a_clip_holds_every_polynomial_at_its_own_level():
    clip = np.array([0.0, 1.0, 0.0, 2.0, 0.0, 0.0])
    phi = [0.5, 1.0, 0.0, 2.0]
    series = hermite.hermite_series(phi)
    assert gate_function(phi, 5.0, clip) == pytest.approx(1.0 + series[1] * 1.0 + series[3] * (2.0**3 - 3 * 2.0))
    assert gate_function(phi, 0.5, clip) == pytest.approx(gate_function(phi, 0.5))


def test_many_series_at_once_are_the_single_ones():
    series = np.stack([PHI, 2 * PHI + np.eye(6)[3]])
    z = np.linspace(-1, 1, 6).reshape(3, 2)
    together = gate_function(series, z)
    assert together[:, 1] == pytest.approx(gate_function(series[1], z[:, 1]))
    assert hermite.mean_square(series)[0] == pytest.approx(hermite.mean_square(PHI))


def test_the_mean_square_is_that_of_h():
    direct, _ = integrate.quad(lambda z: gate_function(PHI, z) ** 2 * density(z), -np.inf, np.inf)
    assert hermite.mean_square(PHI) == pytest.approx(direct, rel=1e-8)


def test_logarithms_of_large_values():
    assert hermite.log_hermite(5, 6.0) == pytest.approx(np.log(eval_hermitenorm(5, 6.0)))
    assert hermite.log_hermite(0, 1.0) == 0
    with pytest.raises(ValueError):
        hermite.log_hermite(5, 1.0)
    assert np.exp(hermite.log_double_factorial(8)) == pytest.approx(8 * 6 * 4 * 2)
    assert np.exp(hermite.log_gate_coefficient(9)) == pytest.approx(7 * 5 * 3 / np.sqrt(2 * np.pi))


@pytest.mark.parametrize(("i", "B"), [(1, 2.0), (4, 4.0), (5, 5.0)])
def test_the_tails_are_their_integrals(i, B):
    beyond, _ = integrate.quad(lambda z: abs(eval_hermitenorm(i, z)) * density(z), B, np.inf)
    assert np.exp(hermite.log_tail(i, B)) == pytest.approx(2 * beyond, rel=1e-7)
    held, _ = integrate.quad(lambda z: eval_hermitenorm(i, B) * density(z), B, np.inf)
    assert np.exp(hermite.log_clipped_tail(i, B)) == pytest.approx(2 * held, rel=1e-7)


def test_clip_levels():
    assert hermite.clip_levels(4, np.exp(-9), 0.5)[4] == pytest.approx(0.5 * (100 * 2 + 10 * 3))


@pytest.mark.parametrize("scale", [0.03, 0.04])
def test_no_function_of_the_class_has_a_larger_tail_than_the_worst_one(scale):
    eps, degree = 0.01, 7
    B = hermite.clip_levels(degree, eps, scale)
    tails = {i: np.exp(hermite.log_tail(i, B[i])) / abs(gate_coefficient(i)) for i in (1, 3, 5, 7)}
    rng = np.random.default_rng(0)
    sums = []
    for weights in [*rng.dirichlet(np.ones(4), size=200), *np.eye(4)]:
        c = weights / eps / np.array([2, 4, 6, 8])  # sum_i (i + 1)|c_i| = 1/eps
        sums.append(sum(c_i * t for c_i, t in zip(c, tails.values(), strict=True)) / (eps / 8))
    assert 10 ** hermite.worst_tail_decades(hermite.log_tail, degree, eps, scale) == pytest.approx(max(sums))


def test_the_least_constant_makes_the_sum_just_fit():
    eps, degree = 0.001, 5
    sizes = {1: 7.0, 3: 50.0, 5: 4000.0}
    C = hermite.least_constant(lambda i: np.log(sizes[i]), degree, eps)

    def half_weight(i, constant):
        return 0.5 * (constant**i + (constant * np.sqrt(np.log(1 / eps) / i)) ** i)

    fits = [sizes[i] / abs(gate_coefficient(i)) / half_weight(i, C) for i in sizes]
    assert max(fits) == pytest.approx(1)
