"""Adversarial movements of a random block, against brute force over all gates and against the limits for wide blocks."""

import itertools
import math

import pytest
import torch
from scipy import integrate, stats

from hierlib.data.spheres import unit_sphere
from hierlib.nets.affine import with_one
from hierlib.nets.residual import first_outputs, gates, outputs, residual
from hierlib.papers.resnet_kernels import lemma_d1 as coupling
from hierlib.theory.sign_flips import worst_share


def block(m, k, seed, sigma=1.0):
    """A (k, m) and h (m,) of a block with |z| = 1."""
    net = residual(m, 3, k, seed, sigma, 1.0)
    return net.A, net.W[:, 0]


def reachable(h, budget):
    """The gates of h + p for every p within the budget."""
    for bits in itertools.product([False, True], repeat=len(h)):
        flipped = torch.tensor(bits)
        if (h[flipped] ** 2).sum() <= budget**2:
            yield (h >= 0) ^ flipped


def test_a_movement_of_rank_one_reaches_every_vector_and_has_its_norm():
    net, x, p = residual(50, 4, 3, 0, 1.0, 1.0), unit_sphere(1, 4, 0)[0], torch.linspace(-1, 1, 50).double()
    moved = coupling.moved_first(net, x, p)
    z = with_one(x[None])[0]
    assert torch.allclose((moved.W - net.W) @ z, p)
    assert torch.linalg.matrix_norm(moved.W - net.W, 2) == pytest.approx(p.norm() / math.sqrt(2))
    moved = coupling.moved_second(net, x, p)
    z = with_one(first_outputs(net, x[None]))[0]
    assert torch.allclose((moved.V - net.V) @ z, p)
    assert torch.linalg.matrix_norm(moved.V - net.V, 2) == pytest.approx((p.norm() / z.norm()).item())


def test_without_movement_nothing_flips_and_the_start_is_the_output():
    net, x = residual(200, 4, 3, 0, 1.0, 1.0), unit_sphere(1, 4, 0)[0]
    first, second = coupling.first_block(net, net, x), coupling.second_block(net, net, x)
    assert first.flips == second.flips == 0
    assert first.start == pytest.approx(first.output)
    assert second.start == pytest.approx(second.output)
    added = (outputs(net, x[None]) - first_outputs(net, x[None])).norm().item()
    assert second.output * (first.output + 1) == pytest.approx(added)
    z = with_one(first_outputs(net, x[None]))[0]
    assert second.operator >= second.start * (first.output + 1) / z.norm().item()


@pytest.mark.parametrize("seed", range(4))
def test_the_search_for_the_start_is_near_the_best_of_all_gates_and_below_its_ceiling(seed):
    A, h = block(12, 2, seed)
    budget = 1.0
    best = max((A @ (gate * h)).norm().item() for gate in reachable(h, budget))
    p = coupling.worst_start(A, h, budget)
    found = (A @ ((h + p >= 0) * h)).norm().item()
    assert p.norm() <= budget
    assert best - (A * h).norm(dim=0).max() <= found <= best + 1e-9
    assert best <= coupling.start_ceiling(A, h, budget)


@pytest.mark.parametrize("seed", range(4))
def test_the_search_for_the_operator_stays_among_the_reachable_gates_and_never_loses(seed):
    net = residual(12, 3, 2, seed, 1.0, 1.0)
    h, budget = net.V[:, 2], 0.3
    best = max(torch.linalg.matrix_norm(net.A @ (g[:, None] * net.V), 2).item() for g in reachable(h, budget))
    p = coupling.worst_operator(net.A, net.V, h, budget)
    found = torch.linalg.matrix_norm(net.A @ ((h + p >= 0)[:, None] * net.V), 2).item()
    assert p.norm() <= budget
    assert torch.linalg.matrix_norm(net.A @ ((h >= 0)[:, None] * net.V), 2) <= found <= best + 1e-9


