"""The network of Allen-Zhu and Li 2019, appendix A.1."""

import math

import pytest
import torch

from hierlib.nets.signed import Signed, outputs, signed


def test_half_of_the_output_weights_have_either_sign():
    A = signed(10, 3, seed=0).A
    assert (A > 0).sum() == 5 and A.abs().allclose(torch.full((1, 10), 0.1, dtype=torch.float64).sqrt())
    with pytest.raises(ValueError, match="even"):
        signed(9, 3, seed=0)


def test_the_output_is_the_sum_over_neurons():
    net = signed(6, 2, seed=1)
    x = (0.6, -0.8)
    slow = 0.0
    for r in range(6):
        before = sum(net.W[r, i].item() * x[i] for i in range(2))
        slow += (1 if r < 3 else -1) / math.sqrt(6) * max(before, 0.0)
    fast = outputs(net, torch.tensor([x], dtype=torch.float64))
    assert fast.shape == (1, 1) and fast.item() == pytest.approx(slow, rel=1e-14)


def test_stacked_networks_give_the_outputs_of_each():
    nets = [signed(8, 3, seed) for seed in range(4)]
    X = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3)
    together = outputs(Signed(torch.stack([n.A for n in nets]), torch.stack([n.W for n in nets])), X)
    assert torch.allclose(together, torch.stack([outputs(n, X) for n in nets]))


def test_weights_have_standard_deviation_one_and_seeds_differ():
    net = signed(500, 40, seed=2)
    assert net.W.std().item() == pytest.approx(1.0, rel=0.02)
    assert not torch.equal(net.W, signed(500, 40, seed=3).W)
