import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import finite_gram, relu_gram
from hierlib.kernels.spectrum import inverse_norm, spectrum
from hierlib.nets.two_layer import TwoLayer, flipped, two_layer
from hierlib.papers.fine_grained.laziness import laziness, linear_movement
from hierlib.train.full_batch import gradient_descent

X, y = unit_sphere(20, 6, seed=0), random_signs(20, seed=0)
H = relu_gram(X)
EIGEN = spectrum(H)


def test_laziness_is_the_initial_scale_over_the_path():
    assert laziness(EIGEN, y, 400, 0.5) == pytest.approx(0.5 * 20 / inverse_norm(H, y).item(), rel=1e-10)


def test_only_the_ratio_of_weights_to_labels_counts():
    assert laziness(EIGEN, 3 * y, 400, 1.5) == pytest.approx(laziness(EIGEN, y, 400, 0.5))


def test_the_movement_is_that_of_descent_with_frozen_patterns():
    net = two_layer(50, 6, 1.0, seed=1)
    own = spectrum(finite_gram(net.W, X))  # with its own H(0) the linear recursion is exact as long as nothing flips
    heavy = TwoLayer(1e6 * net.W, net.a)
    start = torch.relu(X @ heavy.W.T) @ heavy.a / 50**0.5
    run = gradient_descent(heavy, X, y + start, 0.1, 30, "weights", torch.float64)
    assert flipped(heavy, run.net, X) == 0
    assert torch.allclose(run.net.W - heavy.W, linear_movement(net, X, own, y, 0.1, 30), atol=1e-8)


def test_no_step_no_movement():
    assert linear_movement(two_layer(10, 6, 1.0, seed=0), X, EIGEN, y, 0.1, 0).abs().max() == 0
