"""The three-layer residual network whose second block sees the k outputs of the first.

    out_1(x) = A relu(W (x, 1)),   out(x) = out_1(x) + A relu(V (out_1(x), 1))     (Allen-Zhu and Li 2019, section 6)

The same A stands twice and is never trained. W and V are the whole weights, W^(0) + W in the notation of the paper.
Every function takes weights with leading axes (one network per entry) and inputs with the same or no leading axes.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import relu_layer, with_one
from hierlib.streams import normals


class Residual(NamedTuple):
    """A (..., k, m), W (..., m, d + 1) and V (..., m, k + 1); the last column of W and V is the bias."""

    A: Tensor
    W: Tensor
    V: Tensor


def residual(m: int, d: int, k: int, seed: int, sigma_w: float | None = None, sigma_v: float | None = None) -> Residual:
    """Draw a network in float64: A ~ N(0, 1/m), W ~ N(0, sigma_w^2), V ~ N(0, sigma_v^2 / m); N(mean, variance).

    Section 6.1 of the paper has sigma_w = m^(-1/8) and sigma_v = 1/tau_v^2. Without them, the start of its experiments
    (appendix A): W ~ N(0, 1/d) except for its bias, which like V and A is N(0, 1/m).
    """
    if (sigma_w is None) != (sigma_v is None):
        raise ValueError("give both sigma_w and sigma_v, or neither for the start of the paper's experiments")
    A = normals((k, m), seed, "output weights", scale=m**-0.5)
    if sigma_w is None or sigma_v is None:
        columns = normals((m, d), seed, "first block", scale=d**-0.5)
        bias = normals((m, 1), seed, "first bias", scale=m**-0.5)
        return Residual(A, torch.cat([columns, bias], 1), normals((m, k + 1), seed, "second block", scale=m**-0.5))
    W = normals((m, d + 1), seed, "first block", scale=sigma_w)
    return Residual(A, W, normals((m, k + 1), seed, "second block", scale=sigma_v * m**-0.5))


def first_outputs(net: Residual, X: Tensor) -> Tensor:
    """out_1(x) for the rows of X (..., n, d) -> (..., n, k)."""
    return relu_layer(net.W, X) @ net.A.mT


def second_outputs(net: Residual, out1: Tensor) -> Tensor:
    """A relu(V (out_1, 1)), what the second block adds to out_1 (..., n, k) -> (..., n, k)."""
    return relu_layer(net.V, out1) @ net.A.mT


def outputs(net: Residual, X: Tensor) -> Tensor:
    """out(x) for the rows of X (..., n, d) -> (..., n, k)."""
    out1 = first_outputs(net, X)
    return out1 + second_outputs(net, out1)


def features(net: Residual, X: Tensor) -> Tensor:
    """relu(W (x, 1)) + relu(V (out_1, 1)), what A is applied to: out(x) = A features(x). X (..., n, d) -> (..., n, m)."""
    first = relu_layer(net.W, X)
    return first + relu_layer(net.V, first @ net.A.mT)


def gates(net: Residual, X: Tensor) -> tuple[Tensor, Tensor]:
    """D_W and D_{V,W}: which neurons of either block are on, 1{pre-activation >= 0}, both (..., n, m) and bool."""
    return with_one(X) @ net.W.mT >= 0, with_one(first_outputs(net, X)) @ net.V.mT >= 0
