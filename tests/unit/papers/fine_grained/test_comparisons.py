import numpy as np

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.nets.two_layer import outputs, two_layer
from hierlib.papers.fine_grained.comparisons import losses
from hierlib.papers.fine_grained.figure1 import largest_miss, three_labels

N = 20
OF = three_labels(unit_sphere(N, 6, seed=0), random_signs(N, seed=5), seed=0)


def test_every_label_vector_is_trained_from_the_same_start():
    plain = losses(OF, steps=3, m=50, kappa=0.5, seed=7)
    u = outputs(two_layer(50, 6, 0.5, seed=7), OF.X)
    for name, y in OF.labels.items():
        assert plain[name].shape == (4,)
        assert np.isclose(plain[name][0], (y - u).square().mean() / 2, rtol=1e-5)


def test_one_step_of_it_is_a_step_of_autograd():
    net = two_layer(50, 6, 0.5, seed=7)
    y = OF.labels["worst"]
    W = net.W.clone().requires_grad_()
    (((y - outputs(net._replace(W=W), OF.X)) ** 2).sum() / 2).backward()
    after = outputs(net._replace(W=net.W - OF.eta * W.grad), OF.X)
    measured = losses(OF, steps=1, m=50, kappa=0.5, seed=7)["worst"][1]
    assert np.isclose(measured, (y - after).square().mean() / 2, rtol=1e-5)


def test_paired_networks_start_at_one_half_per_sample_and_follow_the_prediction():
    curves = losses(OF, steps=30, m=20_000, kappa=10.0, seed=0, paired=True)
    assert all(np.isclose(curve[0], 0.5, atol=1e-4) for curve in curves.values())
    assert largest_miss(OF, curves, until=30) < 0.03
