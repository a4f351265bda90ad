import math

import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum
from hierlib.measures.movement import (
    flips_outside,
    gram_change,
    movement_bound,
    movement_summary,
    movements,
    near_kink,
    near_kink_bound,
    path_bound,
    predicted_flips,
)
from hierlib.nets.two_layer import TwoLayer, flipped, outputs, two_layer
from hierlib.train.full_batch import gradient_descent

N, D, M, STEPS = 12, 6, 400, 40
X = unit_sphere(N, D, seed=0)
y = random_signs(N, seed=0)
EIGEN = spectrum(relu_gram(X))
ETA, LEAST = 1 / EIGEN.values[0].item(), EIGEN.values[-1].item()
NET = two_layer(M, D, 1.0, seed=0)
RUN = gradient_descent(NET, X, y, ETA, STEPS, dtype=torch.float64)


def pushed(net: TwoLayer, size: float, seed: int = 0) -> TwoLayer:
    """Every neuron moved by the same distance, each in a direction that knows nothing of the network."""
    return TwoLayer(net.W + size * unit_sphere(*net.W.shape, seed, "push"), net.a)


def test_movements_are_the_lengths_of_the_pushes():
    assert torch.allclose(movements(NET, pushed(NET, 0.3)), torch.full((M,), 0.3).double())
    assert movements(NET, NET).max() == 0


def test_the_bound_of_the_lemma_is_its_formula():
    start = torch.tensor([3.0, 4.0, 0.0, 0.0])  # norm 5, n = 4
    assert movement_bound(start, m=100, smallest=0.5) == pytest.approx(4 * 2 * 5 / (10 * 0.5))


def test_the_path_bound_adds_up_every_step_but_the_last_state():
    residuals = torch.tensor([[3.0, 4.0], [0.0, 2.0], [100.0, 100.0]])  # norms 5 and 2; the third pulls at nothing
    assert path_bound(residuals, eta=0.1, m=8) == pytest.approx(0.1 * math.sqrt(2 / 8) * 7)


def test_training_respects_the_chain_of_lemma_c1():
    residuals = RUN.residuals(y)
    path = path_bound(residuals, ETA, M)
    assert movements(NET, RUN.net).max() <= path <= movement_bound(y - outputs(NET, X), M, LEAST)


def test_one_aligned_step_attains_the_path_bound():
    X_same = X[:1].repeat(3, 1)  # equal inputs and equal residuals: no triangle inequality loses anything
    net = TwoLayer(X[:1].clone(), torch.ones(1).double())
    run = gradient_descent(net, X_same, torch.full((3,), 5.0).double(), eta=0.01, steps=1, dtype=torch.float64)
    path = path_bound(run.residuals(torch.full((3,), 5.0).double()), 0.01, 1)
    assert movements(net, run.net).item() == pytest.approx(path, rel=1e-12)


def test_near_kink_is_the_event_written_as_loops():
    R = 0.4
    by_hand = [[abs(float(np.dot(w, x))) <= R for w in NET.W.numpy()] for x in X.numpy()]
    assert near_kink(NET, X, R).tolist() == by_hand


def test_no_sign_flips_outside_the_kinks_if_the_radius_covers_every_state():
    states = [pushed(NET, 0.5, seed=1), pushed(NET, 0.2, seed=2)]
    assert flips_outside(NET, states, X, R=0.5) == 0
    assert flips_outside(NET, states, X, R=0.2) > 0  # the first state went further than that


def test_flips_outside_counts_each_pair_once_in_whatever_state_it_flipped():
    far, back = TwoLayer(-NET.W, NET.a), NET  # all signs flip, and then flip back
    away = int((~near_kink(NET, X, 0.3)).sum())
    assert flips_outside(NET, [far, back], X, 0.3) == flips_outside(NET, [far, far], X, 0.3) == away


@pytest.mark.parametrize("kappa", [0.5, 2.0])
@pytest.mark.parametrize("R", [0.01, 0.3, 1.0])
def test_the_share_near_the_kink_is_the_gaussian_integral_and_below_the_bound(kappa, R):
    neurons = 200_000
    share = near_kink(two_layer(neurons, 3, kappa, seed=1), X[:1, :3] / X[:1, :3].norm(), R).double().mean().item()
    exact = math.erf(R / (kappa * math.sqrt(2)))
    assert abs(share - exact) < 5 * math.sqrt(exact / neurons)
    assert exact <= near_kink_bound(R, kappa)


