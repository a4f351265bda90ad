import numpy as np

from hierlib.data.cubes import hypercube
from hierlib.nets.fully_connected import deep, outputs, shallow


def test_two_layers_are_the_formula():
    net, X = shallow(7, 5, 3, seed=0), hypercube(4, 5, seed=0)
    A, W = (np.asarray(t) for t in net)
    for x, out in zip(X.numpy(), outputs(net, X), strict=True):
        assert np.allclose(out, A @ np.maximum(W @ np.append(x, 1), 0))


def test_three_layers_are_the_formula():
    net, X = deep(7, 5, 3, seed=0), hypercube(4, 5, seed=0)
    A, W, V = (np.asarray(t) for t in net)
    for x, out in zip(X.numpy(), outputs(net, X), strict=True):
        hidden = np.maximum(W @ np.append(x, 1), 0)
        assert np.allclose(out, A @ np.maximum(V @ np.append(hidden, 1), 0))


def test_both_start_from_the_same_first_layer_and_with_outputs_of_order_one():
    two, three, X = shallow(1000, 30, 8, seed=3), deep(1000, 30, 8, seed=3), hypercube(200, 30, seed=0)
    assert two.W.equal(three.W) and two.A.equal(three.A)
    for out in (outputs(two, X), outputs(three, X)):
        assert 0.05 < out.square().mean() < 2
