"""The complexities against closed forms and brute force."""

import itertools
import math

import pytest
import torch

from hierlib.papers.rnn.complexity import (
    C_1,
    log_additive,
    log_arctan_half,
    log_complexity,
    log_complexity_n,
    log_largest_multinomial,
    log_n_variables,
)


@pytest.mark.parametrize("R", [0.5, 1.0, 1.5])
def test_the_complexity_of_arctan_has_a_closed_form(R):
    exact = 1 + (R / 2) / (1 - R**2 / 4)
    assert math.exp(log_complexity(log_arctan_half(400), R)) == pytest.approx(exact)


def test_arctan_itself():
    i = torch.arange(60)
    terms = log_arctan_half(59).exp() * torch.where(i % 4 == 3, -1.0, 1.0)
    assert (terms * 0.8**i).sum().item() == pytest.approx(math.atan(0.4))


@pytest.mark.parametrize(("N", "i"), [(2, 7), (3, 8), (4, 4), (3, 2)])
def test_the_largest_multinomial_is_the_largest(N, i):
    least = 1 if i >= N else 0
    found = max(
        math.factorial(i) // math.prod(map(math.factorial, parts))
        for parts in itertools.product(range(least, i + 1), repeat=N)
        if sum(parts) == i
    )
    assert math.exp(log_largest_multinomial(N, i)) == pytest.approx(found)


def test_with_one_variable_both_complexities_differ_by_their_factor():
    logs = torch.tensor([0.0, 0.0, -1.0, -3.0], dtype=torch.float64)
    one, other = (math.exp(log) - 1 for log in (log_complexity(logs, 1.3), log_complexity_n(logs, 1.3, 1, 4)))
    assert other == pytest.approx(one * 4**1.5 * C_1)


def test_a_linear_term_of_both_classes():
    linear, L = torch.tensor([-math.inf, 0.0], dtype=torch.float64), 16
    assert math.exp(log_additive(linear, L)) == pytest.approx(L**3.5 * (1 + 4))
    by_number, by_distance = log_n_variables(linear, L, 1, 3)
    assert math.exp(by_distance) == pytest.approx(L**3.5 * (1 + 32))
    assert math.exp(by_number) == pytest.approx(L**2 * (1 + L**1.5 * C_1 * 4))
