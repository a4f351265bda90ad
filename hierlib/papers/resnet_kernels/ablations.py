"""The residual network with one of its parts taken away, written as a wider residual network of the same kind.

A neuron with zero weights is off and stays off under training (its gate is closed), so blocks that use different
neurons, and hence different columns of A, are one network of twice the width:

    A = [A_1, A_2, ...],   W = [W; 0; ...],   V = [0; V; ...].

All variants have the same shape and can be trained side by side by `hierlib.train.one_pass`.
"""

import torch
from torch import Tensor

from hierlib.nets.residual import Residual
from hierlib.streams import normals

FAINT = 1e-3  # output weight of the neurons that cancel the skip; training moves their effect by its square only


def padded(net: Residual) -> Residual:
    """The network itself with m + 2k silent neurons added: the same function, the same gradients."""
    k, m = net.A.shape
    return Residual(_columns(net.A, m + 2 * k), _rows(net.W, 0, m + 2 * k), _rows(net.V, 0, m + 2 * k))


def own_output_weights(net: Residual, seed: int) -> Residual:
    """The second block gets output weights of its own, drawn like A: out = out_1 + A_2 relu(V (out_1, 1))."""
    k, m = net.A.shape
    second = normals((k, m), seed, "own output weights", scale=m**-0.5)
    A = _columns(torch.cat([net.A, second], 1), 2 * k)
    return Residual(A, _rows(net.W, 0, m + 2 * k), _rows(net.V, m, 2 * k))


def without_skip(net: Residual) -> Residual:
    """out = A relu(V (out_1, 1)): two neurons per output subtract out_1 again, as relu(z) - relu(-z) = z.

    They stand at output weight -+FAINT and input weight +-1/FAINT.
    """
    k, m = net.A.shape
    silent = padded(net)
    A, V = silent.A.clone(), silent.V.clone()
    for sign, first in ((1, 2 * m), (-1, 2 * m + k)):
        A[:, first : first + k] = -sign * FAINT * torch.eye(k)
        V[first : first + k, :k] = sign * torch.eye(k) / FAINT
    return Residual(A, silent.W, V)


def _columns(A: Tensor, more: int) -> Tensor:
    return torch.cat([A, A.new_zeros(len(A), more)], 1)


def _rows(weights: Tensor, above: int, below: int) -> Tensor:
    """Zero rows above and below."""
    zeros = weights.new_zeros
    return torch.cat([zeros(above, weights.shape[1]), weights, zeros(below, weights.shape[1])])
