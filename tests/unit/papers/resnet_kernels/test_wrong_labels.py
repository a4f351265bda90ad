import math

import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube
from hierlib.papers.resnet_kernels.product_task import product_samples
from hierlib.papers.resnet_kernels.wrong_labels import KINDS, biased, chained, copied, on_circles, spoiled, target


@pytest.mark.parametrize("inputs", [chained, biased, copied, on_circles])
def test_inputs_and_base_signals_have_the_lengths_of_concept_1(inputs) -> None:
    X = inputs(50, 10, 1, "some")
    torch.testing.assert_close(X.square().sum(1), torch.full((50,), 10.0).double())
    torch.testing.assert_close(target(X, 0.3)[0].norm(dim=1), torch.ones(50).double())
    assert torch.equal(X, inputs(50, 10, 1, "some")) and not torch.equal(X, inputs(50, 10, 1, "other"))


def test_means_and_correlations_of_the_inputs() -> None:
    n = 20000
    noise = 4.5 / n**0.5
    X = chained(n, 6, 2, "x")
    assert abs((X[:, 1] * X[:, 4]).mean() - 0.2**3) < noise and abs(X[:, 1].mean() - 0.04) < noise
    X = biased(n, 6, 2, "x")
    assert (X.mean(0) - 0.2).abs().max() < noise and abs((X[:, 0] * X[:, 1]).mean() - 0.04) < noise
    X = copied(n, 6, 2, "x")
    assert abs((X[:, 1] * X[:, 4]).mean() - 0.4) < noise and abs((X[:, 0] * X[:, 1]).mean()) < noise
    X = on_circles(n, 6, 2, "x", minus=0.5, spread=math.pi / 4)
    assert (X.T @ X / n - torch.eye(6)).abs().max() < 1.5 * noise  # the whole circle: uncorrelated, not independent
    assert abs((X[:, 0] * X[:, 1]).square().mean() - 0.5) < noise


def test_the_target_is_that_of_corollary_7_1() -> None:
    X, Y = product_samples(7, 4, [0.4], seed=1, chunk=30)(0)
    torch.testing.assert_close(sum(target(7**0.5 * X, 0.4)), Y[0])


def test_spoiled_labels_are_off_by_what_was_asked_for() -> None:
    alpha, size = 0.8, 0.1
    corners = all_corners(8)
    for kind in KINDS[2:]:  # not random: the mean over all corners is exact
        off = spoiled(kind, corners, alpha, size, 0, "x") - sum(target(corners, alpha))
        assert abs(off.square().sum(1).mean().item() - size) < 1e-12, kind
    X = hypercube(40000, 8, 3)
    for kind in KINDS[:2]:
        off = (spoiled(kind, X, alpha, size, 3, "x") - sum(target(X, alpha))).square().sum(1)
        assert abs(off.mean().item() / size - 1) < 4.5 * off.std().item() / size / 200, kind
    assert (off[X[:, :4].prod(1) > 0] == 0).all()
    with pytest.raises(ValueError, match="not 'no such way'"):
        spoiled("no such way", X, alpha, size, 3, "x")
