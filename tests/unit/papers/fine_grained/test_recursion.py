"""The error recursion against the trainer, against its own sum, and where nothing switches."""

import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import spectrum
from hierlib.nets.two_layer import two_layer
from hierlib.papers.fine_grained.recursion import envelope, epsilon_bound, error, follow
from hierlib.train.full_batch import gradient_descent

X, y = unit_sphere(8, 5, 0), random_signs(8, 0)
H = relu_gram(X)
EIGEN = spectrum(H)
ETA = 1 / EIGEN.values[0].item()


def test_it_is_gradient_descent():
    net = two_layer(64, 5, 1.0, 0)
    trained = gradient_descent(net, X, y, ETA, 30, dtype=torch.float64)
    torch.testing.assert_close(follow(net, X, y, H, ETA, 30).residuals, -trained.residuals(y), rtol=0, atol=1e-12)


def test_no_switching_no_epsilon():
    lazy = follow(two_layer(64, 5, 1e6, 0, paired=True), X, y, H, ETA, 10)
    assert lazy.epsilon.abs().max() < 1e-8
    assert follow(two_layer(64, 5, 0.1, 0), X, y, H, ETA, 10).epsilon.abs().max() > 1e-4


def test_zetas_add_up_to_the_error():
    run = follow(two_layer(64, 5, 0.3, 1), X, y, H, ETA, 12)
    e, part = error(run, EIGEN, y, ETA)
    total, shrink = torch.zeros(8, dtype=torch.float64), torch.eye(8, dtype=torch.float64) - ETA * H
    for k in range(12):
        total = shrink @ total + run.zeta[k]  # eq. 27, one step at a time
        torch.testing.assert_close(part[k + 1], total, rtol=0, atol=1e-10)
    power = torch.linalg.matrix_power(shrink, 12)
    torch.testing.assert_close(e[12] - part[12], power @ (run.residuals[0] + y), rtol=0, atol=1e-10)


def test_the_bound_on_epsilon_holds():
    net = two_layer(128, 5, 0.3, 2)
    run = follow(net, X, y, H, ETA, 20)
    assert (run.epsilon.abs().sum(1) <= epsilon_bound(run, net, X, ETA)).all()


def test_envelope_in_words():
    found = envelope(0.5, 0.2, 4)
    assert torch.allclose(found, torch.tensor([0.5 * k * 0.975 ** (k - 1) for k in (1, 2, 3, 4)]).double())
