"""Two- and three-layer ReLU networks with biases and k outputs, the rivals of the residual network.

    two layers    A relu(W (x, 1))
    three layers  A relu(V (relu(W (x, 1)), 1))                        (Allen-Zhu and Li 2019, appendix A)

Every function takes weights with leading axes (one network per entry) and inputs with the same or no leading axes.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.residual import gaussian, residual, with_one


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
    return Deep(*shallow(m, d, k, seed), gaussian((m, m + 1), m**-0.5, seed, "second block"))


def shallow_features(net: Shallow | Deep, X: Tensor) -> Tensor:
    """relu(W (x, 1)): X (..., n, d) -> (..., n, m)."""
    return torch.relu(with_one(X) @ net.W.mT)


def shallow_outputs(net: Shallow, X: Tensor) -> Tensor:
    """X (..., n, d) -> (..., n, k)."""
    return shallow_features(net, X) @ net.A.mT


def deep_features(net: Deep, X: Tensor) -> Tensor:
    """relu(V (relu(W (x, 1)), 1)): X (..., n, d) -> (..., n, m)."""
    return torch.relu(with_one(shallow_features(net, X)) @ net.V.mT)


def deep_outputs(net: Deep, X: Tensor) -> Tensor:
    """X (..., n, d) -> (..., n, k)."""
    return deep_features(net, X) @ net.A.mT
