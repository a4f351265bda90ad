"""Lemma D.1 of Allen-Zhu and Li 2019: what moves when the weights of a random residual network move a little.

Both blocks have the same form. A block sees a vector z, has Gaussian pre-activations h = W0 z of scale sigma |z| and
a movement with |W|_2 <= tau, of which only p = W z, |p| <= tau |z|, can be felt; any such p comes from a W of rank one.
The first block has z = (x, 1), sigma = sigma_w; the second z = (out_1, 1), sigma = sigma_v / sqrt(m). Functions named
`worst_...` look for the p that violates a bound most; the limits for wide blocks (`..._size`) are ours.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs, gates
from hierlib.theory.sign_flips import best_flips, most_flips, shift

# E|z|^(3/2) for a standard Gaussian z.
ABSOLUTE_MOMENT = 2**0.75 * math.gamma(1.25) / math.sqrt(math.pi)
ROUNDS = 12  # of every search for the worst p, unless it stops improving before


def moved_first(net: Residual, x: Tensor, p: Tensor) -> Residual:
    """The network with the W of rank one such that W (x, 1) = p (m,), x (d,)."""
    z = with_one(x[None])[0]
    return net._replace(W=net.W + torch.outer(p, z) / (z @ z))


def moved_second(net: Residual, x: Tensor, p: Tensor) -> Residual:
    """The network with the V of rank one such that V (out_1(x), 1) = p (m,), x (d,)."""
    z = with_one(first_outputs(net, x[None]))[0]
    return net._replace(V=net.V + torch.outer(p, z) / (z @ z))


class First(NamedTuple):
    """Parts (a), (b), (c) of the lemma for one movement of the first block."""

    flips: float  # |D_W - D_W0|_0
    start: float  # |A D_W W0 (x, 1)|
    output: float  # |out_1(x)|


class Second(NamedTuple):
    """Parts (d), (e), (f), (g) for one movement of the second block; (e) and (g) are divided by |out_1(x)| + 1."""

    flips: float  # |D_VW - D_V0W|_0
    start: float  # |A D_VW V0 (out_1, 1)| / (|out_1| + 1)
    operator: float  # |A D_VW V0|_2
    output: float  # |A D_VW (V0 + V) (out_1, 1)| / (|out_1| + 1)


def first_block(net: Residual, moved: Residual, x: Tensor) -> First:
    """(a)-(c) at the input x (d,), read off from the two networks: net is the start, moved has W0 + W."""
    before, now = gates(net, x[None])[0][0], gates(moved, x[None])[0][0]
    z = with_one(x[None])[0]
    start = net.A @ (now * (net.W @ z))
    return First(float((before != now).sum()), start.norm().item(), first_outputs(moved, x[None]).norm().item())


def second_block(net: Residual, moved: Residual, x: Tensor) -> Second:
    """(d)-(g) at the input x (d,): net has W0 + W and V0, moved has W0 + W and V0 + V."""
    before, now = gates(net, x[None])[1][0], gates(moved, x[None])[1][0]
    out1 = first_outputs(net, x[None])
    z = with_one(out1)[0]
    operator = net.A @ (now[:, None] * net.V)
    added = net.A @ torch.relu(moved.V @ z)
    size = out1.norm().item() + 1
    norm = float(torch.linalg.matrix_norm(operator, 2))
    return Second(float((before != now).sum()), (operator @ z).norm().item() / size, norm, added.norm().item() / size)


def worst_flips(h: Tensor, budget: float) -> Tensor:
    """p (m,), |p| <= budget, with the most sign changes of h (m,): exact, parts (a) and (d)."""
    return shift(h, most_flips(h, budget))


def worst_start(A: Tensor, h: Tensor, budget: float) -> Tensor:
    """p (m,), |p| <= budget, that makes |A D h| large, D the gates of h + p: parts (b) and (e). A (k, m), h (m,).

    Opening or closing gate j adds -|h_j| a_j. For a fixed direction u of the result the best set is a knapsack; the next
    u is the result of the last set, so that the norm never falls by more than one entry. It starts at the result for p = 0.
    """
    begin = A @ torch.relu(h)
    u, best, largest = begin / begin.norm(), torch.zeros_like(h), begin.norm()
    for _ in range(ROUNDS):
        mask = best_flips(h, -(u @ A) * h.abs(), budget)
        result = begin - A @ (mask * h.abs())
        if result.norm() <= largest * (1 + 1e-9):
            break
        u, best, largest = result / result.norm(), shift(h, mask), result.norm()
    return best


def worst_operator(A: Tensor, V0: Tensor, h: Tensor, budget: float) -> Tensor:
    """p (m,), |p| <= budget, that makes |A D V0|_2 large, D the gates of h + p: part (f). A (k, m), V0 (m, q), h (m,).

    As `worst_start`, with a direction u (k,) of the result and one v (q,) of the input, the top singular pair of the last.
    """
    gate, best, largest = (h >= 0).to(h), torch.zeros_like(h), 0.0
    matrix = A @ (gate[:, None] * V0)
    for _ in range(ROUNDS):
        left, values, right = torch.linalg.svd(matrix)
        if values[0] <= largest * (1 + 1e-9):
            break
        best, largest = shift(h, gate != (h >= 0)), float(values[0])
        gain = (left[:, 0] @ A) * (V0 @ right[0]) * torch.where(h >= 0, -1.0, 1.0)
        gate = ((h >= 0) ^ best_flips(h, gain, budget)).to(h)
        matrix = A @ (gate[:, None] * V0)
    return best


def worst_output(A: Tensor, h: Tensor, budget: float, u: Tensor, rounds: int = ROUNDS) -> Tensor:
    """p (m,), |p| <= budget, that makes A relu(h + p) long, climbing from the direction u (k,): parts (c) and (g)."""
    best, largest = torch.zeros_like(h), -1.0
    gate = h >= 0
    for _ in range(rounds):
        p = (u @ A) * gate
        p = p * (budget / p.norm())
        result = A @ torch.relu(h + p)
        if result.norm() <= largest * (1 + 1e-9):
            break
        best, largest, gate, u = p, float(result.norm()), h + p >= 0, result / result.norm()
    return best


def start_ceiling(A: Tensor, h: Tensor, budget: float) -> float:
    """An upper bound on |A D h| over all p with |p| <= budget, parts (b) and (e); D are the gates of h + p.

    One coordinate of A D h at a time the knapsack is solved in both directions, up to the entry that no longer fits,
    which is added; the norm of these k extremes is at most sqrt(k) times too large.
    """
    begin = A @ torch.relu(h)
    extremes = []
    for row, value in zip(A, begin, strict=True):
        worth = [(gain, best_flips(h, gain, budget)) for gain in (row * h.abs(), -row * h.abs())]
        down, up = (float(gain[mask].sum() + gain.max()) for gain, mask in worth)
        extremes.append(max(abs(float(value) + up), abs(float(value) - down)))
    return math.hypot(*extremes)


def first_ceiling(net: Residual, x: Tensor, tau_w: float) -> float:
    """No |W|_2 <= tau_w makes |A D_W W0 (x, 1)| larger than this, at the input x (d,)."""
    z = with_one(x[None])[0]
    return start_ceiling(net.A, net.W @ z, tau_w * z.norm().item())


def aligned(net: Residual, x: Tensor) -> Residual:
    """The network with rows of W0 turned so that a gate is open at x exactly where the first output weight is positive.

    Every row has the same law as before, but W0 is no longer independent of A: what the lemma excludes.
    """
    turn = torch.sign(net.A[0]) * torch.sign(net.W @ with_one(x[None])[0])
    return net._replace(W=net.W * turn[:, None])


def worst_first(net: Residual, x: Tensor, tau_w: float) -> First:
    """The largest found of each of (a)-(c) over |W|_2 <= tau_w, at the input x (d,)."""
    z = with_one(x[None])[0]
    h, budget, u = net.W @ z, tau_w * z.norm().item(), first_outputs(net, x[None])[0]
    candidates = (worst_flips(h, budget), worst_start(net.A, h, budget), worst_output(net.A, h, budget, u))
    found = [first_block(net, moved_first(net, x, p), x) for p in candidates]
    return First(*map(max, zip(*found, strict=True)))


def steered(net: Residual, x: Tensor, tau_w: float, u: Tensor) -> Residual:
    """The network with a W, |W|_2 = tau_w, that makes out_1(x) long, in about the direction u (k,)."""
    z = with_one(x[None])[0]
    return moved_first(net, x, worst_output(net.A, net.W @ z, tau_w * z.norm().item(), u, rounds=2))


def worst_second(net: Residual, x: Tensor, tau_v: float) -> Second:
    """The largest found of each of (d)-(g) over |V|_2 <= tau_v, at the input x (d,) and the W of the network."""
    z = with_one(first_outputs(net, x[None]))[0]
    h, budget = net.V @ z, tau_v * z.norm().item()
    candidates = (
        worst_flips(h, budget),
        worst_start(net.A, h, budget),
        worst_operator(net.A, net.V, h, budget),
        worst_output(net.A, h, budget, net.A @ torch.relu(h)),
    )
    found = [second_block(net, moved_second(net, x, p), x) for p in candidates]
    return Second(*map(max, zip(*found, strict=True)))


def worst_both(net: Residual, x: Tensor, tau_w: float, tau_v: float, directions: Tensor) -> Second:
    """The largest found of (d)-(g) where W is chosen as well: zero, or steering out_1 in one of the directions (r, k)."""
    nets = [net, *(steered(net, x, tau_w, u) for u in directions)]
    return Second(*map(max, zip(*(worst_second(moved, x, tau_v) for moved in nets), strict=True)))


def start_size(m: int, k: int, sigma: float, tau: float) -> tuple[float, float]:
    """(flipped, random) parts of the largest |A D h| / |z| for a wide block, parts (b) and (e).

    flipped = (18/pi)^(1/3)/2 tau^(4/3) sigma^(-1/3) m^(-1/6): gates with |h_j| <= -<u, a_j>/lambda change, and lambda
    spends the budget. random = sqrt(k/2) sigma: k coordinates of A relu(h), each of variance sigma^2 |z|^2 / 2.
    """
    return (18 / math.pi) ** (1 / 3) / 2 * tau ** (4 / 3) * sigma ** (-1 / 3) * m ** (-1 / 6), math.sqrt(k / 2) * sigma


def operator_size(m: int, sigma: float, tau: float) -> float:
    """What flipped gates can add to |A D V0|_2 in a wide block, part (f): a constant times sigma^(1/3) tau^(2/3) m^(1/6).

    A direction v orthogonal to z makes V0 v independent of h = V0 z: gates with h_j^2 <= |<u, a_j> (V0 v)_j| / lambda
    change if the sign suits, and lambda spends the budget. With sigma = sigma_v / sqrt(m) no power of m is left.
    """
    constant = 6 ** (1 / 3) / 2 * (math.sqrt(2 / math.pi) * ABSOLUTE_MOMENT**2) ** (2 / 3)
    return constant * sigma ** (1 / 3) * tau ** (2 / 3) * m ** (1 / 6)
