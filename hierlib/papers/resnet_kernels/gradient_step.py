"""What a gradient step of the residual network sees: Fact D.4 and Claims D.5 and D.6 of Allen-Zhu and Li 2019.

With the gates D_W, D_{V,W} of the weights where we stand (W, V are whole weights here, W^(0) + W in the paper),

    f(W'; x) = A D_{V,W} V (A D_W W'(x, 1), 0) + A D_W W'(x, 1),     g(V'; x) = A D_{V,W} V'(out_1, 1),

and the derivative of Obj = 1/2 |y - out|^2 along (-W', -V') is <y - out, f(W') + g(V')>. Seen from there, weights W*, V*
that represent F and alpha G at the gates of the start lie in the direction H - out, up to an error Err (Claim D.6).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import relu_layer_tangent, with_one
from hierlib.nets.residual import Residual, first_outputs, gates


def first_block_tangent(net: Residual, X: Tensor, direction: Tensor) -> Tensor:
    """A D_W W'(x, 1), how out_1 moves with W: direction (m, d + 1), inputs (n, d) -> (n, k)."""
    return relu_layer_tangent(net.W, X, direction)[1] @ net.A.mT


def tangent_f(net: Residual, X: Tensor, direction: Tensor) -> Tensor:
    """f(W'; x) of Fact D.4, how out moves with W: direction (m, d + 1), inputs (n, d) -> (n, k)."""
    moved = first_block_tangent(net, X, direction)
    return moved + through_second_block(net, X, moved)


def tangent_g(net: Residual, X: Tensor, direction: Tensor) -> Tensor:
    """g(V'; x) of Fact D.4, how out moves with V: direction (m, k + 1), inputs (n, d) -> (n, k)."""
    return relu_layer_tangent(net.V, first_outputs(net, X), direction)[1] @ net.A.mT


def through_second_block(net: Residual, X: Tensor, moved: Tensor) -> Tensor:
    """A D_{V,W} V (z, 0), what the second block makes of a change z of out_1 at each input: (n, k) -> (n, k)."""
    return relu_layer_tangent(net.V, first_outputs(net, X), torch.zeros_like(net.V), moved)[1] @ net.A.mT


class LongestGradients(NamedTuple):
    """The largest |grad_W Obj|_F and |grad_V Obj|_F over all labels y, in units of |y - out|."""

    W: float
    V: float


def longest_gradients(net: Residual, x: Tensor) -> LongestGradients:
    """The two sides of Claim D.5 at one input x (d,), at the worst label: both gradients are linear in y - out.

    grad_W = -(r'(A D_{V,W} V (A D_W, 0) + A D_W))' (x, 1)' and grad_V = -(r' A D_{V,W})' (out_1, 1)' with r = y - out, so
    the largest over r are spectral norms, times |(x, 1)| and |(out_1, 1)|.
    """
    first, second = (gate[0] for gate in gates(net, x[None]))
    through = net.A @ (second[:, None] * net.V[:, :-1])
    in_W = (through + torch.eye(len(net.A), dtype=net.A.dtype)) @ (net.A * first)
    lifted = with_one(first_outputs(net, x[None]))
    return LongestGradients(
        with_one(x[None]).norm().item() * _spectral(in_W), lifted.norm().item() * _spectral(net.A * second)
    )


def _spectral(wide: Tensor) -> float:
    """The spectral norm of a matrix with few rows and many columns."""
    return float(torch.linalg.matrix_norm(wide @ wide.mT, 2).sqrt())


class ErrorTerms(NamedTuple):
    """The parts of Err in the order of the proof of Claim D.6, each (n, k). They add up to Err."""

    second_block_error: Tensor  # what the second block makes of the missing change of out_1 (the club term of the proof)
    base: Tensor  # error of W* at the gates of now, in representing F
    composite: Tensor  # error of V* at the gates of now, in representing alpha G(out_1)
    shifted: Tensor  # alpha (G(out_1) - G(F))
    first_start: Tensor  # what W^(0) contributes to out at the gates of now
    second_start: Tensor  # what V^(0) contributes


def error_terms(
    net: Residual,
    start: Residual,
    X: Tensor,
    W_star: Tensor,
    V_star: Tensor,
    F: Tensor,
    alpha_G: Callable[[Tensor], Tensor],
) -> ErrorTerms:
    """Split Err = f(W* - W) + g(V* - V) - (H - out), with increments W, V from `start` and H = F + alpha G(F).

    Inputs (n, d), F (n, k) at the inputs, and alpha_G as a function of rows (n, k) -> (n, k).
    """
    missing = first_block_tangent(net, X, W_star - (net.W - start.W))
    at_out1 = alpha_G(first_outputs(net, X))
    return ErrorTerms(
        through_second_block(net, X, missing),
        first_block_tangent(net, X, W_star) - F,
        tangent_g(net, X, V_star) - at_out1,
        at_out1 - alpha_G(F),
        first_block_tangent(net, X, start.W),
        tangent_g(net, X, start.V),
    )


def root_mean_square(rows: Tensor) -> float:
    """sqrt(E |row|^2) over the rows (n, k)."""
    return rows.square().sum(1).mean().sqrt().item()
