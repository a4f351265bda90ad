import math

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import rbf_kernel

from hierlib.data.cubes import hypercube
from hierlib.kernels import hamming
from hierlib.kernels.hamming import (
    arcsine,
    by_distance,
    conjugate,
    convolutional,
    gaussian_kernel,
    tangent,
    weighted_gaussian,
)
from hierlib.nets.affine import with_one
from hierlib.nets.fully_connected import Deep, Shallow, deep, features
from hierlib.streams import stream

X, Z = hypercube(9, 7, 0, "x"), hypercube(5, 7, 0, "z")
EVERY = [
    lambda X, Z: gaussian_kernel(X, Z, 10.0),
    lambda X, Z: weighted_gaussian(X, Z, torch.linspace(0, 1, X.shape[1], dtype=torch.float64)),
    arcsine,
    lambda X, Z: convolutional(X, Z, 3, pooled=False),
    *(lambda X, Z, n=n, k=k: k(X, Z, n) for n in (2, 3) for k in (conjugate, tangent)),
]


def test_gaussians_agree_with_scikit_learn():
    assert np.allclose(gaussian_kernel(X, Z, 3.0), rbf_kernel(X, Z, gamma=1 / 3), atol=1e-15)
    weights = torch.rand(7, generator=stream(0, "weights"), dtype=torch.float64)
    assert np.allclose(weighted_gaussian(X, Z, weights), rbf_kernel(X * weights.sqrt(), Z * weights.sqrt(), gamma=1.0))


def test_arcsine_is_the_angle_to_the_orthogonal():
    cosine = (X @ Z.T / 7).numpy()
    assert np.allclose(arcsine(X, Z), np.pi / 2 - np.arccos(cosine), atol=1e-15)


def wide(m: int, number: int) -> Deep:
    """A wide three-layer network whose first bias has the variance 1/d of the kernels; it was drawn with 1/m."""
    net = deep(m, 7, 1, number)
    net.W[:, -1] *= math.sqrt(m / 7)
    return net


@pytest.mark.slow
def test_conjugate_kernels_are_the_averages_of_wide_random_layers():
    m, nets = 1500, 12
    two, three = [], []
    for number in range(nets):
        net = wide(m, number)
        for found, layers in ((two, Shallow(net.A, net.W)), (three, net)):
            found.append(features(layers, X) @ features(layers, Z).T / m)
    for layers, found in ((2, two), (3, three)):
        sample = torch.stack(found)
        spread = sample.std(0) / math.sqrt(nets)
        finite_width = 3 / m  # the second layer is biased by O(1/m)
        assert ((sample.mean(0) - conjugate(X, Z, layers)).abs() < 5 * spread + finite_width).all()


@pytest.mark.slow
def test_the_tangent_kernel_of_two_layers_is_the_average_of_gradients():
    m, nets = 1500, 12
    found = []
    for number in range(nets):
        net = wide(m, number)
        gates = [(with_one(points) @ net.W.T >= 0).double() * net.A for points in (X, Z)]
        found.append((with_one(X) @ with_one(Z).T) * (gates[0] @ gates[1].T))
    sample = torch.stack(found)
    assert ((sample.mean(0) - tangent(X, Z, 2)).abs() < 5 * sample.std(0) / math.sqrt(nets) + 1e-9).all()


def test_the_tangent_kernel_of_three_layers_is_that_of_all_hidden_weights_by_autograd_over_m():
    m, nets, points = 400, 20, hypercube(3, 7, 0, "few")
    found = []
    for number in range(nets):
        net = wide(m, number)
        W, V = net.W.clone().requires_grad_(), net.V.clone().requires_grad_()
        rows = []
        for value in features(Deep(net.A, W, V), points) @ net.A[0]:
            rows.append(torch.cat([g.flatten() for g in torch.autograd.grad(value, (W, V), retain_graph=True)]))
        J = torch.stack(rows)
        found.append(J @ J.T / m)
    sample = torch.stack(found)
    first_matrix = 8 / m  # at most (d + 1)/m, the part that vanishes with the width
    assert ((sample.mean(0) - tangent(points, points, 3)).abs() < 5 * sample.std(0) / math.sqrt(nets) + first_matrix).all()


@pytest.mark.parametrize("kernel", EVERY)
def test_kernels_are_symmetric_positive_and_exact_on_the_diagonal(kernel):
    K = kernel(X, X)
    assert torch.allclose(K, K.T, rtol=0, atol=1e-14) and K.dtype == torch.float64
    assert (K.diagonal() == K[0, 0]).all()
    assert torch.linalg.eigvalsh(K).min() > -1e-12
    assert kernel(X, Z).shape == (9, 5)


def test_diagonals_are_the_known_numbers():
    expected = {2: ((8 / 7) / 2, 8 / 2), 3: ((8 / 7) / 4, (8 / 7) / 4)}
    for layers, (last, hidden) in expected.items():
        assert conjugate(X, X, layers)[0, 0].item() == pytest.approx(last, abs=1e-15)
        assert tangent(X, X, layers)[0, 0].item() == pytest.approx(hidden, abs=1e-14)


@pytest.mark.parametrize("kernel", EVERY)
def test_kernels_depend_on_products_of_coordinates_alone(kernel):
    signs = hypercube(1, 7, 3, "signs")
    assert torch.allclose(kernel(X * signs, Z * signs), kernel(X, Z), atol=1e-14)


def test_the_block_size_does_not_matter(monkeypatch):
    whole = gaussian_kernel(X, Z, 5.0)
    monkeypatch.setattr(hamming, "ROWS", 2)
    assert torch.equal(gaussian_kernel(X, Z, 5.0), whole)


def test_other_points_than_corners_and_other_depths_are_refused():
    with pytest.raises(ValueError, match="-1 or"):
        by_distance(X, Z / 7**0.5, torch.ones(8))
    for kernel in (conjugate, tangent):
        with pytest.raises(ValueError, match="2 or 3 layers"):
            kernel(X, Z, 4)


@pytest.mark.parametrize("pooled", [True, False])
def test_convolutional_kernels_are_averages_over_random_filters(pooled):
    filters = torch.randn(40_000, 3, generator=stream(0, "filters"), dtype=torch.float64) / 3**0.5
    layers = []
    for points in (X[:3], Z[:2]):
        windows = torch.stack([points[:, [i, (i + 1) % 7, (i + 2) % 7]] for i in range(7)], 1)
        hidden = (windows @ filters.T).relu()  # (n, position, filter)
        layers.append(hidden.mean(1, keepdim=True) if pooled else hidden / 7**0.5)
    each = torch.einsum("nif,pif->npf", *layers)
    gap = (each.mean(2) - convolutional(X[:3], Z[:2], 3, pooled)).abs()
    assert (gap < 5 * each.std(2) / 200).all()


def test_pooling_makes_a_convolutional_kernel_depend_on_more_than_products():
    signs = hypercube(1, 7, 3, "signs")
    change = convolutional(X * signs, Z * signs, 3, pooled=True) - convolutional(X, Z, 3, pooled=True)
    assert change.abs().max() > 0.01
