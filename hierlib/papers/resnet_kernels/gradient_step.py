"""What a gradient step of the residual network sees: Fact D.4 and Claims D.5 to D.7 of Allen-Zhu and Li 2019.

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
from hierlib.nets.residual import Residual, first_outputs, gates, outputs


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


class GradientNorms(NamedTuple):
    """Frobenius norms of the gradients of Obj in W and in V, and |y - out|, one per sample (n,)."""

    W: Tensor
    V: Tensor
    residual: Tensor


def gradient_norms(net: Residual, X: Tensor, Y: Tensor) -> GradientNorms:
    """The two sides of Claim D.5, for inputs (n, d) and labels (n, k). `train.one_pass` takes the same gradients, faster.

    Both gradients have rank one: grad_V = -p (out_1, 1)^T with p = D_{V,W} A^T (y - out), and grad_W = -q (x, 1)^T with
    q = D_W A^T (y - out + V'^T p), where V' is V without its bias column. So their norms are products of two norms.
    """
    first, second = gates(net, X)
    residual = Y - outputs(net, X)
    p = second * (residual @ net.A)
    q = first * ((residual + p @ net.V[:, :-1]) @ net.A)
    lifted = with_one(first_outputs(net, X))
    return GradientNorms(with_one(X).norm(dim=1) * q.norm(dim=1), lifted.norm(dim=1) * p.norm(dim=1), residual.norm(dim=1))


def second_block_gain(net: Residual, X: Tensor) -> Tensor:
    """The spectral norm of A D_{V,W} V at each input (n,): the second block adds at most this times |(out_1, 1)|."""
    through = torch.einsum("km,nm,ml->nkl", net.A, gates(net, X)[1].to(net.A.dtype), net.V)
    return torch.linalg.matrix_norm(through, ord=2)


def least_norm_weights(A: Tensor, open_gates: Tensor, lifted: Tensor, targets: Tensor, ridge: float) -> Tensor:
    """The matrix of least norm with A D_i W z_i = t_i for all i, up to a ridge: (m, l).

    A (k, m), gates D_i (n, m), inputs z_i (n, l) with their one, targets (n, k). It stands in for the W*, V* that
    Lemma D.2 constructs. Written as W = sum_i D_i A^T c_i z_i^T, the c_i solve nk equations.
    """
    n, k = targets.shape
    masked = open_gates.to(A.dtype)[:, None, :] * A
    flat = masked.reshape(n * k, -1)
    gram = (flat @ flat.mT).reshape(n, k, n, k) * (lifted @ lifted.mT)[:, None, :, None]
    system = gram.reshape(n * k, n * k)
    system.diagonal().add_(ridge)
    c = torch.linalg.solve(system, targets.reshape(-1)).reshape(n, k)
    return torch.einsum("nkm,nk,nl->ml", masked, c, lifted)


class ErrorTerms(NamedTuple):
    """The parts of Err in the order of the proof of Claim D.6, each (n, k). They add up to Err."""

    second_block_error: Tensor  # what the second block makes of the missing change of out_1
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


def first_block_bound(miss: Tensor, tau_v: float, base: float, composite: float) -> Tensor:
    """The right side of Claim D.7 with the constants of its proof, for |out - H| at each input (n,).

        |out_1 - F| <= 2 |out - H| + 4 tau_v (B_F + 1) + 2 alpha B_FoG      if tau_v <= 1/4,

    with base = B_F and composite = alpha B_FoG. The proof has |out_1 - F| <= |out - H| + c (|out_1 - F| + B_F + 1)
    + alpha B_FoG when the gain of the second block is at most c; c = 2 tau_v <= 1/2 is Lemma D.1(g) with a two for ||A||_2
    and for what V^(0) adds.
    """
    return 2 * miss + 4 * tau_v * (base + 1) + 2 * composite


def root_mean_square(rows: Tensor) -> float:
    """sqrt(E |row|^2) over the rows (n, k)."""
    return rows.square().sum(1).mean().sqrt().item()


def error_bound(parts: ErrorTerms, gain: float, lipschitz: float, first_miss: float) -> tuple[float, float]:
    """The proof of Claim D.6 in root mean squares: a bound on Err, and its remainder, which the paper makes small by width.

        Err <= (gain + alpha L_G) |out_1 - F| + remainder,
        remainder = (1 + gain) (base + first_start) + composite + second_start

    `gain` bounds the second block (2 tau_v in the page's constants), `lipschitz` is alpha L_G and `first_miss` a bound on
    the root mean square of out_1 - F (Claim D.7). It holds because the error of the second block is
    A D V (F - out_1 + base + first_start, 0).
    """
    base, composite, first_start, second_start = map(
        root_mean_square, (parts.base, parts.composite, parts.first_start, parts.second_start)
    )
    remainder = (1 + gain) * (base + first_start) + composite + second_start
    return (gain + lipschitz) * first_miss + remainder, remainder
