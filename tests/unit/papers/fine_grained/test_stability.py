import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram
from hierlib.nets.two_layer import active, two_layer
from hierlib.papers.fine_grained.stability import descend_watched
from hierlib.train.full_batch import gradient_descent

N, M = 12, 4000
X = unit_sphere(N, 4, seed=0).abs()  # inputs in one orthant: one eigenvalue far above the others
Y = random_signs(N, seed=1)
TOP = torch.linalg.eigvalsh(relu_gram(X))[-1].item()
MARKS = [0, 3, 4, 10]


def test_in_full_dimension_it_is_plain_descent_in_rotated_coordinates():
    seen = descend_watched(X, Y, 0.5 / TOP, MARKS, M, kappa=0.1, seed=0)
    basis, R = torch.linalg.qr(X.T)
    net = two_layer(M, 4, 0.1, seed=0)
    turned = net._replace(W=net.W @ basis.T)  # the same draw, seen in the coordinates of X
    assert torch.allclose(X @ turned.W.T, R.T @ net.W.T)
    run = gradient_descent(turned, X, Y, 0.5 / TOP, steps=10)
    assert seen.loss.shape == (11,)
    assert torch.allclose(seen.loss, run.loss(Y) / N, rtol=1e-4)
    assert np.isclose(seen.active[0], active(turned, X).double().mean())
    assert np.isclose(seen.active[-1], active(run.net, X).double().mean(), atol=1e-3)


def test_a_wide_network_starts_with_half_of_its_units_active_and_with_the_limit_of_its_gram_matrix():
    seen = descend_watched(X, Y, 0.5 / TOP, MARKS, 20_000, kappa=1.0, seed=0)
    assert len(seen.active) == len(seen.sharpness) == len(MARKS)
    assert np.isclose(seen.active[0], 0.5, atol=0.02)
    assert np.isclose(seen.sharpness[0], 0.5, rtol=0.03)


def test_inputs_in_more_dimensions_than_there_are_inputs_are_reduced_without_changing_their_products():
    wide = unit_sphere(5, 300, seed=0)
    seen = descend_watched(wide, random_signs(5, seed=0), 0.1, [0, 1], 50_000, kappa=1.0, seed=0)
    assert np.isclose(seen.sharpness[0], 0.1 * torch.linalg.eigvalsh(relu_gram(wide))[-1], rtol=0.03)


@pytest.mark.parametrize("kappa", [0.1, 1.0])
def test_within_the_limit_the_loss_falls_and_beyond_it_the_loss_jumps_until_the_network_is_stable_again(kappa):
    stable = descend_watched(X, Y, 1.0 / TOP, [0, 60], M, kappa, seed=0)
    assert (stable.loss.diff() < 0).all()
    beyond = descend_watched(X, Y, 4.0 / TOP, [0, 60], M, kappa, seed=0)
    assert beyond.loss.max() > 2 * beyond.loss[0]
    assert beyond.sharpness[0] > 3.5 and beyond.sharpness[-1] < 2.1
    assert beyond.active[-1] < beyond.active[0] - 0.1
