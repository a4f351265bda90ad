"""Errors of many targets at once, against the regression on one target and against other weights."""

import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.kernels.hamming import COMMON
from hierlib.kernels.walsh import subsets
from hierlib.papers.resnet_kernels.many_targets import target_errors, told
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
