"""Tangent kernels of finite networks against autograd, and their deviations against many random networks."""

import pytest
import torch

from hierlib.data.cubes import all_corners, hypercube
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import both_active, finite_gram, finite_gram_deviation, tangent_deviation
from hierlib.kernels.hamming import tangent
from hierlib.kernels.relu import relu_gram
from hierlib.nets import fully_connected
from hierlib.nets.affine import with_one
from hierlib.nets.fully_connected import Shallow, shallow
from hierlib.nets.two_layer import TwoLayer, outputs, two_layer
from hierlib.streams import normals

D = 5
CORNERS = all_corners(D)


def test_neurons_that_are_active_on_both_inputs_are_counted_or_weighed():
    on = torch.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert both_active(on).tolist() == [[2, 1], [1, 2]]
    assert both_active(on, torch.tensor([5.0, 7.0, 11.0])).tolist() == [[16, 5], [5, 12]]


def test_equal_output_weights_need_not_be_given():
    W, X = normals((8, 3), 0, "W"), unit_sphere(6, 3, seed=0)
    assert torch.allclose(finite_gram(W, X), finite_gram(W, X, torch.full((8,), 1 / 8).double()), atol=1e-16)


def test_a_network_of_many_neurons_has_nearly_the_infinite_gram_matrix():
    m, X = 20_000, unit_sphere(12, 4, seed=0)
    H, K = relu_gram(X), X @ X.T
    both_active = H / K
    deviation = K.abs() * (both_active * (1 - both_active) / m).sqrt()
    assert ((finite_gram(two_layer(m, 4, 1.0, seed=0).W, X) - H).abs() < 5 * deviation).all()


def test_the_finite_gram_matrix_is_that_of_the_gradients_of_the_network():
    net, X = two_layer(7, 3, 1.0, seed=0), unit_sphere(5, 3, seed=0)
    gradients = torch.autograd.functional.jacobian(lambda W: outputs(TwoLayer(W, net.a), X), net.W).reshape(5, -1)
    assert torch.allclose(finite_gram(net.W, X), gradients @ gradients.T, rtol=1e-13)


def test_a_neuron_that_sits_exactly_at_zero_counts_as_active():
    X = unit_sphere(4, 3, seed=0)
    assert torch.allclose(finite_gram(torch.zeros(2, 3).double(), X), X @ X.T)


def test_the_deviation_is_that_of_many_random_networks():
    X, m, networks = unit_sphere(12, 4, seed=0), 20, 4000
    H = relu_gram(X)
    squares = torch.stack([(finite_gram(two_layer(m, 4, 1.0, seed=s).W, X) - H).square().sum() for s in range(networks)])
    error = squares.std() / networks**0.5
    assert abs(squares.mean() - finite_gram_deviation(X, m) ** 2) < 4 * error
    assert error < 0.01 * squares.mean()  # so that a wrong factor would show


def test_the_deviation_at_known_angles():
    # Equal inputs: all entries are the share of active neurons, with variance 1/4m. At right angles H(0) has no noise.
    assert finite_gram_deviation(torch.tensor([[1.0, 0.0]] * 5).double(), m=100) == pytest.approx(5 / 20, rel=1e-14)
    assert finite_gram_deviation(torch.eye(4).double(), m=100) == pytest.approx((4 / 400) ** 0.5, rel=1e-14)
    # At 120 degrees both are active with probability 1/6, so an entry has variance (1/4)(5/36)/m.
    apart = torch.tensor([[1.0, 0.0], [-0.5, 3**0.5 / 2]]).double()
    assert finite_gram_deviation(apart, m=1) ** 2 == pytest.approx(2 / 4 + 2 / 4 * 5 / 36, rel=1e-14)


def test_the_deviation_never_exceeds_that_of_equal_inputs():
    assert all(finite_gram_deviation(unit_sphere(30, d, seed=d), m=7) <= 30 / (4 * 7) ** 0.5 for d in range(1, 20))


def test_the_finite_tangent_kernel_is_that_of_autograd():
    net, X = shallow(20, D, 1, 0), hypercube(6, D, 0)
    W = net.W.clone().requires_grad_()
    rows = [
        torch.autograd.grad(v, W, retain_graph=True)[0].flatten()
        for v in fully_connected.outputs(Shallow(net.A, W), X)[:, 0]
    ]
    J = torch.stack(rows)
    assert torch.allclose(finite_gram(net.W, with_one(X), net.A[0] ** 2), J @ J.T, atol=1e-14)


def test_the_deviation_of_finite_tangent_kernels_is_predicted():
    m, nets, limit = 50, 200, tangent(CORNERS, CORNERS, 2)
    squares = []
    for number in range(nets):
        W = normals((m, D + 1), number, "hidden", scale=D**-0.5)
        a = normals((1, m), number, "output", scale=m**-0.5)
        squares.append((finite_gram(W, with_one(CORNERS), a[0] ** 2) - limit).square().sum() / limit.square().sum())
    sample = torch.stack(squares)
    assert abs(sample.mean() - tangent_deviation(CORNERS, m) ** 2) < 4 * sample.std() / nets**0.5
