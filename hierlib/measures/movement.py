"""How far the neurons of a two-layer network move, and what that does to signs and Gram matrix.

A sign 1{<w_r, x_i> >= 0} can flip only if the neuron started close to the kink of x_i: within R, the largest distance
that any neuron travels. Arora et al. 2019 (appendix C) count the pairs that are that close; the number bounds how far
Z and H = Z'Z can get from where they started.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.empirical import both_active
from hierlib.nets.two_layer import TwoLayer, active, flipped, near_kink


def movements(before: TwoLayer, after: TwoLayer) -> Tensor:
    """Distance |w_r(k) - w_r(0)| that each neuron has travelled: (m,)."""
    return (after.W - before.W).norm(dim=1)


def movement_bound(start: Tensor, m: int, smallest: float) -> float:
    """4 sqrt(n) |y - u(0)| / (sqrt(m) lambda_0): Arora et al. 2019, lemma C.1.

    `start` is y - u(0) (n,), `smallest` is lambda_0, the smallest eigenvalue of H_inf.
    """
    return 4 * len(start) ** 0.5 * start.norm().item() / (m**0.5 * smallest)


def path_bound(residuals: Tensor, eta: float, m: int) -> float:
    """eta sqrt(n/m) sum_t |y - u(t)|: the line of lemma C.1's proof that needs no rate of convergence.

    `residuals` (steps + 1, n) belong to the states 0 .. steps; the last one has not pulled at anything yet.
    """
    pulls = residuals[:-1].norm(dim=1).sum().item()
    return eta * (residuals.shape[1] / m) ** 0.5 * pulls


def flips_outside(before: TwoLayer, states: Sequence[TwoLayer], X: Tensor, R: float) -> int:
    """Pairs (r, i) whose sign differs from the first in some state although A_{r,i} does not hold; none if R bounds all.

    The A_{r,i} do not depend on k: counting them once covers every state (the repaired proof of lemma C.2).
    """
    away = ~near_kink(before, X, R)
    ever = torch.stack([active(before, X) != active(state, X) for state in states]).any(dim=0)
    return int((ever & away).sum())


def near_kink_bound(R: float, kappa: float) -> float:
    """2 R / (sqrt(2 pi) kappa), at least the probability erf(R / (sqrt(2) kappa)) of A_{r,i} (eq. 17)."""
    return 2 * R / (math.sqrt(2 * math.pi) * kappa)


def predicted_flips(before: TwoLayer, after: TwoLayer, X: Tensor, kappa: float) -> float:
    """Share of flipped signs for movements that do not care on which side of the kink a neuron is (not in the paper).

    A Gaussian pre-activation has density 1/(kappa sqrt(2 pi)) at the kink, and one direction in two leads across it:
    the share is that density times the mean of |<w_r(k) - w_r(0), x_i>| over the pairs near the kink. The mean over
    all pairs would not do: neurons at a kink of one input are busier than those which see all inputs or none.
    """
    R = movements(before, after).max().item()
    travelled = (X @ (after.W - before.W).T).abs()[near_kink(before, X, R)]
    return travelled.mean().item() / (kappa * math.sqrt(2 * math.pi))


class GramChange(NamedTuple):
    """|H(k) - H(0)|_F, and what it would be if its terms had one sign (eq. 16) or independent random signs."""

    norm: float
    one_sign: float
    random_signs: float


def gram_change(before: TwoLayer, after: TwoLayer, X: Tensor) -> GramChange:
    """Change of H_ij = <x_i, x_j>/m sum_r 1_{r,i} 1_{r,j}, in which N_ij of the m products have changed by +-1.

    All of one sign they add up to N_ij, which is what the proof of lemma C.2 allows for; of random signs, to sqrt(N_ij).
    """
    old, new = active(before, X).to(X), active(after, X).to(X)
    K, m = X @ X.T, len(before.a)
    was, became, stayed = both_active(old), both_active(new), both_active(old * new)
    changed = was + became - 2 * stayed
    entries = (became - was, changed, changed.sqrt())
    return GramChange(*((K * entry).norm().item() / m for entry in entries))


class MovementSummary(NamedTuple):
    """What appendix C of Arora et al. 2019 speaks of, for one network seen in several states."""

    R: float  # largest movement of any neuron
    near: float  # share of pairs within R of a kink
    outside: int  # flips that are not among them
    F: float  # largest share of flipped signs
    F_predicted: float
    Z: float  # largest |Z(k) - Z(0)|_F
    H: float  # largest |H(k) - H(0)|_F, and its two estimates
    H_one_sign: float
    H_random_signs: float


def movement_summary(states: Sequence[TwoLayer], X: Tensor, kappa: float) -> MovementSummary:
    """Measure the states of one network, k = 0 first.

    Z(k) - Z(0) has the column a_r x_i / sqrt(m), of squared norm 1/m, for every sign that differs: its squared norm is n F.
    """
    start = states[0]
    R = max(movements(start, state).max().item() for state in states)
    near = near_kink(start, X, R).double().mean().item()
    F, furthest = max((flipped(start, state, X), k) for k, state in enumerate(states))
    predicted = predicted_flips(start, states[furthest], X, kappa)
    change = max(gram_change(start, state, X) for state in states)
    return MovementSummary(R, near, flips_outside(start, states, X, R), F, predicted, (len(X) * F) ** 0.5, *change)
