"""Gradients of the residual network against autograd and finite differences, and the parts of Err against its definition."""

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets import linearised
from hierlib.nets.residual import Residual, first_outputs, outputs, residual
from hierlib.papers.resnet_kernels.gradient_step import (
    error_terms,
    longest_gradients,
    root_mean_square,
    tangent_f,
    tangent_g,
)
from hierlib.streams import normals

M, D, K, N = 40, 5, 3, 12
START = residual(M, D, K, 0, sigma_w=0.7, sigma_v=2.0)
NET = Residual(START.A, START.W + normals((M, D + 1), 1, "W", scale=0.3), START.V + normals((M, K + 1), 1, "V", scale=0.3))
X = unit_sphere(N, D, 0)
Y = normals((N, K), 0, "labels")
DW, DV = normals((M, D + 1), 2, "dW"), normals((M, K + 1), 2, "dV")


def test_f_and_g_are_the_derivatives_of_the_output():
    step = 1e-7  # so small that no neuron crosses zero
    ahead = outputs(Residual(NET.A, NET.W + step * DW, NET.V), X), outputs(Residual(NET.A, NET.W, NET.V + step * DV), X)
    for moved, tangent in zip(ahead, (tangent_f(NET, X, DW), tangent_g(NET, X, DV)), strict=True):
        assert torch.allclose((moved - outputs(NET, X)) / step, tangent, atol=1e-6)


def test_at_the_start_f_plus_g_is_the_linearised_network():
    linear = linearised.ResidualTangent(START.A, START.W, START.V, DW, DV)
    assert torch.allclose(tangent_f(START, X, DW) + tangent_g(START, X, DV), linearised.outputs(linear, X), atol=1e-14)


def test_fact_d4_against_autograd():
    W, V = NET.W.clone().requires_grad_(), NET.V.clone().requires_grad_()
    (Y - outputs(Residual(NET.A, W, V), X)).square().sum().div(2).backward()
    derivative = -(W.grad * DW).sum() - (V.grad * DV).sum()
    residuals = Y - outputs(NET, X)
    assert derivative.item() == pytest.approx(((tangent_f(NET, X, DW) + tangent_g(NET, X, DV)) * residuals).sum().item())


def lengths(label):
    """|grad_W|, |grad_V| over |y - out| at the first input, by autograd."""
    W, V = NET.W.clone().requires_grad_(), NET.V.clone().requires_grad_()
    left = label - outputs(Residual(NET.A, W, V), X[:1])[0]
    left.square().sum().div(2).backward()
    return W.grad.norm().item() / left.norm().item(), V.grad.norm().item() / left.norm().item()


def test_no_label_has_longer_gradients_and_some_label_has_them():
    longest = longest_gradients(NET, X[0])
    out = outputs(NET, X[:1])[0].detach()
    angles = torch.linspace(0, torch.pi, 60, dtype=torch.float64)
    turned = torch.stack([angles.cos(), angles.sin()], 1)
    directions = [torch.stack([c * t[0], c * t[1], s]) for t in turned for c, s in turned]
    found = [lengths(out + u) for u in directions]
    for best, largest in zip(longest, map(max, zip(*found, strict=True)), strict=True):
        assert 0.995 * best <= largest <= best + 1e-12


def test_the_parts_of_err_add_up_to_its_definition():
    F, alpha_G = X[:, :K], lambda h: 0.3 * h.prod(1, keepdim=True).expand(-1, K)
    parts = error_terms(NET, START, X, DW, DV, F, alpha_G)
    towards = tangent_f(NET, X, DW - (NET.W - START.W)) + tangent_g(NET, X, DV - (NET.V - START.V))
    assert torch.allclose(torch.stack(parts).sum(0), towards - (F + alpha_G(F) - outputs(NET, X)))
    assert all(part.abs().max() > 1e-3 for part in parts)


def test_the_parts_of_err_that_vanish():
    F = first_outputs(START, X)  # out_1 is F already, and V^(0) = 0
    still = START._replace(V=torch.zeros_like(START.V))
    parts = error_terms(still, still, X, DW, DV, F, lambda h: h**2)
    assert parts.second_block_error.abs().max() == parts.shifted.abs().max() == parts.second_start.abs().max() == 0
    assert torch.allclose(parts.first_start, F)


def test_the_root_mean_square():
    assert root_mean_square(torch.tensor([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx(12.5**0.5)
