"""Concentration tools against brute force, closed forms and Monte Carlo."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import stats

from hierlib.theory import concentration as tools


def brute_force(M, s):
    sets = itertools.combinations(range(M.shape[1]), s)
    return max(torch.linalg.matrix_norm(M[:, list(chosen)], 2).item() for chosen in sets)


@pytest.mark.parametrize("power", [1, 3])
def test_normalised_powers_have_mean_zero_and_variance_one(power):
    z = tools.normalised_powers((400_000,), 0, "test", power)
    assert z.mean().item() == pytest.approx(0, abs=0.01)
    assert z.var().item() == pytest.approx(1, rel=0.1)


def test_the_chi_square_tail_in_two_dimensions_is_an_exponential():
    assert tools.chi_square_tail(2, 5.0) == pytest.approx(math.exp(-2.5))
    assert tools.chi_square_threshold(4, 9.0) == 4 + 12 + 18


@pytest.mark.parametrize("s", [1, 2])
def test_the_sparse_norm_is_the_largest_over_all_sets_of_columns(s):
    M = tools.normalised_powers((3, 9), s, "matrix")
    assert tools.sparse_norm(M, s) == pytest.approx(brute_force(M, s))


@pytest.mark.parametrize("s", [2, 3])
def test_the_search_finds_nearly_the_largest_sparse_norm_and_never_more(s):
    M = tools.normalised_powers((4, 14), s, "matrix")
    assert 0.9 * brute_force(M, s) <= tools.sparse_norm_found(M, s) <= brute_force(M, s) + 1e-9


def test_the_search_is_exact_when_all_columns_may_be_used():
    M = tools.normalised_powers((5, 8), 0, "matrix") + 5  # one singular value far above the others: fast power steps
    assert tools.sparse_norm_found(M, 8) == pytest.approx(torch.linalg.matrix_norm(M, 2).item(), rel=1e-6)


def test_the_exact_norm_refuses_larger_sets():
    with pytest.raises(ValueError, match="exact only"):
        tools.sparse_norm(torch.eye(4), 3)


def test_the_union_bound_counts_the_sets():
    assert tools.log_choose(10, 3) == pytest.approx(math.log(120))
    assert tools.sparse_union_bound(4, 10, 1) == pytest.approx(3 + math.sqrt(2 * math.log(10)))


def test_gated_sums_leave_out_closed_gates():
    a1, a2, n, h = (torch.tensor(row) for row in ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, -1.0, 2.0], [1.0, 1.0, 0.5]))
    assert tools.gated_sums(a1, a2, n, h).item() == 4 + 9


def test_the_exponent_of_products_is_that_of_a_difference_of_gammas():
    # Two products add up to a Laplace variable: Pr[|X| >= x] = exp(-x), and Chernoff loses a factor polynomial in x.
    m, B = 2, 5.0
    x = tools.indicator_threshold(m, B)
    s = (math.sqrt(1 + x * x) - 1) / x  # the maximum of s x + log(1 - s^2)
    assert tools.product_exponent(m, B) == pytest.approx(s * x + math.log(1 - s * s), rel=1e-6)
    assert tools.product_exponent(10**8, 3.0) == pytest.approx(4.5, rel=1e-2)


def test_the_exponent_of_squares_without_signs_is_that_of_chi_square():
    m, B = 30, 4.0
    x = m + tools.indicator_threshold(m, B)
    known = (x - m - m * math.log(x / m)) / 2
    assert tools.square_exponent(m, B, 1.0) == pytest.approx(known, rel=1e-6)
    assert stats.chi2.sf(x, m) <= math.exp(-known)


@pytest.mark.slow
def test_the_exponent_of_squares_with_random_signs_is_a_bound_and_nearly_the_truth():
    m, B, draws = 40, 3.0, 200_000
    a, signs = tools.normalised_powers((draws, m), 0, "a"), tools.normalised_powers((draws, m), 0, "signs").sign()
    sums = tools.gated_sums(a, a, torch.ones(m), signs).numpy()
    frequency, bound = (
        np.mean(np.abs(sums) >= tools.indicator_threshold(m, B)),
        2 * math.exp(-tools.square_exponent(m, B, 0.5)),
    )
    assert bound / 20 < frequency <= bound
