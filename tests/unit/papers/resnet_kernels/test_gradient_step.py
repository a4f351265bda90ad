"""Gradients of the residual network against autograd and finite differences; Err and least-norm weights by brute force."""

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets import linearised
from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs, gates, outputs, residual, second_outputs
from hierlib.papers.resnet_kernels.gradient_step import (
    error_bound,
    error_terms,
    first_block_bound,
    gradient_norms,
    least_norm_weights,
    root_mean_square,
    second_block_gain,
    tangent_f,
    tangent_g,
)
from hierlib.streams import normals
from hierlib.train.one_pass import online_sgd

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


def test_gradient_norms_sample_by_sample():
    norms = gradient_norms(NET, X, Y)
    for i in range(N):
        W, V = NET.W.clone().requires_grad_(), NET.V.clone().requires_grad_()
        (Y[i] - outputs(Residual(NET.A, W, V), X[i : i + 1])[0]).square().sum().div(2).backward()
        assert norms.W[i].item() == pytest.approx(W.grad.norm().item())
        assert norms.V[i].item() == pytest.approx(V.grad.norm().item())
    assert torch.allclose(norms.residual, (Y - outputs(NET, X)).norm(dim=1))


def test_the_gradients_are_those_that_one_pass_training_writes_out_for_speed():
    norms, eta = gradient_norms(NET, X, Y), 1e-3
    for i in range(N):
        run = online_sgd(
            NET, lambda block, i=i: (X[i : i + 1], Y[i : i + 1]), eta, eta, 1, snapshots=[1], dtype=torch.float64
        )
        moved = [(after - before).norm().item() / eta for after, before in zip(run.nets[0][1:], NET[1:], strict=True)]
        assert moved == pytest.approx([norms.W[i].item(), norms.V[i].item()], rel=1e-9)


def test_the_gain_is_the_norm_of_the_gated_matrix_and_bounds_the_second_block():
    gain = second_block_gain(NET, X)
    for i, gate in enumerate(gates(NET, X)[1].double()):
        assert gain[i].item() == pytest.approx(torch.linalg.svdvals(NET.A @ torch.diag(gate) @ NET.V)[0].item())
    out1 = first_outputs(NET, X)
    assert (second_outputs(NET, out1).norm(dim=1) <= gain * with_one(out1).norm(dim=1) + 1e-12).all()


def test_least_norm_weights_are_those_of_the_pseudo_inverse():
    gate, lifted = gates(START, X)[0], with_one(X)
    design = torch.einsum("km,nm,nl->nkml", START.A, gate.double(), lifted).reshape(N * K, -1)
    exact = (torch.linalg.pinv(design) @ Y.reshape(-1)).reshape(M, D + 1)
    found = least_norm_weights(START.A, gate, lifted, Y, 1e-10)
    assert torch.allclose(found, exact, atol=1e-6)
    assert torch.allclose((gate * (lifted @ found.mT)) @ START.A.mT, Y, atol=1e-6)


def test_a_ridge_makes_the_weights_those_of_ridge_regression():
    gate, lifted, ridge = gates(START, X)[0], with_one(X), 0.3
    design = torch.einsum("km,nm,nl->nkml", START.A, gate.double(), lifted).reshape(N * K, -1)
    normal = design.T @ design + ridge * torch.eye(design.shape[1])
    exact = torch.linalg.solve(normal, design.T @ Y.reshape(-1)).reshape(M, D + 1)
    assert torch.allclose(least_norm_weights(START.A, gate, lifted, Y, ridge), exact)


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


def test_the_bound_on_err_holds_with_the_true_gain_and_is_sharp_without_slack():
    F = X[:, :K]
    parts = error_terms(NET, START, X, DW, DV, F, lambda h: 0.3 * h)  # Lipschitz with constant 0.3
    gain, miss = second_block_gain(NET, X).max().item(), root_mean_square(first_outputs(NET, X) - F)
    bound, remainder = error_bound(parts, gain, 0.3, miss)
    assert root_mean_square(torch.stack(parts).sum(0)) <= bound
    assert bound - remainder == pytest.approx((gain + 0.3) * miss)
    rows = torch.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert root_mean_square(rows) == pytest.approx(12.5**0.5)
    one = parts._replace(**{name: torch.zeros(1, K) for name in parts._fields} | {"base": torch.eye(K)[:1]})
    assert error_bound(one, 0.5, 0.0, 0.0) == (1.5, 1.5)


def test_claim_d7_holds_for_the_worst_second_block_of_that_gain():
    """|out_1 - F| <= bound for second blocks -c (|out_1| + 1) u with the largest gain c = 2 tau_v that is allowed."""
    tau_v, base, composite = 0.2, 1.0, 0.3
    size = torch.linspace(1.0, 5.0, 50, dtype=torch.float64)  # out_1 = size u, F = u, alpha G = composite u
    out = size - 2 * tau_v * (size + 1)
    bound = first_block_bound((out - base - composite).abs(), tau_v, base, composite)
    assert (size - base <= bound + 1e-12).all()
    assert first_block_bound(torch.tensor(0.0), tau_v, base, composite).item() == pytest.approx(4 * 0.2 * 2 + 0.6)
