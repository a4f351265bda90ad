"""The cost of a teacher of one token, against Fourier transforms and a sample."""

import math

import pytest
import torch

from hierlib.data.sequences import token_sequences
from hierlib.kernels.recurrent import limit_gram
from hierlib.kernels.spectrum import inverse_norm
from hierlib.papers.rnn.token_series import kernel_of_products
from hierlib.papers.rnn.token_spectrum import cost_on_circle, eigenvalues_on_circle, weights_of_token
from hierlib.streams import stream


def products(draws: int, L: int) -> torch.Tensor:
    return torch.cos(2 * math.pi * torch.rand(draws, L, generator=stream(0, "test"), dtype=torch.float64))


@pytest.mark.parametrize("position", [2, 4])
def test_eigenvalues_are_fourier_coefficients(position):
    t, angles = products(3, 4), 2 * math.pi * torch.arange(64, dtype=torch.float64) / 64
    found = eigenvalues_on_circle(weights_of_token(t, position, 60, 4**-3.0).mean(0))
    moved = t[:, None].repeat(1, 64, 1)
    moved[:, :, position - 1] = angles.cos()
    values = kernel_of_products(moved, 4**-3.0).mean(0)
    for k in range(5):
        assert found[k].item() == pytest.approx((values * (k * angles).cos()).mean().item(), rel=1e-6)


def test_cost_is_what_a_sample_approaches_from_below():
    L, position = 4, 2
    X = token_sequences(800, L, 2, 0)
    y = X[:, position - 1, 0]
    eigenvalues = eigenvalues_on_circle(weights_of_token(products(2000, L), position, 10, L**-3.0).mean(0))
    limit = cost_on_circle(torch.tensor([0.0, 1.0], dtype=torch.float64), eigenvalues)[-1].item()
    sampled = inverse_norm(limit_gram(X, L**-3.0), y).item() ** 2
    assert 0.93 * limit < sampled < 1.02 * limit
