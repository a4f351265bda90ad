import itertools
import math

import pytest
import torch

from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.nets.two_layer import TwoLayer, outputs, two_layer
from hierlib.papers.fine_grained.path_length import jacobian
from hierlib.streams import stream
from hierlib.theory.rademacher import (
    ascent,
    certificate,
    generalisation_bound,
    largest_linear_gap,
    lemma_bound,
    linear_supremum,
    plane_supremum,
    sign_pairs,
)

N, D, M = 6, 4, 40
X = unit_sphere(N, D, seed=0)
NET = two_layer(M, D, kappa=1.0, seed=0)
ALL_SIGNS = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=N)), dtype=torch.float64)


def test_signs_come_in_opposite_pairs():
    signs = sign_pairs(50, N, seed=0)
    assert signs.shape == (100, N) and set(signs.unique().tolist()) == {-1.0, 1.0}
    assert torch.equal(signs[:50], -signs[50:])
    assert not torch.equal(signs, sign_pairs(50, N, seed=1))


def test_the_linear_supremum_is_attained_at_the_gradient_and_nowhere_exceeded():
    Z, B = jacobian(NET, X), 2.0
    supremum = linear_supremum(finite_gram(NET.W, X), ALL_SIGNS, B)
    for eps, expected in zip(ALL_SIGNS, supremum, strict=True):
        direction = Z @ eps
        assert expected.item() == pytest.approx((B * direction / direction.norm() @ Z @ eps / N).item())
    others = torch.randn(200, M * D, generator=stream(0, "directions"), dtype=torch.float64)
    others *= B / others.norm(dim=1, keepdim=True)
    assert (others @ Z @ ALL_SIGNS.T / N <= supremum + 1e-12).all()


def test_averaged_over_all_signs_its_square_is_the_frobenius_norm_of_the_gradients():
    square = linear_supremum(finite_gram(NET.W, X), ALL_SIGNS, 2.0).square().mean()
    assert square.sqrt().item() == pytest.approx(2.0 / N * jacobian(NET, X).norm().item())


def test_the_largest_gap_is_that_of_the_best_linear_function_and_no_other_exceeds_it():
    Z, B = jacobian(NET, X), 2.0
    y, sample = torch.tensor([1.0, -1, 1, 1, -1, -1], dtype=torch.float64), torch.tensor([0, 3, 3, 5])

    def gap(theta: torch.Tensor) -> float:
        loss = -y * (theta @ Z)
        return (loss.mean() - loss[sample].mean()).item()

    largest = largest_linear_gap(finite_gram(NET.W, X), y, sample, B).item()
    best = (Z[:, sample] * y[sample]).mean(1) - (Z * y).mean(1)
    assert largest == pytest.approx(gap(B * best / best.norm()))
    others = torch.randn(200, M * D, generator=stream(0, "directions"), dtype=torch.float64)
    assert max(gap(B * theta / theta.norm()) for theta in others) < largest


def slow_ascent(net: TwoLayer, eps: torch.Tensor, R: float, B: float, steps: int) -> float:
    """One sign vector, gradients by autograd, rows projected one after another."""
    moved = torch.zeros_like(net.W)
    best = 0.0
    for _ in range(steps + 1):
        W = (net.W + moved).requires_grad_()
        value = eps @ (outputs(TwoLayer(W, net.a), X) - outputs(net, X))
        best = max(best, value.item() / N)
        (gradient,) = torch.autograd.grad(value, W)
        moved = moved + B * gradient / gradient.norm()
        moved = torch.stack([row if row.norm() <= R else row * R / row.norm() for row in moved])
        moved = moved if moved.norm() <= B else moved * B / moved.norm()
    return best


@pytest.mark.parametrize(("R", "B"), [(0.3, 1.0), (0.05, 1.0), (3.0, 8.0)])
def test_the_batched_ascent_climbs_like_one_sign_vector_at_a_time(R, B):
    signs = sign_pairs(3, N, seed=0)
    slow = torch.tensor([slow_ascent(NET, eps, R, B, 5) for eps in signs], dtype=torch.float64)
    assert torch.allclose(ascent(NET, X, signs, R, B, 5), slow, rtol=1e-4)