def test_the_bound_on_the_share_is_sharp_for_small_radii():
    assert near_kink_bound(0.001, 0.7) == pytest.approx(math.erf(0.001 / (0.7 * math.sqrt(2))), rel=1e-6)


@pytest.mark.parametrize("kappa", [0.5, 2.0])
def test_flips_under_independent_pushes_are_the_predicted_share(kappa):
    net = two_layer(100_000, D, kappa, seed=2)
    after = pushed(net, 0.05 * kappa)
    share = flipped(net, after, X)
    assert predicted_flips(net, after, X, kappa) == pytest.approx(share, rel=0.03)


def test_only_movement_near_the_kink_counts():
    net = two_layer(20_000, D, 1.0, seed=3)
    after = pushed(net, 0.05)
    # hold the neurons that are far from every kink: no flip is lost, and the prediction must not notice
    far = ~near_kink(net, X, 0.3).any(dim=0)
    still = TwoLayer(torch.where(far[:, None], net.W, after.W), net.a)
    assert far.sum() > 100
    assert predicted_flips(net, still, X, 1.0) == pytest.approx(predicted_flips(net, after, X, 1.0), rel=1e-12)


def test_the_change_is_that_of_the_gram_matrix():
    change = gram_change(NET, RUN.net, X)
    assert change.norm == pytest.approx((finite_gram(RUN.net.W, X) - finite_gram(NET.W, X)).norm().item(), rel=1e-12)


def test_both_estimates_count_the_products_that_changed():
    after = pushed(NET, 0.5)
    before_on, after_on = (X @ NET.W.T >= 0).numpy(), (X @ after.W.T >= 0).numpy()
    one_sign = random = 0.0
    for i in range(N):
        for j in range(N):
            count = sum((before_on[i] & before_on[j]) != (after_on[i] & after_on[j]))
            overlap = float(X[i] @ X[j])
            one_sign += (overlap * count / M) ** 2
            random += overlap**2 * count / M**2
    change = gram_change(NET, after, X)
    assert change.one_sign == pytest.approx(math.sqrt(one_sign), rel=1e-12)
    assert change.random_signs == pytest.approx(math.sqrt(random), rel=1e-12)
    assert change.norm <= change.one_sign * (1 + 1e-12)


def test_independent_pushes_change_the_gram_matrix_like_a_random_walk():
    ratios = []
    for seed in range(30):
        net = two_layer(2000, D, 1.0, seed)
        change = gram_change(net, pushed(net, 0.05, seed), X)
        ratios.append((change.norm / change.random_signs) ** 2)
    assert np.mean(ratios) == pytest.approx(1, abs=0.2)


def test_neurons_that_all_switch_off_change_it_with_one_sign():
    x = X[:1]
    on = TwoLayer(NET.W * torch.sign(NET.W @ x.T), NET.a)  # every neuron on for the single input
    every_third = torch.arange(M)[:, None] % 3 == 0
    change = gram_change(on, TwoLayer(torch.where(every_third, -on.W, on.W), NET.a), x)
    assert change.norm == pytest.approx(change.one_sign, rel=1e-12)
    assert change.norm > 5 * change.random_signs


def explicit_Z(net: TwoLayer) -> torch.Tensor:
    """All gradients of the outputs as columns: (m d, n)."""
    W = net.W.clone().requires_grad_()
    u = torch.relu(X @ W.T) @ net.a / M**0.5
    return torch.stack([torch.autograd.grad(value, W, retain_graph=True)[0].ravel() for value in u], dim=1)


def test_a_summary_knows_how_far_the_gradients_have_turned():
    turned = (explicit_Z(RUN.net) - explicit_Z(NET)).norm().item()
    assert turned == pytest.approx(movement_summary([NET, RUN.net], X, 1.0).Z)


def test_a_summary_reports_the_worst_of_its_states():
    far, near = pushed(NET, 0.5, seed=1), pushed(NET, 0.1, seed=2)
    seen, change = movement_summary([NET, far, near], X, 1.0), gram_change(NET, far, X)
    radius, near_share, outside, share, predicted, _, *gram = seen
    assert radius == pytest.approx(0.5)
    assert near_share == near_kink(NET, X, radius).double().mean().item() and outside == 0
    assert share == flipped(NET, far, X) and predicted == predicted_flips(NET, far, X, 1.0)
    assert tuple(gram) == change


def test_a_network_that_stays_where_it_is_has_made_no_movement():
    seen = movement_summary([NET, NET], X, 1.0)
    assert (seen.R, seen.outside, seen.F, seen.Z, seen.H) == (0, 0, 0, 0, 0)