def test_the_search_for_the_output_beats_random_movements():
    A, h = block(100, 3, 0)
    u = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    p = coupling.worst_output(A, h, 2.0, u)
    assert p.norm() == pytest.approx(2.0)
    random = unit_sphere(2000, 100, 0) * 2
    assert (A @ torch.relu(h + p)).norm() > (torch.relu(h + random) @ A.T).norm(dim=1).max()


def test_every_part_of_the_worst_is_at_least_what_single_adversaries_find():
    net, x = residual(500, 4, 3, 1, 0.5, 1.0), unit_sphere(1, 4, 1)[0]
    z = with_one(x[None])[0]
    worst = coupling.worst_first(net, x, 1.0)
    p = coupling.worst_flips(net.W @ z, 2**0.5)
    assert worst.flips == coupling.first_block(net, coupling.moved_first(net, x, p), x).flips
    assert worst.start > first_outputs(net, x[None]).norm()
    second = coupling.worst_second(coupling.steered(net, x, 1.0, torch.eye(3).double()[0]), x, 0.3)
    assert second.flips == pytest.approx(500 * worst_share(0.3), rel=0.15)


def test_choosing_both_movements_is_at_least_as_bad_as_choosing_one_and_the_ceiling_is_above():
    net, x = residual(500, 4, 3, 1, 0.5, 1.0), unit_sphere(1, 4, 1)[0]
    alone, both = coupling.worst_second(net, x, 0.3), coupling.worst_both(net, x, 1.0, 0.3, torch.eye(3).double())
    assert all(more >= less for more, less in zip(both, alone, strict=True)) and both != alone
    assert coupling.worst_first(net, x, 1.0).start <= coupling.first_ceiling(net, x, 1.0)


def test_aligned_gates_are_open_where_the_first_output_weight_is_positive():
    net, x = residual(500, 4, 3, 1, 0.5, 1.0), unit_sphere(1, 4, 1)[0]
    turned = coupling.aligned(net, x)
    assert torch.equal(gates(turned, x[None])[0][0], net.A[0] > 0)
    assert torch.allclose(turned.W.abs(), net.W.abs())


def test_a_steered_network_has_a_first_output_in_the_given_direction():
    net, x = residual(40_000, 4, 3, 1, 0.2, 1.0), unit_sphere(1, 4, 1)[0]
    u = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
    out1 = first_outputs(coupling.steered(net, x, 4.0, u), x[None])[0]
    assert out1 @ u / out1.norm() > 0.98
    assert out1.norm() == pytest.approx(4, rel=0.15)  # A D A is about I/2, and |(x, 1)|^2 is 2


def test_the_limit_of_the_start_is_the_knapsack_of_a_wide_block_with_one_output():
    m, sigma, tau = 400_000, 0.3, 5.0
    A, h = block(m, 1, 0, sigma)
    p = coupling.worst_start(A, h, tau)
    flipped = (A @ ((h + p >= 0) * h) - A @ torch.relu(h)).norm().item()
    assert flipped == pytest.approx(coupling.start_size(m, 1, sigma, tau)[0], rel=0.03)


def test_the_random_part_of_the_start():
    m, k, sigma = 2000, 50, 0.3
    A, h = block(m, k, 0, sigma)
    assert (A @ torch.relu(h)).norm().item() == pytest.approx(coupling.start_size(m, k, sigma, 1.0)[1], rel=0.15)


def test_the_limit_of_the_operator():
    m, sigma, tau = 400_000, 400_000**-0.5, 0.05
    net = residual(m, 3, 1, 0, 1.0, 1.0)
    p = coupling.worst_operator(net.A, net.V, net.V[:, 0], tau)
    change = ((net.V[:, 0] + p >= 0) ^ (net.V[:, 0] >= 0)).double() * torch.where(net.V[:, 0] >= 0, -1.0, 1.0)
    added = torch.linalg.matrix_norm(net.A @ (change[:, None] * net.V), 2).item()
    assert added == pytest.approx(coupling.operator_size(m, sigma, tau), rel=0.05)


def test_the_absolute_moment():
    value, _ = integrate.quad(lambda z: 2 * z**1.5 * stats.norm.pdf(z), 0, 40)
    assert value == pytest.approx(coupling.ABSOLUTE_MOMENT)
