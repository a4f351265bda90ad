"""The backward signal: laws against long iterations."""

import math

import pytest
import torch

from hierlib.kernels.recurrent import limit_parts
from hierlib.papers.rnn.degeneracy import (
    PURE_LIMIT,
    gates_product,
    horizon,
    limit_product,
    memory_rate,
    network_distances,
    one_line_bound,
    pure_iteration,
)


def test_the_pure_iteration_falls_like_a_square_whatever_its_start():
    for start in (1.0, 0.3):
        e = pure_iteration(start, 20_000)
        assert e[-1].item() * 20_000**2 == pytest.approx(PURE_LIMIT, rel=0.01)
    products = [gates_product(e[:n]) for n in (5_000, 20_000)]
    assert math.log(products[1] / products[0], 4) == pytest.approx(-3, abs=0.01)


@pytest.mark.parametrize("square", [1.0, 0.25, 4.0])
def test_the_product_of_the_network_tends_to_a_constant(square):
    found = [gates_product(network_distances(L, L**-3.0, square)) for L in (64, 1024)]
    assert found[1] == pytest.approx(limit_product(square), rel=2e-3)
    assert abs(found[1] - limit_product(square)) < abs(found[0] - limit_product(square))
    assert one_line_bound(1024, 1024**-3.0, square) < found[1]


def test_the_constant_of_unit_tokens():
    assert limit_product() == pytest.approx(0.7471, abs=1e-4) and one_line_bound(4096, 4096**-3.0) == pytest.approx(
        0.7407, abs=2e-4
    )


@pytest.mark.parametrize("s2", [1e-4, 1e-6])
def test_the_horizon_is_where_the_signal_has_lost_a_factor_e(s2):
    far = int(10 * horizon(s2))
    logs = -torch.log(torch.tensor([gates_product(network_distances(L, s2)) for L in (far, far + 100)]))
    assert (logs[1] - logs[0]).item() / 100 == pytest.approx(memory_rate(s2), rel=0.05)


def test_orthogonal_tokens_are_those_of_the_kernel():
    x, y = torch.zeros(1, 6, 2, dtype=torch.float64), torch.zeros(1, 6, 2, dtype=torch.float64)
    x[..., 0] = y[..., 1] = 1
    z = limit_parts(x, 0.05, y).correlations[:, 0, 0]
    assert torch.allclose(1 - z, network_distances(6, 0.05), atol=1e-14)
