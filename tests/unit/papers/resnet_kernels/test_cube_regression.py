import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from hierlib.data.cubes import all_corners, hypercube
from hierlib.kernels.hamming import conjugate, gaussian_kernel, tangent, weighted_gaussian
from hierlib.kernels.ridge import RidgePath
from hierlib.kernels.walsh import spectrum_by_degree, subsets
from hierlib.papers.resnet_kernels.cube_regression import (
    Solutions,
    cheapest_norm,
    crossing,
    errors_of_all_targets,
    memorising_margin,
    sample_limit,
    samples_to_learn,
    squared_kernel,
)
from hierlib.targets.hierarchy import coordinate_product

D, K_, ALPHA, RIDGES = 9, 4, 0.5, [1e-8, 1e-5, 1e-2]
X, CORNERS = hypercube(150, D, 0), all_corners(D)
KERNELS = [lambda X, Z: gaussian_kernel(X, Z, 18.0), lambda X, Z: tangent(X, Z, 2), lambda X, Z: conjugate(X, Z, 2)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_errors_are_averages_over_all_corners(kernel):
    found = Solutions(kernel, X, K_, ALPHA, RIDGES)
    Y, targets = (coordinate_product(points, K_).labels(ALPHA) for points in (X, CORNERS))
    path = RidgePath(kernel(X, X), Y)
    assert torch.allclose(found.errors, path.errors(kernel(CORNERS, X), targets, RIDGES), rtol=1e-7, atol=1e-9)
    assert torch.allclose(found.training_errors, path.errors(kernel(X, X), Y, RIDGES))
    assert torch.allclose(found.norms.square(), path.norms(RIDGES))
    assert found.best == found.errors.sum(1).min()


def test_the_squared_kernel_is_an_average_of_products():
    kernel = KERNELS[0]
    rows = kernel(CORNERS, X)
    assert torch.allclose(squared_kernel(X, spectrum_by_degree(kernel, D)), rows.T @ rows / 2**D, atol=1e-14)


def test_the_needed_norm_is_that_of_the_lemma():
    found = Solutions(KERNELS[0], X, K_, ALPHA, RIDGES)
    assert found.needed == pytest.approx(ALPHA / 2 / math.sqrt(spectrum_by_degree(KERNELS[0], D)[K_]))


@pytest.mark.parametrize("error", [0.01, 0.25 * ALPHA**2, 0.2])
def test_the_cheapest_norm_is_what_a_general_optimiser_finds(error):
    spectrum = spectrum_by_degree(KERNELS[2], D)
    scales, target = spectrum[[1, K_]].sqrt().numpy(), np.array([1, ALPHA])
    room = {"type": "ineq", "fun": lambda u: 100 * (error - ((scales * u - target) ** 2).sum())}
    start = target / scales
    best = minimize(lambda u: (u**2).sum() / (start**2).sum(), start, constraints=[room], method="SLSQP", tol=1e-12)
    assert cheapest_norm(spectrum, K_, ALPHA, error) == pytest.approx(np.linalg.norm(best.x), rel=1e-4)


def test_the_forbidden_corner_has_a_small_error_and_a_small_norm():
    found = Solutions(KERNELS[0], X, K_, ALPHA, RIDGES)
    found.norms = found.needed * torch.tensor([[0.5, 2.0], [0.9, 0.1]]).double()
    assert found.forbidden(ALPHA**2 * torch.tensor([[0.2, 0.2], [0.3, 0.24]]).double()) == 2


def test_the_memorising_margin_is_in_units_of_the_bound():
    assert memorising_margin(3.0 * torch.eye(4), 10, 2) == pytest.approx(400 * 3 / 4)


def test_the_limit_of_the_lemma_is_tiny():
    assert sample_limit(1e6, 4) == pytest.approx(268, abs=1)
    assert sample_limit(3.5e4, 4) < 1 < sample_limit(3.7e4, 4)


def test_a_crossing_is_found_on_a_power_law_and_only_if_there_is_one():
    sizes = np.array([10, 20, 40, 80, 160])
    assert crossing(sizes, 100 / sizes, 2.0) == pytest.approx(50)
    assert math.isnan(crossing(sizes, 100 / sizes, 0.1)) and math.isnan(crossing(sizes, 100 / sizes, 50.0))


def test_all_targets_at_once_are_the_single_ones():
    at_once = errors_of_all_targets(KERNELS[1], X, K_, ALPHA, RIDGES)
    assert at_once.shape == (3, math.comb(D, K_))
    assert torch.allclose(at_once[:, 0], Solutions(KERNELS[1], X, K_, ALPHA, RIDGES).errors.sum(1), rtol=1e-7, atol=1e-9)


def test_all_targets_at_once_with_a_kernel_that_prefers_coordinates():
    def kernel(X, Z):
        return weighted_gaussian(X, Z, torch.linspace(0, 0.2, D, dtype=torch.float64))

    number = 77
    chosen = subsets(D, K_)[number].tolist()
    order = chosen + [j for j in range(D) if j not in chosen]  # the target's coordinates come first
    Y, targets = (coordinate_product(points[:, order], K_).labels(ALPHA) for points in (X, CORNERS))
    expected = RidgePath(kernel(X, X), Y).errors(kernel(CORNERS, X), targets, RIDGES).sum(1)
    assert torch.allclose(errors_of_all_targets(kernel, X, K_, ALPHA, RIDGES)[:, number], expected, rtol=1e-7)


def test_the_samples_to_learn_are_where_the_error_is_half_the_price():
    N = samples_to_learn(KERNELS[0], D, 2, ALPHA, RIDGES, seed=0)
    X = hypercube(20 * math.comb(D, 2), D, 0, "growing sample")
    before, after = (Solutions(KERNELS[0], X[: round(c * N)], 2, ALPHA, RIDGES).best / (2 * ALPHA**2) for c in (0.8, 1.25))
    assert after < 0.5 < before


def test_a_product_that_the_kernel_does_not_contain_is_never_learned():
    assert math.isnan(samples_to_learn(lambda X, Z: 1 + X @ Z.T / 6, 6, 2, ALPHA, RIDGES, seed=0))
