import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube
from hierlib.kernels.ridge import RidgePath
from hierlib.kernels.walsh import products, subsets
from hierlib.papers.resnet_kernels.chosen_products import chosen_products_errors, most_learned

D, SHARE, RIDGE, ALPHAS = 7, 0.01, 1e-6, [0.1, 0.7]
X, CORNERS = hypercube(40, D, 0), all_corners(D)
SETS = subsets(D, 3)[torch.randperm(35, generator=torch.Generator().manual_seed(1))[:20]]


def kernel(X, Z):
    return X @ Z.T / D + SHARE / len(SETS) * products(X, SETS) @ products(Z, SETS).T


def test_errors_are_means_over_all_corners():
    found = chosen_products_errors(X, SETS, 6, ALPHAS, SHARE, RIDGE)
    assert found.shape == (2, 6)
    for row, alpha in zip(found, ALPHAS, strict=True):
        for error, S in zip(row, SETS[:6], strict=True):
            labels, targets = (points[:, S] + alpha * points[:, S].prod(1, keepdim=True) for points in (X, CORNERS))
            expected = RidgePath(kernel(X, X), labels).errors(kernel(CORNERS, X), targets, [RIDGE]).sum()
            assert error.item() == pytest.approx(expected.item(), rel=1e-6)


def test_no_kernel_learns_more_than_the_count_allows():
    samples = hypercube(14, 6, 3)
    for share in (1.0, 1e-3, 1e-6):
        errors = chosen_products_errors(samples, subsets(6, 2), 15, [0.5], share, 1e-9)
        assert (errors <= 0.25 / 4).sum() <= most_learned(14, 2)
    assert most_learned(15, 4) == pytest.approx(16)