def test_close_to_the_start_the_class_is_linear():
    tiny = ascent(NET, X, ALL_SIGNS, math.inf, 1e-3, 5)
    assert torch.allclose(tiny, linear_supremum(finite_gram(NET.W, X), ALL_SIGNS, 1e-3), rtol=2e-3)


def test_without_a_bound_on_the_total_the_neurons_use_all_they_have():
    both, neurons_only = (ascent(NET, X, ALL_SIGNS, 1e-3, B, 5).mean() for B in (1e-3, math.inf))
    assert neurons_only > 4 * both  # sqrt(40) = 6.3 times further in total


def test_what_ascent_finds_stays_below_what_the_proof_certifies():
    for R, B in ((0.01, 0.05), (0.1, 0.5), (1.0, 5.0)):
        assert ascent(NET, X, ALL_SIGNS, R, B, 20).mean() <= certificate(NET, X, R, B)


def test_the_certificate_counts_active_pairs_and_pairs_near_their_kink():
    net = TwoLayer(torch.tensor([[1.0, 0.2], [-1.0, 2.0]], dtype=torch.float64), torch.tensor([1.0, -1.0]))
    inputs = torch.eye(2, dtype=torch.float64)  # pre-activations 1, -1 and 0.2, 2: three are on, one is within 0.5
    expected = 3.0 / 2 * math.sqrt(3 / 2) + 2 * 0.5 / (2 * math.sqrt(2)) * 1
    assert certificate(net, inputs, R=0.5, B=3.0) == pytest.approx(expected)


def test_the_bound_of_the_lemma_written_out():
    terms = lemma_bound(B=3.0, R=0.5, n=8, m=16, kappa=0.1, delta=2 / math.e**2)  # log(2/delta) = 2
    assert terms == pytest.approx((0.75 * (1 + 0.25**0.25), 2 * 0.25 * 4 / 0.1, 0.5 * 2))


def test_it_is_the_certificate_in_expectation_plus_what_chance_adds():
    """Averaged over networks, the certificate is at most the bound's terms without their deviations."""
    R, B, kappa = 0.1, 0.5, 1.0
    average = sum(certificate(two_layer(M, D, kappa, seed), X, R, B) for seed in range(200)) / 200
    exact = B / math.sqrt(2 * N) + 2 * R * math.sqrt(M) * math.erf(R / kappa / math.sqrt(2))
    assert average == pytest.approx(exact, rel=0.03)
    terms = lemma_bound(B, R, N, M, kappa, delta=0.05)
    assert exact <= B / math.sqrt(2 * N) + terms.switching <= sum(terms)


def test_the_generalisation_bound_written_out():
    bound = generalisation_bound(torch.tensor([0.1, 0.2]), rho=0.5, c=2.0, n=4, delta=2 / math.e**2)
    assert bound.tolist() == pytest.approx([0.1 + 3 * 2 * 0.5, 0.2 + 3 * 2 * 0.5])


def test_in_the_plane_every_neuron_is_on_its_own():
    flat, net = unit_sphere(9, 2, seed=3), two_layer(30, 2, 1.0, seed=3)
    eps = sign_pairs(4, 9, seed=3)
    tiny = 1e-6  # no sign can flip: R/(n sqrt(m)) sum_r |sum_i eps_i 1_{r,i} x_i|
    pulls = ((X_on(net, flat)[None] * eps[:, :, None]).transpose(1, 2) @ flat).norm(dim=2).sum(1)
    expected = tiny * pulls / (9 * 30**0.5)
    torch.testing.assert_close(plane_supremum(net, flat, eps, tiny), expected, rtol=1e-4, atol=0)
    assert (plane_supremum(net, flat, eps, 0.7) >= 0.9999 * ascent(net, flat, eps, 0.7, float("inf"), 20)).all()


def X_on(net, inputs):
    return (inputs @ net.W.T >= 0).double()
