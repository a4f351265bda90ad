import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum
from hierlib.nets.two_layer import TwoLayer, active, outputs, two_layer
from hierlib.papers.fine_grained.progress import frozen_part, frozen_step, progress
from hierlib.theory.linear_dynamics import iterated_residuals
from hierlib.train.full_batch import gradient_descent

X = unit_sphere(12, 6, seed=0)
y = random_signs(12, seed=0)
H = relu_gram(X)
EIGEN = spectrum(H)
LEAST, ETA = EIGEN.values[-1].item(), 1 / EIGEN.values[0].item()


def test_the_promised_contraction_has_progress_one():
    eta, least = 0.3, 0.2
    losses = (1 - eta * least / 2) ** torch.arange(6).double()
    assert torch.allclose(progress(losses.sqrt()[:, None], eta, least), torch.ones(5).double())


def test_a_loss_that_rises_has_negative_progress():
    assert progress(torch.tensor([[1.0], [2.0]]), 1.0, 1.0).item() == pytest.approx((1 - 4) / 0.5)


def test_the_linear_limit_comes_down_to_its_slowest_mode():
    easy_to_hard = EIGEN.vectors.sum(dim=1)  # every mode alike; the largest is gone after one step
    rhos = progress(iterated_residuals(H, easy_to_hard, ETA, 100), ETA, LEAST)
    assert (rhos[1:] < rhos[:-1]).all() and (rhos > 4 - 2 * ETA * LEAST).all()
    slowest = EIGEN.vectors[:, -1]
    assert progress(iterated_residuals(H, slowest, ETA, 1), ETA, LEAST).item() == pytest.approx(4 - 2 * ETA * LEAST)


def test_nothing_is_said_about_losses_made_of_rounding_errors():
    residuals = torch.tensor([[1.0], [1e-3], [1e-7], [1.0], [0.5]]).double()  # the third loss is below the floor
    assert len(progress(residuals, 1.0, 1.0)) == 1


def test_a_frozen_step_is_a_real_one_when_no_sign_changes():
    net = two_layer(50, 6, 1.0, seed=0)
    run = gradient_descent(net, X, y, 1e-4, 1, dtype=torch.float64)
    assert torch.equal(active(net, X), active(run.net, X))
    before, after = run.residuals(y)
    assert torch.allclose(frozen_step(before, finite_gram(net.W, X), 1e-4), after, atol=1e-13)


def test_frozen_neurons_stay_where_they_are():
    net, kept = two_layer(40, 6, 0.5, seed=1), 10
    part, labels, eta = frozen_part(net, X, y, ETA, share=0.75)
    W = net.W.clone().requires_grad_()
    residuals = []
    for _ in range(6):  # slow twin: autograd on the whole network, of which only the first rows move
        residual = y - outputs(TwoLayer(W, net.a), X)
        residuals.append(residual.detach())
        (gradient,) = torch.autograd.grad(residual.square().sum() / 2, W)
        gradient[kept:] = 0
        W = (W - ETA * gradient).detach().requires_grad_()
    found = gradient_descent(part, X, labels, eta, 5, dtype=torch.float64).residuals(labels)
    torch.testing.assert_close(found * (kept / 40) ** 0.5, torch.stack(residuals), rtol=0, atol=1e-12)
