"""The remainder of the linearisation: against automatic differentiation, brute force and long vectors."""

import itertools

import pytest
import torch

from hierlib.data.sequences import token_sequences
from hierlib.nets.recurrent import gradient, outputs, recurrent, states
from hierlib.papers.rnn.linearisation import (
    BOUNDARY,
    Movement,
    along_gradient,
    best_push,
    boundary_push,
    gained,
    last_step,
    moved,
    operator_norm,
    worst_law,
)
from hierlib.streams import normals


@pytest.fixture
def net():
    return recurrent(60, 3, 4**-3.0, 0)


@pytest.fixture
def x():
    return token_sequences(1, 4, 3, 0)[0]


def test_the_remainder_is_that_of_the_network_with_the_matrix_formed(net, x):
    move = Movement(normals((60, 2), 0, "U", scale=0.1), normals((60, 2), 0, "V", scale=0.1))
    found = moved(net, x, move)
    shift = move.U @ move.V.T
    after = net._replace(W=net.W + shift)
    linear = (gradient(net, x) * shift).sum()
    assert found.first_order == pytest.approx(linear.item())
    assert found.remainder == pytest.approx((outputs(after, x[None]) - outputs(net, x[None]) - linear).item())
    changed = (states(after, x[None]).gates - states(net, x[None]).gates).abs().sum(-1)[:, 0]
    assert torch.equal(found.flips, changed)


def test_the_gradient_direction_has_its_length_and_direction(net, x):
    move = along_gradient(net, x, 0.3)
    shift = move.U @ move.V.T
    assert shift.norm().item() == pytest.approx(0.3)
    G = gradient(net, x)
    assert torch.allclose(shift, 0.3 * G / G.norm())


def test_a_push_at_the_last_step_touches_no_other(net, x):
    step = last_step(net, x)
    p = best_push(step.g, net.B, 0.5)
    found = moved(net, x, Movement(p[:, None], step.v[:, None]))
    assert found.remainder == pytest.approx(gained(step.g, net.B, p))
    assert found.flips[:-1].sum() == 0
    assert found.flips[-1] > 0


@pytest.mark.parametrize("length", [0.2, 0.5, 1.0])
def test_no_set_of_signs_is_worth_more(length):
    g, B = normals((12,), 1, "g", scale=0.4), normals((12,), 1, "B")
    best = 0.0
    for chosen in itertools.product([False, True], repeat=12):
        mask = torch.tensor(chosen) & (B > 0)
        best = max(best, (length * (B * mask).norm() - (B * g.abs() * mask).sum()).item())
    found = gained(g, B, best_push(g, B, length))
    assert 0.85 * best <= found <= best * (1 + 1e-9)


@pytest.mark.parametrize("tau", [0.3, 3.0])
def test_long_vectors_follow_the_law(tau):
    m = 400_000
    g, B = normals((m,), 2, "g", scale=(3.0 / m) ** 0.5), normals((m,), 2, "B")
    found = gained(g, B, best_push(g, B, tau / m**0.5))
    assert found == pytest.approx(worst_law(m, tau, 1.5), rel=0.05)


def test_the_operator_norm_is_that_of_the_matrix():
    move = Movement(normals((60, 3), 0, "U"), normals((60, 3), 0, "V"))
    assert operator_norm(move) == pytest.approx(torch.linalg.matrix_norm(move.U @ move.V.T, 2).item())


def test_a_step_back_from_the_boundary_is_that_of_the_network(net, x):
    step = last_step(net, x)
    q, p = boundary_push(step.g, net.B, 0.5)
    assert q.norm() <= 0.5
    assert (q + p).norm() <= 0.5
    there = net._replace(W=net.W + torch.outer(q, step.v))
    found = moved(there, x, Movement(p[:, None], step.v[:, None]))
    assert found.remainder == pytest.approx(gained(step.g + q, net.B, p), rel=1e-6)
    assert found.remainder == pytest.approx(net.B[q != 0].norm().item() * p.norm().item(), rel=1e-5)


def test_from_the_boundary_long_vectors_follow_their_law():
    m, omega = 400_000, 2 / 400_000**0.5
    g, B = normals((m,), 2, "g", scale=(2.0 / m) ** 0.5), normals((m,), 2, "B")
    q, p = boundary_push(g, B, omega)
    assert gained(g + q, B, p) / p.norm().item() == pytest.approx(BOUNDARY * omega ** (1 / 3) * m**0.5, rel=0.05)
