"""The residual network against its formula in loops, and its start."""

import numpy as np
import pytest
import torch

from hierlib.data.cubes import hypercube
from hierlib.nets.residual import Residual, features, first_outputs, gates, outputs, residual, second_outputs


def by_hand(net: Residual, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """out_1 and out of one input, as in section 6 of the paper."""
    A, W, V = (np.asarray(t) for t in net)
    out1 = A @ np.maximum(W @ np.append(x, 1), 0)
    return out1, out1 + A @ np.maximum(V @ np.append(out1, 1), 0)


def test_outputs_are_the_formula():
    net, X = residual(7, 5, 3, seed=0), hypercube(4, 5, seed=0)
    for i, x in enumerate(X.numpy()):
        out1, out = by_hand(net, x)
        assert np.allclose(first_outputs(net, X)[i], out1) and np.allclose(outputs(net, X)[i], out)
        assert np.allclose(second_outputs(net, first_outputs(net, X))[i], out - out1)


def test_gates_reproduce_the_outputs():
    net, X = residual(7, 5, 3, seed=0), hypercube(4, 5, seed=0)
    first, second = gates(net, X)
    ones = torch.ones(4, 1).double()
    out1 = (first * (torch.cat([X, ones], 1) @ net.W.T)) @ net.A.T
    assert torch.allclose(out1, first_outputs(net, X))
    assert torch.allclose(out1 + (second * (torch.cat([out1, ones], 1) @ net.V.T)) @ net.A.T, outputs(net, X))


def test_the_outputs_are_linear_in_the_features():
    net, X = residual(7, 5, 3, seed=0), hypercube(4, 5, seed=0)
    assert torch.allclose(features(net, X) @ net.A.T, outputs(net, X))


def test_a_stack_of_networks_is_its_members():
    nets, X = [residual(6, 5, 3, seed) for seed in range(3)], hypercube(4, 5, seed=0)
    stack = Residual(*(torch.stack(parts) for parts in zip(*nets, strict=True)))
    for i, net in enumerate(nets):
        assert torch.allclose(outputs(stack, X)[i], outputs(net, X))


def test_the_start_of_the_experiments_has_the_variances_of_appendix_a():
    net = residual(4000, 30, 8, seed=0)
    for part, variance in ((net.A, 1 / 4000), (net.W[:, :-1], 1 / 30), (net.W[:, -1], 1 / 4000), (net.V, 1 / 4000)):
        assert abs(part.var() / variance - 1) < 5 * (2 / part.numel()) ** 0.5
        assert abs(part.mean()) < 5 * (variance / part.numel()) ** 0.5


def test_the_start_of_the_theory_has_the_variances_of_section_6():
    net = residual(4000, 30, 8, seed=0, sigma_w=0.4, sigma_v=3.0)
    for part, variance in ((net.A, 1 / 4000), (net.W, 0.16), (net.V, 9 / 4000)):
        assert abs(part.var() / variance - 1) < 5 * (2 / part.numel()) ** 0.5


def test_half_a_theory_start_is_refused():
    with pytest.raises(ValueError, match=r"^give both sigma_w and sigma_v"):
        residual(10, 3, 2, seed=0, sigma_w=0.1)
