"""Gradient descent watched for stability: the loss, the active units and eta lambda_max on the way.

A fixed Gram matrix H makes descent stable for eta lambda_max(H) < 2 and divergent beyond. A network beyond the limit may
save itself: its units switch off, and H(k) shrinks until the same step is stable.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.empirical import finite_gram
from hierlib.nets.two_layer import active, two_layer
from hierlib.train.full_batch import gradient_descent


class Watched(NamedTuple):
    """Loss per sample at every step; at the marks the share of active pairs (unit, input) and eta lambda_max(H(k))."""

    loss: Tensor
    active: Tensor
    sharpness: Tensor


def descend_watched(
    X: Tensor, y: Tensor, eta: float, marks: Sequence[int], m: int, kappa: float, seed: int, device: str = "cpu"
) -> Watched:
    """Train a plain network of m units up to the last of the marks, increasing steps that begin with 0."""
    # In an orthonormal basis of the span of the inputs nothing changes but the cost: inner products stay, and the
    # projection of Gaussian weights is Gaussian. For n < d that leaves n coordinates.
    X = torch.linalg.qr(X.T).R.T
    net = two_layer(m, X.shape[1], kappa, seed)
    losses: list[Tensor] = []
    states = [net]
    for begin, end in pairwise(marks):
        run = gradient_descent(net, X, y, eta, end - begin, device=device)
        losses.append(run.loss(y)[bool(losses) :] / len(y))  # the first loss of a segment ended the one before
        net = run.net
        states.append(net)
    shares = torch.stack([active(state, X).double().mean() for state in states])
    sharpness = torch.stack([eta * torch.linalg.eigvalsh(finite_gram(state.W, X))[-1] for state in states])
    return Watched(torch.cat(losses), shares, sharpness)
