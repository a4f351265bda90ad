import numpy as np
import pytest
import torch

from hierlib.papers.resnet_kernels.noisy_copy import floor, noisy_copy


def test_the_copy_has_the_stated_correlation_and_the_best_linear_predictor_is_as_written():
    X, Y = noisy_copy(100000, 6, 4, 0.5, 0.6, 0, "test")
    u, v = X[:, :5] * 6**0.5, X[:, 5] * 6**0.5
    assert (v * u[:, :4].prod(1)).mean() == pytest.approx(0.6, abs=0.03)
    assert v.square().mean() == pytest.approx(1, abs=0.03)
    fitted = torch.linalg.lstsq(X * 6**0.5, Y).solution
    assert fitted[5].numpy() == pytest.approx(np.full(4, 0.5 * 0.6 / 2), abs=0.01)
    assert fitted[:4].numpy() == pytest.approx(np.eye(4) / 2, abs=0.01)


def test_the_floor_has_its_limit_for_weak_signals_and_vanishes_without_the_copy():
    assert floor(0.003, 0.6, 4, 0, n=1000) / 0.003**2 == pytest.approx(0.36 * 0.64, rel=0.05)
    assert floor(0.5, 1e-4, 4, 0, n=500) < 1e-7


def test_no_regression_on_the_first_block_gets_below_the_floor():
    """Nearest neighbours in z, the average of fifteen: a rough regression, but it has seen 20000 samples."""
    alpha, rho = 0.6, 0.6
    X, Y = noisy_copy(21000, 6, 4, alpha, rho, 1, "neighbours")
    z = (X[:, :4] + alpha * rho * X[:, 5:]) * 6**0.5
    near = torch.cdist(z[20000:], z[:20000]).topk(15, largest=False).indices
    error = (Y[:20000][near].mean(1) - Y[20000:]).square().sum(1).mean().item()
    bound = floor(alpha, rho, 4, 0, n=1000)
    assert bound < error < 3 * bound
