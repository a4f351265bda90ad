"""Errors of many targets at once, against the regression on one target and against other weights."""

import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.kernels.hamming import COMMON
from hierlib.kernels.walsh import subsets
from hierlib.papers.resnet_kernels.many_targets import listed_errors, target_errors, told
from hierlib.papers.resnet_kernels.product_regression import ProductRegression


@pytest.mark.parametrize("ridge", [1e-6, 1e-2])
def test_each_target_has_the_errors_that_it_has_alone(ridge):
    X, alpha = hypercube(40, 9, 0), 0.8
    sets = torch.tensor([[0, 1, 2], [2, 5, 7]])
    found = target_errors(COMMON["Gaussian"], X, sets, alpha, ridge)
    for row, chosen in zip(found, sets, strict=True):
        others = [i for i in range(9) if i not in chosen.tolist()]
        alone = ProductRegression(COMMON["Gaussian"], X[:, [*chosen.tolist(), *others]], 3, [ridge])
        torch.testing.assert_close(row, alone.errors(alpha, "cube")[0])


def test_told_the_degrees_no_other_weight_is_better_on_average():
    X, alpha = hypercube(60, 10, 1), 0.9
    sets = subsets(10, 4)

    def mean(weight: float) -> float:
        """Over all sets and both signs of the product."""
        return sum(target_errors(told(4, weight), X, sets, a, 1e-10).mean().item() for a in (alpha, -alpha)) / 2

    best = mean(alpha**2)
    assert all(mean(alpha**2 * factor) > best for factor in (0.5, 0.8, 1.25, 2.0))
    assert best < sum(target_errors(COMMON["tangent"], X, sets, a, 1e-4).mean().item() for a in (alpha, -alpha)) / 2


def test_a_list_of_all_products_is_the_kernel_that_is_told_the_degrees():
    X, alpha, sets, large = hypercube(60, 9, 2), 0.8, subsets(9, 4), 50.0
    everything = told(4, alpha**2 * len(sets) / (9 * large))  # in units of 9 large
    found = listed_errors(X, sets, alpha, 20, large)
    torch.testing.assert_close(found, target_errors(everything, X, sets[:20], alpha, 1e-14), rtol=1e-6, atol=1e-9)


def test_a_list_learns_its_products_by_the_count_of_dimensions():
    d, alpha = 20, 0.95
    X, sets = hypercube(d * d, d, 3), subsets(d, 4)
    listed = sets[torch.randperm(len(sets), generator=torch.Generator().manual_seed(0))[:800]]
    found = listed_errors(X, listed, alpha, 100).mean() / alpha**2
    assert found == pytest.approx(1 + 1 / d - (d * d - d) / 800, abs=0.05)
