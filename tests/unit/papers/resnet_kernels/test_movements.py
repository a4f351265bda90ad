"""Movements within the balls: they stay inside, do what they say, and nothing found exceeds a ceiling."""

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.nets.residual import Residual, first_outputs, outputs, residual
from hierlib.papers.resnet_kernels import movements
from hierlib.papers.resnet_kernels.flip_limits import operator_limit, start_limit
from hierlib.papers.resnet_kernels.gradient_step import longest_gradients, root_mean_square, through_second_block
from hierlib.streams import normals

M, D, K = 3000, 4, 2
START = residual(M, D, K, 0, M**-0.45, 3.0)
X = unit_sphere(6, D, 0)
F = unit_sphere(6, K, 1)


def test_the_worst_movement_is_in_its_ball_and_hurts_every_input_more_than_others_of_that_length():
    tau = 0.5
    worst = movements.against_direction(START, X, F, tau)
    assert (worst.V - START.V).norm() <= tau and torch.equal(worst.W, START.W)
    rows = (worst.V - START.V).norm(dim=1) > 0
    assert 0.05 < rows.double().mean() < 0.5
    share = root_mean_square(through_second_block(worst, X, F))
    for other in (movements.at_random(START, X, tau, 0), movements.along_gradient(START, X, F, 0.0, tau)):
        assert (other.V - START.V).norm() == pytest.approx(tau)
        assert share > 3 * root_mean_square(through_second_block(other, X, F))


def test_what_flipped_gates_add_is_what_the_limit_laws_say():
    found = movements.flip_gains(residual(100_000, D, K, 3, 0.01, 2.0), X[0], 0.2)
    assert found == pytest.approx((2 * operator_limit(0.1), 2 * start_limit(0.1)), rel=0.04)


def test_gradients_are_those_of_autograd():
    W, V = START.W.clone().requires_grad_(), START.V.clone().requires_grad_()
    (F - outputs(Residual(START.A, W, V), X)).square().sum().div(2).backward()
    dW, dV = movements.gradients(START, X, F)
    assert torch.allclose(dW, -W.grad) and torch.allclose(dV, -V.grad)


def test_a_path_of_gradient_descent_ends_in_the_balls_and_lowers_the_loss():
    end = movements.along_gradient(START, X, F, 0.5, 0.2, steps=10)
    assert (end.W - START.W).norm() <= 0.5 and 0.1 < (end.V - START.V).norm() <= 0.2
    assert root_mean_square(F - outputs(end, X)) < root_mean_square(F - outputs(START, X))


def test_the_first_output_can_be_put_anywhere():
    target = torch.tensor([2.0, -1.0], dtype=torch.float64)
    assert torch.allclose(first_outputs(movements.first_output_at(START, X[0], target), X[:1])[0], target)


def test_no_movement_exceeds_the_ceilings_of_the_gradients():
    tau_w, tau_v = 2.0, 3.0
    ceiling = movements.gradient_ceilings(START, X[0], tau_w, tau_v)
    found = movements.worst_gradients(START, X[0], tau_w, tau_v)
    assert all(low <= high for low, high in zip(found, ceiling, strict=True))
    for seed in range(5):
        W, V = normals(START.W.shape, seed, "W"), normals(START.V.shape, seed, "V")
        moved = START._replace(W=START.W + W * (tau_w / W.norm()), V=START.V + V * (tau_v / V.norm()))
        assert all(low < best for low, best in zip(longest_gradients(moved, X[0]), found, strict=True))


def test_a_hidden_difference_leaves_the_output_right_and_the_first_block_wrong_within_the_ceiling():
    H, tau = F[0], 0.2
    net = movements.hidden_difference(START, X[0], H, tau, H)
    assert torch.allclose(outputs(net, X[:1])[0], H, atol=1e-9)
    assert (net.V - START.V).norm() == pytest.approx(tau)
    c = movements.second_gain(START, tau, unit_sphere(2000, K + 1, 0))
    away, size = (first_outputs(net, X[:1])[0] - H).norm().item(), 1 + first_outputs(net, X[:1])[0].norm().item()
    assert 0.3 * tau < away <= c * size
