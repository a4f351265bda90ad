import numpy as np
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum
from hierlib.papers.fine_grained.mode_rates import (
    ModeRates,
    at_one_rate,
    dealt_within,
    gaussian_gram,
    kept,
    mode_rates,
    rate_miss,
)
from hierlib.theory.linear_dynamics import iterated_residuals

X = unit_sphere(15, 6, seed=0)
H = relu_gram(X)
EIGEN = spectrum(H)
ETA = 0.5 / EIGEN.values[0].item()
# the linear recursion, step by step, on three sets of labels: what networks would do if their matrix were fixed
RUNS = torch.stack([iterated_residuals(H, random_signs(15, seed=i), ETA, steps=60) for i in range(3)])


def test_a_fixed_matrix_keeps_the_power_of_its_factor_along_each_eigenvector():
    factor = 1 - ETA * EIGEN.values
    assert torch.allclose(kept(RUNS, EIGEN.vectors), factor ** torch.arange(61)[:, None])


def test_a_fixed_matrix_has_its_own_rates_and_no_miss():
    rates = mode_rates(RUNS, EIGEN, ETA)
    assert len(rates.predicted) == 15 and (rates.predicted.diff() <= 0).all()
    assert torch.allclose(rates.measured, rates.predicted)
    assert rate_miss(rates) < 1e-9


def test_eigenvectors_that_are_too_slow_for_the_run_are_left_out():
    inside = (-1 / np.log1p(-ETA * EIGEN.values.numpy())).round() < 11
    assert len(mode_rates(RUNS[:, :11], EIGEN, ETA).predicted) == inside.sum() < 15


def test_the_miss_of_rates_that_are_all_a_tenth_too_large_is_a_tenth():
    rates = mode_rates(RUNS, EIGEN, ETA)
    assert np.isclose(rate_miss(rates._replace(measured=rates.predicted * np.exp(0.1))), 0.1)


def test_the_best_single_rate_misses_by_the_spread_of_the_logarithms():
    rates = mode_rates(RUNS, EIGEN, ETA)
    spread = np.std(np.log(rates.measured.numpy()))
    assert np.isclose(rate_miss(at_one_rate(rates)), spread)
    assert rate_miss(at_one_rate(rates)) <= rate_miss(rates._replace(predicted=torch.full((15,), 0.1).double()))


def test_dealing_out_keeps_the_groups_and_changes_what_is_inside():
    rates = ModeRates(torch.arange(12).double(), torch.arange(12).double())
    dealt = dealt_within(rates, groups=3, seed=0).predicted
    assert torch.equal(dealt.view(3, 4).sort(1).values, rates.predicted.view(3, 4))
    assert not torch.equal(dealt, rates.predicted)


def test_the_gaussian_matrix_is_that_of_the_distances_with_the_trace_of_the_other():
    distances = torch.cdist(X, X).square()
    assert torch.allclose(gaussian_gram(X, 0.8), torch.exp(-0.8 * distances) / 2, atol=1e-7)
    assert torch.isclose(gaussian_gram(X, 0.8).trace(), H.trace())
