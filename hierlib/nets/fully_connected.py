"""Two- and three-layer ReLU networks with biases and k outputs, the rivals of the residual network.

    two layers    A relu(W (x, 1))
    three layers  A relu(V (relu(W (x, 1)), 1))                        (Allen-Zhu and Li 2019, appendix A)

Every function takes weights with leading axes (one network per entry) and inputs with the same or no leading axes.
"""

from typing import NamedTuple

from torch import Tensor

from hierlib.nets.affine import relu_layer
from hierlib.nets.residual import residual
from hierlib.streams import normals


class Shallow(NamedTuple):
    """A (..., k, m) and W (..., m, d + 1)."""

    A: Tensor
    W: Tensor


class Deep(NamedTuple):
    """A (..., k, m), W (..., m, d + 1) and V (..., m, m + 1)."""

    A: Tensor
    W: Tensor
    V: Tensor


def shallow(m: int, d: int, k: int, seed: int) -> Shallow:
    """A two-layer network in float64, started as in the paper's experiments: W ~ N(0, 1/d), A and bias ~ N(0, 1/m)."""
    return Shallow(*residual(m, d, k, seed)[:2])  # its first block


def deep(m: int, d: int, k: int, seed: int) -> Deep:
    """A three-layer network in float64: as `shallow`, with V ~ N(0, 1/m) in the middle."""
    return Deep(*shallow(m, d, k, seed), normals((m, m + 1), seed, "second block", scale=m**-0.5))


def features(net: Shallow | Deep, X: Tensor) -> Tensor:
    """The last hidden layer, what A is applied to: X (..., n, d) -> (..., n, m)."""
    hidden = relu_layer(net.W, X)
    return relu_layer(net.V, hidden) if isinstance(net, Deep) else hidden


def outputs(net: Shallow | Deep, X: Tensor) -> Tensor:
    """X (..., n, d) -> (..., n, k)."""
    return features(net, X) @ net.A.mT
