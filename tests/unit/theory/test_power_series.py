import math

import numpy as np
import pytest
import torch

from hierlib.theory.power_series import (
    closed_form_s,
    complexity_eps,
    complexity_s,
    entire_growth,
    lipschitz_bound,
    log_complexity_eps,
    log_taylor,
    lowering_cost,
    truncated_power,
    truncation_degree,
)

NAMES = ["exp", "sin", "cos", "tanh", "sigmoid"]


def tangent(degree):
    """Taylor coefficients of tan from tan' = 1 + tan^2."""
    t = [0.0]
    for n in range(degree):
        t.append(((n == 0) + sum(t[j] * t[n - j] for j in range(n + 1))) / (n + 1))
    return t


def test_both_measures_term_by_term():
    c = torch.tensor([[0.5, -1.0, 0.0, 2.0], [0.0, 0.0, 3.0, 0.0]]).double()
    eps, C_star = 1e-3, 10.0
    for row, s, e in zip(c, complexity_s(c, C_star), complexity_eps(c, eps, C_star), strict=True):
        assert math.isclose(s, 10 * sum((i + 1) * abs(x) for i, x in enumerate(row)))
        second = [1.0] + [(C_star * math.sqrt(math.log(1 / eps) / i)) ** i for i in (1, 2, 3)]
        assert math.isclose(e, sum((C_star**i + second[i]) * abs(x) for i, x in enumerate(row)), rel_tol=1e-12)


def test_the_lipschitz_bound_takes_the_worst_term():
    coefficients = torch.tensor([[[1.0, 0.0], [0.0, -2.0], [0.0, 0.0]]] * 4).double()  # complexities 1, 4, 0
    assert lipschitz_bound(torch.ones(4, 3), coefficients, 10.0) == 2 * 3 * 40


def test_lowering_an_even_power_is_free_for_large_constants_only():
    """z^(i-1) in place of z^i at log(1/eps) = L costs the ratio of 1 + (L / j)^(j/2) at j = i - 1 and j = i, for C = 1."""
    L = np.array([math.log(1 / e) for e in (0.9, 0.7, 0.5, 0.37, 0.2, 0.1, 1e-2, 1e-3, 1e-5, 1e-10, 1e-20, 1e-30, 1e-100)])
    cost = [((1 + (L / (i - 1)) ** ((i - 1) / 2)) / (1 + (L / i) ** (i / 2))).max() for i in range(2, 41, 2)]
    assert math.isclose(lowering_cost(1.0), max(cost), rel_tol=1e-12) and max(cost) > 1.2
    assert all(lowering_cost(C) <= 1 for C in (2.0, 2.5, 5.0, 100.0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", [1.0, 0.7])
def test_coefficients_are_those_of_the_function(name, c):
    """The signs of the series, put back, give the function itself."""
    z = np.linspace(-1, 1, 9)
    i = np.arange(101)
    sign = np.where(i % 4 < 2, 1, -1) if name != "exp" else 1
    function = {
        "exp": np.expm1(c * z),
        "sin": np.sin(c * z),
        "cos": np.cos(c * z),
        "tanh": np.tanh(c * z),
        "sigmoid": 1 / (1 + np.exp(-c * z)),
    }[name]
    series = (z[:, None] ** i * sign * log_taylor(name, 100, c).exp().numpy()).sum(1)
    assert np.abs(series - function).max() < 1e-13


def test_tanh_has_the_coefficients_of_the_differential_equation():
    assert np.allclose(log_taylor("tanh", 60).exp(), tangent(60), rtol=1e-12)


def test_the_root_has_binomial_coefficients():
    binomial = [1.0]
    for i in range(20):
        binomial.append(binomial[-1] * (0.5 - i) / (i + 1))
    assert np.allclose(log_taylor("root", 20).exp(), np.abs(binomial), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", [1.0, 0.5])
def test_the_closed_forms_are_the_sums(name, c):
    assert math.isclose(complexity_s(log_taylor(name, 400, c).exp(), 1.0), closed_form_s(name, c), rel_tol=1e-12)


def test_a_steep_tanh_has_no_finite_complexity():
    assert closed_form_s("tanh", 2.0) == math.inf and closed_form_s("sigmoid", 3.2) == math.inf
    sums = [complexity_s(log_taylor("tanh", q, 2.0).exp(), 1.0) for q in (50, 100)]
    assert sums[1] > 100 * sums[0]


@pytest.mark.parametrize(("name", "parity"), [("exp", False), ("sin", True), ("cos", True)])
@pytest.mark.parametrize("C_star", [1.0, 10.0])
def test_the_growth_of_entire_functions(name, parity, C_star):
    series = log_taylor(name, 3000)
    error = [log_complexity_eps(series, L, C_star) - entire_growth(L, C_star, parity) for L in (1e3, 1e6)]
    assert abs(error[1]) < 0.02 and abs(error[1]) < abs(error[0])


@pytest.mark.parametrize(("name", "function"), [("tanh", np.tanh), ("sigmoid", lambda z: 1 / (1 + np.exp(-z)))])
@pytest.mark.parametrize("L", [3.0, 10.0, 25.0])
def test_a_series_cut_at_the_degree_is_close_enough_and_no_shorter_one_is_by_much(name, function, L):
    series, z = log_taylor(name, 200), np.linspace(-1, 1, 201)
    N = truncation_degree(series, L)
    i = np.arange(201)
    terms = z[:, None] ** i * np.where(i % 4 < 2, 1, -1) * series.exp().numpy()
    error = [np.abs(terms[:, : q + 1].sum(1) - function(z)).max() for q in (N, N - 2)]
    assert error[0] <= math.exp(-L) < 4 * error[1]


def test_nothing_is_needed_when_everything_is_allowed():
    assert truncation_degree(torch.tensor([-1.0, -2.0, -3.0]), -5.0) == 0


@pytest.mark.parametrize(("name", "radius"), [("tanh", math.pi / 2), ("sigmoid", math.pi)])
@pytest.mark.parametrize("C_star", [1.0, 2.5, 10.0, 1e4])
def test_the_power_of_a_cut_series(name, radius, C_star):
    L, step = 2000.0, 200.0
    logs = []
    for value in (L, L + step):
        series = log_taylor(name, 10_000)
        logs.append(log_complexity_eps(series[: truncation_degree(series, value) + 1], value, C_star).item())
    assert math.isclose((logs[1] - logs[0]) / step, truncated_power(radius, C_star), rel_tol=0.01, abs_tol=0.002)


def test_unknown_functions_are_refused():
    for call in (lambda: log_taylor("abs", 3), lambda: closed_form_s("root")):
        with pytest.raises(ValueError, match="no "):
            call()
