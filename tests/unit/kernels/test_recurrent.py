"""Tangent kernels of the Elman network: factors against gradients, the limit against wide networks."""

import math

import pytest
import torch

from hierlib.kernels.recurrent import cross_time, finite_gram, limit_gram, limit_parts, squares
from hierlib.nets.recurrent import backward, gradient, recurrent, states
from hierlib.streams import normals

L, D, N, S2 = 4, 3, 5, 0.2
X = normals((N, L, D), 3, "sequences") / D**0.5


def test_the_factorised_gram_matrix_is_that_of_the_gradients():
    net = recurrent(32, D, S2, seed=1)
    flat = torch.stack([gradient(net, x).flatten() for x in X])
    assert torch.allclose(finite_gram(net, X), flat @ flat.T / 32, atol=1e-12)


@pytest.mark.parametrize("gain", [1.0, 0.7])
def test_the_fast_limit_is_the_written_one_and_its_diagonal_is_exact(gain):
    parts = limit_parts(X, S2, gain=gain)
    fast = limit_gram(X, S2, gain=gain)
    assert torch.allclose(fast, parts.tangents[-1], atol=1e-7)
    rows = limit_gram(X[:2], S2, X, gain=gain)
    assert torch.allclose(rows, parts.tangents[-1][:2], atol=1e-12)
    assert torch.equal(fast, fast.T)


def test_the_limit_is_the_sum_over_times_of_forward_and_backward_parts():
    parts = limit_parts(X, S2)
    assert torch.allclose((parts.forward[:-1] * parts.backward).sum(0), parts.tangents[-1], atol=1e-12)


def test_the_diagonal_is_half_the_sum_of_the_squared_norms():
    assert torch.allclose(limit_gram(X, S2).diagonal(), squares(X, S2)[:-1].sum(0) / 2)


def networks(count, m, gain=1.0):
    return (recurrent(m, D, S2, seed=seed, gain=gain, dtype=torch.float32) for seed in range(count))


@pytest.mark.slow
@pytest.mark.parametrize("gain", [1.0, 0.6])
def test_wide_networks_come_to_the_limit(gain):
    found = torch.stack([finite_gram(net, X.float()) for net in networks(60, 512, gain)]).double()
    error = found.std(0) / math.sqrt(len(found))
    assert ((found.mean(0) - limit_gram(X, S2, gain=gain)).abs() < 4.5 * error + 0.01).all()


@pytest.mark.slow
def test_cross_time_blocks_are_those_of_wide_networks():
    forward, tangents = cross_time(X, S2)
    sums = torch.zeros_like(forward), torch.zeros_like(tangents)
    count, m = 40, 512
    for net in networks(count, m):
        found = states(net, X.float())
        sums[0].add_(torch.einsum("anm,bpm->abnp", found.hidden, found.hidden).double() / count)
        for a in range(1, L + 1):
            for b in range(1, L + 1):
                first, second = backward(net, found.gates[:a]), backward(net, found.gates[:b])
                flat = [torch.einsum("lni,lnj->nij", s, found.hidden[: len(s)]).flatten(1) for s in (first, second)]
                sums[1][a, b] += (flat[0] @ flat[1].T).double() / m / count
    assert (sums[0] - forward).abs().max() < 0.06
    assert (sums[1] - tangents).abs().max() < 0.12
    assert torch.allclose(tangents[L, L], limit_parts(X, S2).tangents[-1])


def test_the_limit_does_not_care_how_many_rows_are_done_at_a_time():
    many = normals((150, L, D), 4, "many")
    assert torch.allclose(limit_gram(many, S2)[70:75, :3], limit_gram(many[70:75], S2, many[:3]))
