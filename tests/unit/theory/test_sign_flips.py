"""Sign flips against brute force over all subsets, quadrature and Monte Carlo."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from hierlib.streams import stream
from hierlib.theory.sign_flips import (
    FLIP_CONSTANT,
    best_flips,
    changes,
    gaussian_vector,
    most_flips,
    proof_constants,
    random_share,
    shift,
    tail_rate,
    worst_share,
)


def subsets(m):
    for bits in itertools.product([False, True], repeat=m):
        yield torch.tensor(bits)


@pytest.mark.parametrize("seed", range(5))
def test_no_subset_of_equal_cost_has_more_flips(seed):
    g, delta = gaussian_vector(10, seed), 0.5
    affordable = [int(mask.sum()) for mask in subsets(10) if (g[mask] ** 2).sum() <= delta**2]
    assert most_flips(g, delta).sum() == max(affordable)


@pytest.mark.parametrize("seed", range(5))
def test_the_knapsack_loses_at_most_one_entry(seed):
    g, delta = gaussian_vector(10, seed), 0.5
    values = gaussian_vector(10, seed, name="values")
    optimum = max(values[mask].sum().item() for mask in subsets(10) if (g[mask] ** 2).sum() <= delta**2)
    chosen = best_flips(g, values, delta)
    assert (g[chosen] ** 2).sum() <= delta**2
    assert optimum - values.max().item() <= values[chosen].sum().item() <= optimum + 1e-12


def test_the_shift_changes_exactly_the_signs_of_the_mask_and_stays_within_the_budget():
    g = gaussian_vector(1000, 0, batch=(3,))
    mask = most_flips(g, 0.2)
    moved = g + shift(g, mask)
    assert torch.equal(changes(g, moved) != 0, mask)
    assert (shift(g, mask).norm(dim=-1) <= 0.2).all()


def test_changes_are_plus_one_where_a_gate_opens():
    g, moved = torch.tensor([1.0, -1.0, 1.0, 0.5]), torch.tensor([-1.0, 1.0, 2.0, 0.5])
    assert changes(g, moved).tolist() == [-1, 1, 0, 0]
    assert changes(g, moved, threshold=0.7).tolist() == [-1, 1, 0, 0]
    assert changes(g, moved, threshold=1.5).tolist() == [0, 0, 1, 0]


def test_the_start_has_variance_one_over_m_for_every_power():
    for power in (1, 3):
        g = gaussian_vector(200_000, 0, power)
        assert (g**2).sum().item() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5, 0.9])
def test_the_worst_share_is_what_sorting_finds(delta):
    g = gaussian_vector(400_000, 1)
    assert most_flips(g, delta).double().mean().item() == pytest.approx(worst_share(delta), rel=0.02)


def test_the_worst_share_solves_its_equation_and_stays_below_the_power_law():
    for delta in (0.03, 0.3, 0.8):
        c = stats.norm.ppf((1 + worst_share(delta)) / 2)
        spent, _ = integrate.quad(lambda z: z * z * stats.norm.pdf(z), -c, c)
        assert spent == pytest.approx(delta**2)
        assert worst_share(delta) < FLIP_CONSTANT * delta ** (2 / 3)
    assert worst_share(1e-5) == pytest.approx(FLIP_CONSTANT * 1e-5 ** (2 / 3), rel=1e-3)
    assert worst_share(1.0) == 1


def test_a_random_shift_flips_the_share_given_by_the_angle():
    g, h = gaussian_vector(400_000, 2), gaussian_vector(400_000, 2, name="shift")
    for delta in (0.1, 1.0):
        assert (changes(g, g + delta * h) != 0).double().mean().item() == pytest.approx(random_share(delta), rel=0.03)


def test_the_tail_rate_is_a_bound_and_nearly_the_truth():
    m, delta, kappa = 300, 0.02, 1.5
    N = m * delta ** (2 / 3)  # 22
    flips = most_flips(gaussian_vector(m, 3, batch=(10_000,)), delta).sum(-1).numpy()
    frequency, bound = np.mean(flips >= kappa * N), math.exp(-tail_rate(kappa) * N)
    assert bound / 10 < frequency <= bound


def test_the_tail_rate_is_the_largest_over_a_grid():
    kappa, v = 1.8, np.linspace(0, 1, 2001)
    grid = []
    for s in np.geomspace(0.01, 3, 60):
        for c in np.geomspace(0.3, 4, 60):
            integral = np.trapezoid(np.expm1(s * c * c * (1 - v**2)), c * v)
            grid.append(s * (kappa * c * c - 1) - math.sqrt(2 / math.pi) * integral)
    assert tail_rate(kappa) == pytest.approx(max(grid), rel=0.01)
    assert tail_rate(FLIP_CONSTANT) == 0 and tail_rate(1.3) < tail_rate(1.6)


def test_the_constants_of_the_proof():
    C, c = proof_constants()
    assert (C, c) == (pytest.approx(4.798, abs=1e-3), pytest.approx(0.133, abs=1e-3))


def test_a_sign_whose_change_costs_value_is_never_changed_and_many_values_are_many_knapsacks():
    g = gaussian_vector(50, 0)
    values = torch.randn(3, 50, generator=stream(0, "values"), dtype=torch.float64)
    together = best_flips(g, values, 10.0)
    assert torch.equal(together, values > 0), "the budget is ample: all that is worth something, nothing else"
    alone = torch.stack([best_flips(g, row, 0.3) for row in values])
    assert torch.equal(best_flips(g, values, 0.3), alone) and 0 < alone.sum() < (values > 0).sum()
