"""How far an Elman network is from its linearisation at the start (Wang et al. 2021, Theorem 13): movements of low rank.

    W' = W + U V',     remainder = f(W') - f(W) - <grad f(W), U V'>

The worst movement of one step is found exactly. If U V' moves the pre-activation g of the last step by p and nothing else,
the remainder is sum_j B_j (|p_j| - |g_j|)+ over the entries that change sign, and the best p of a length is a knapsack.
For wide networks it is CONSTANT tau^(4/3) m^(-1/6), tau = sqrt(m) |p| (ours); the paper has the two exponents as a bound.

The theorem is about two points W, W' of a ball. From a W on its boundary, at which many pre-activations are zero, a short
step has a remainder of BOUNDARY omega^(1/3) sqrt(m) |W' - W|, twice as much in these units as from the centre (ours).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.recurrent import Recurrent, backward, states
from hierlib.theory.sign_flips import best_flips, shift

# From the density sqrt(m / pi) of |g_j| at zero, g_j ~ N(0, 2 / m), and E[B^3; B > 0] = sqrt(2 / pi).
CONSTANT = 3 / 32 * 16 ** (2 / 3) * (math.sqrt(2) / math.pi) ** (1 / 3)
# From the same two: the units within reach have |g_j| <= c B_j, cost sum g_j^2 = omega^2, and are worth sqrt(sum B_j^2).
BOUNDARY = 3 ** (1 / 6) * (math.sqrt(2) / math.pi) ** (1 / 3)


class Movement(NamedTuple):
    """W' - W = U V', both (m, r)."""

    U: Tensor
    V: Tensor


class Moved(NamedTuple):
    """What a movement does: the remainder, the gates that change at each step (L,), and the first-order change of f."""

    remainder: float
    flips: Tensor
    first_order: float


def moved(net: Recurrent, x: Tensor, move: Movement) -> Moved:
    """The effect of a movement on the output for one sequence x (L, d)."""
    found = states(net, x[None])
    hidden, gates = found.hidden[:, 0], found.gates[:, 0]
    signals = backward(net, found.gates)[:, 0]
    first_order = ((signals @ move.U) * (hidden[:-1] @ move.V)).sum().item()
    h, flips = net.M.relu(), []
    for token, gate in zip(x, gates, strict=True):
        h = (net.W @ h + move.U @ (move.V.T @ h) + net.A @ token).relu()
        flips.append(((h > 0).to(gate) - gate).abs().sum())
    change = (net.B @ (h - hidden[-1])).item()
    return Moved(change - first_order, torch.stack(flips), first_order)


def along_gradient(net: Recurrent, x: Tensor, length: float) -> Movement:
    """A movement of this Frobenius norm along grad f for one sequence x (L, d)."""
    found = states(net, x[None])
    U, V = backward(net, found.gates)[:, 0].T, found.hidden[:-1, 0].T
    size = ((U.T @ U) * (V.T @ V)).sum().sqrt()
    return Movement(U * (length / size), V)


def operator_norm(move: Movement) -> float:
    """The largest singular value of U V', from the triangular factors of U and V."""
    R, S = (torch.linalg.qr(factor, mode="r").R for factor in move)
    return torch.linalg.matrix_norm(R @ S.T, 2).item()


class LastStep(NamedTuple):
    """The last pre-activation g (m,), and v (m,) with <v, h_(L-1)> = 1 that is orthogonal to all earlier states."""

    g: Tensor
    v: Tensor


def last_step(net: Recurrent, x: Tensor) -> LastStep:
    """What a movement p v' of rank one, which changes the last step and no other, has to do with, for x (L, d)."""
    hidden = states(net, x[None]).hidden[:, 0]
    h, earlier = hidden[-2], hidden[:-2].T
    alone = h
    if earlier.shape[1]:
        basis = torch.linalg.qr(earlier).Q
        alone = h - basis @ (basis.T @ h)
    return LastStep(net.W @ h + net.A @ x[-1], alone / alone.square().sum())


def best_push(g: Tensor, B: Tensor, length: float) -> Tensor:
    """The p (m,) of norm `length` with the largest sum_j B_j (|p_j| - |g_j|)+ , p_j against g_j, over entries with B_j > 0.

    On a set S of entries the best p is proportional to B, worth length |B_S| - sum_S B_j |g_j|; the best S, up to one entry,
    takes the entries with the largest B_j / |g_j| (by a Lagrange multiplier), or it is a single one.
    """
    gain, size = B.clamp(min=0), g.abs()
    order = (gain / size).argsort(descending=True)
    worth = length * gain[order].square().cumsum(0).sqrt() - (gain * size)[order].cumsum(0)
    chosen, alone = order[: int(worth.argmax()) + 1], gain * (length - size)
    if alone.max() > worth.max():
        chosen = alone.argmax()[None]
    p = torch.zeros_like(g)
    p[chosen] = -g[chosen].sign() * gain[chosen] * (length / gain[chosen].norm())
    return p


def boundary_push(g: Tensor, B: Tensor, length: float, step: float = 1e-3) -> tuple[Tensor, Tensor]:
    """To the boundary and a short way back: q with |q| <= length, which takes g_j just beyond zero where B_j > 0 and
    B_j^2 / g_j^2 is largest, and p with |p| = step length, proportional to B there, towards the old sign: both (m,)."""
    mask = best_flips(g, B.clamp(min=0).square(), length)
    p = torch.where(mask, g.sign() * B, 0.0)
    return shift(g, mask), p * (step * length / p.norm())


def gained(g: Tensor, B: Tensor, p: Tensor) -> float:
    """The remainder of the last step: sum_j B_j (relu(g + p) - relu(g) - 1{g > 0} p)."""
    return (B @ ((g + p).relu() - g.relu() - (g > 0) * p)).item()


def worst_law(m: int, tau: float, square: float = 1.0) -> float:
    """The largest remainder of the last step for wide networks, |p| = tau / sqrt(m), g ~ N(0, 2 square / m)."""
    return CONSTANT * tau ** (4 / 3) * m ** (-1 / 6) * square ** (-1 / 6)
