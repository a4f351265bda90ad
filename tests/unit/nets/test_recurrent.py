"""The Elman network against autograd and against its own definition, one neuron at a time."""

import pytest
import torch

from hierlib.nets.recurrent import backward, gradient, outputs, recurrent, states
from hierlib.streams import normals

L, D, M = 5, 3, 24
NET = recurrent(M, D, s2=0.1, seed=1)
X = normals((4, L, D), 1, "sequences")


def test_the_states_follow_the_recursion():
    x = X[0]
    h = [max(value.item(), 0) for value in NET.M]
    for token in x:
        h = [max(sum(NET.W[r, s].item() * h[s] for s in range(M)) + (NET.A[r] @ token).item(), 0.0) for r in range(M)]
    assert outputs(NET, x[None])[0].item() == pytest.approx((NET.B @ torch.tensor(h, dtype=NET.B.dtype)).item(), abs=1e-12)


def test_the_gradient_is_that_of_autograd():
    W = NET.W.clone().requires_grad_()
    outputs(NET._replace(W=W), X[:1]).sum().backward()
    assert torch.allclose(gradient(NET, X[0]), W.grad, atol=1e-12)


def test_with_the_printed_index_the_gradient_is_another_one():
    found = states(NET, X[:1])
    printed = torch.einsum("lni,lnj->ij", backward(NET, found.gates), found.hidden[1:])
    assert (printed - gradient(NET, X[0])).norm() > 0.1 * printed.norm()


def test_the_backward_vectors_of_an_earlier_output_need_only_its_gates():
    W = NET.W.clone().requires_grad_()
    found = states(NET._replace(W=W), X[:1])
    (found.hidden[3] @ NET.B).sum().backward()
    gates = states(NET, X[:1])
    early = torch.einsum("lni,lnj->ij", backward(NET, gates.gates[:3]), gates.hidden[:3])
    assert torch.allclose(early, W.grad, atol=1e-12)


def test_the_start_has_the_variances_of_the_paper():
    m, s2 = 400, 0.3
    net = recurrent(m, 50, s2, seed=2, gain=0.7, output_variance=1 / m)
    for weights, variance in ((net.W, 1.4 / m), (net.A, 2 * s2 / m), (net.M, 2 / m), (net.B, 1 / m)):
        assert weights.square().mean().item() == pytest.approx(variance, rel=5 * (2 / weights.numel()) ** 0.5)


def test_the_draws_do_not_depend_on_the_scales():
    other = recurrent(M, D, s2=0.4, seed=1, gain=0.5)
    assert torch.allclose(other.A, 2 * NET.A) and torch.allclose(other.W, 0.5**0.5 * NET.W) and torch.equal(other.B, NET.B)
