import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import inverse_norm, spectrum
from hierlib.nets.two_layer import TwoLayer, flipped, outputs, two_layer
from hierlib.papers.fine_grained.path_length import (
    auxiliary_limit,
    auxiliary_sequence,
    endpoint_summary,
    jacobian,
    jacobian_times,
    laziness,
    linear_movement,
    predicted_distances,
)
from hierlib.train.full_batch import gradient_descent

N, D, M, ETA, STEPS = 10, 12, 30, 0.5, 3000
X = unit_sphere(N, D, seed=0)
y = random_signs(N, seed=0)
NET = two_layer(M, D, kappa=1.0, seed=0)
Z = jacobian(NET, X)
EIGEN = spectrum(finite_gram(NET.W, X))
LIMIT = spectrum(relu_gram(X))
ALL_STEPS = torch.arange(STEPS + 1)


def test_the_jacobian_is_the_derivative_of_the_outputs_in_the_hidden_weights():
    by_autograd = torch.autograd.functional.jacobian(lambda W: outputs(TwoLayer(W, NET.a), X), NET.W)
    assert torch.allclose(Z, by_autograd.reshape(N, M * D).T, atol=1e-14)


def test_its_gram_matrix_is_that_of_the_network():
    assert torch.allclose(Z.T @ Z, finite_gram(NET.W, X), atol=1e-14)


def test_the_sequence_is_gradient_descent_on_the_linear_model():
    w = torch.zeros(M * D, dtype=torch.float64, requires_grad=True)
    for step in range(4):
        assert torch.allclose(auxiliary_sequence(NET, X, y, ETA, 3)[step], w.detach(), atol=1e-14)
        (gradient,) = torch.autograd.grad((Z.T @ w - y).square().sum() / 2, w)
        w = (w - ETA * gradient).detach().requires_grad_()


def test_its_first_step_is_that_of_a_network_with_zero_output():
    net = two_layer(M, D, kappa=1.0, seed=0, paired=True)
    moved = gradient_descent(net, X, y, ETA, 1, dtype=torch.float64).net.W - net.W
    assert torch.allclose(auxiliary_sequence(net, X, y, ETA, 1)[1], moved.flatten(), atol=1e-14)


@pytest.mark.parametrize("eta", [0.05, ETA, 1.2])
def test_the_closed_form_gives_its_length_at_every_step(eta):
    walked = auxiliary_sequence(NET, X, y, eta, 50).norm(dim=1)
    assert torch.allclose(predicted_distances(EIGEN, y, eta, ALL_STEPS[:51]), walked, atol=1e-12)


def test_it_ends_where_the_limit_says():
    end = auxiliary_sequence(NET, X, y, ETA, STEPS)[-1]
    assert torch.allclose(auxiliary_limit(NET, X, y).flatten(), end, atol=1e-9)


def test_the_limit_fits_the_labels_with_the_shortest_weights():
    limit = auxiliary_limit(NET, X, y).flatten()
    shortest = torch.linalg.lstsq(Z.T, y, driver="gelsd").solution
    assert torch.allclose(Z.T @ limit, y, atol=1e-10)
    assert torch.allclose(limit, shortest, atol=1e-10)
    assert limit.norm().item() == pytest.approx(inverse_norm(finite_gram(NET.W, X), y).item())


def test_from_another_start_it_travels_to_fit_what_the_start_does_not():
    walked = auxiliary_sequence(NET, X, y, ETA, STEPS, start=NET.W.flatten())
    missing = y - outputs(NET, X)
    assert (walked[-1] - walked[0]).norm().item() == pytest.approx(inverse_norm(Z.T @ Z, missing).item(), rel=1e-8)


def test_distances_grow_from_zero_to_the_inverse_norm():
    H = relu_gram(X)
    distances = predicted_distances(spectrum(H), y, ETA, ALL_STEPS)
    assert distances[0] == 0 and (distances.diff() >= -1e-12).all()
    assert distances[-1].item() == pytest.approx(inverse_norm(H, y).item(), rel=1e-8)


def test_a_wide_lazy_network_travels_the_predicted_distance():
    net = two_layer(20_000, D, kappa=10.0, seed=0, paired=True)
    moved = (gradient_descent(net, X, y, ETA, 20).net.W - net.W).norm()
    predicted = predicted_distances(spectrum(relu_gram(X)), y, ETA, torch.tensor([20]))
    assert moved.item() == pytest.approx(predicted.item(), rel=0.02)


def test_an_end_at_that_of_the_linear_sequence_has_no_gap_and_twice_as_far_has_a_gap_of_one():
    aim = auxiliary_limit(NET, X, y)
    there = endpoint_summary(NET, TwoLayer(NET.W + aim, NET.a), X, y)
    assert there.gap == pytest.approx(0, abs=1e-12)
    assert there.length == pytest.approx(there.linear_length) == pytest.approx(aim.norm().item())
    assert there.busiest == pytest.approx(there.linear_busiest) == pytest.approx(max(row.norm().item() for row in aim))
    further = endpoint_summary(NET, TwoLayer(NET.W + 2 * aim, NET.a), X, y)
    assert (further.gap, further.busiest / there.busiest) == pytest.approx((1, 2))
    aside = TwoLayer(NET.W + aim.flip(0), NET.a)  # as far, but elsewhere: other neurons carry the same movements
    assert (
        endpoint_summary(NET, aside, X, y)[:2] == pytest.approx(there[:2]) and endpoint_summary(NET, aside, X, y).gap > 0.5
    )


def test_the_jacobian_can_be_applied_without_being_formed():
    assert torch.allclose(jacobian_times(NET, X, y).flatten(), jacobian(NET, X) @ y, atol=1e-12)


def test_laziness_is_the_initial_scale_over_the_path():
    assert laziness(LIMIT, y, 400, 0.5) == pytest.approx(0.5 * 20 / inverse_norm(relu_gram(X), y).item(), rel=1e-10)


def test_only_the_ratio_of_weights_to_labels_counts():
    assert laziness(LIMIT, 3 * y, 400, 1.5) == pytest.approx(laziness(LIMIT, y, 400, 0.5))


def test_the_movement_is_that_of_descent_with_frozen_patterns():
    net = two_layer(50, D, 1.0, seed=1)
    own = spectrum(finite_gram(net.W, X))  # with its own H(0) the linear recursion is exact as long as nothing flips
    heavy = TwoLayer(1e6 * net.W, net.a)
    start = torch.relu(X @ heavy.W.T) @ heavy.a / 50**0.5
    run = gradient_descent(heavy, X, y + start, 0.1, 30, "weights", torch.float64)
    assert flipped(heavy, run.net, X) == 0
    assert torch.allclose(run.net.W - heavy.W, linear_movement(net, X, own, y, 0.1, 30), atol=1e-8)


def test_no_step_no_movement():
    assert linear_movement(two_layer(10, D, 1.0, seed=0), X, LIMIT, y, 0.1, 0).abs().max() == 0
