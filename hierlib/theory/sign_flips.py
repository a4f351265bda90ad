"""How many signs of a Gaussian vector can a small shift change (Allen-Zhu and Li 2019, Proposition C.4)?

A shift g' changes the sign of g_j only if |g'_j| >= |g_j|. So a set of signs costs sum_j g_j^2 of the squared budget
|g'|^2 <= delta^2, and nothing else matters: the worst shift is found by sorting. The limits for wide vectors are ours.
"""

import math

import torch
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from torch import Tensor

from hierlib.theory.concentration import normalised_powers

# A gate 1{g >= 0} that is on needs to be pushed below zero, not only to it.
OVERSHOOT = 1 + 1e-9
# Worst case for wide vectors: (6/pi)^(1/3) m delta^(2/3) flips, from the density sqrt(2/pi) of |sqrt(m) g_j| at zero.
FLIP_CONSTANT = (6 / math.pi) ** (1 / 3)


def gaussian_vector(m: int, seed: int, power: int = 1, name: str = "signs", batch: tuple[int, ...] = ()) -> Tensor:
    """g ~ N(0, I/m), (*batch, m) in float64; with an odd power > 1 its entries are powers of Gaussians, of variance 1/m."""
    return normalised_powers((*batch, m), seed, name, power) / math.sqrt(m)


def cheapest(cost: Tensor, budget: float | Tensor) -> Tensor:
    """The most entries whose costs (..., m) add up to at most the budget (...): a mask. The cheapest, one after another."""
    order = cost.argsort(-1)
    affordable = cost.gather(-1, order).cumsum(-1) <= torch.as_tensor(budget, dtype=cost.dtype)[..., None]
    return torch.zeros_like(affordable).scatter(-1, order, affordable)


def most_flips(g: Tensor, delta: float) -> Tensor:
    """Which signs of g (..., m) the worst shift of norm at most delta changes: a mask, as many as possible."""
    return cheapest((OVERSHOOT * g) ** 2, delta**2)


def best_flips(g: Tensor, values: Tensor, delta: float) -> Tensor:
    """Which signs of g (m,) to change if sign j is worth values_j (..., m): a mask with nearly the largest total.

    A knapsack with weights g_j^2: the best value per weight first, until the first that does not fit. What is lost
    against the optimum is less than the value of that one entry. Negative values are never taken.
    """
    weight = (OVERSHOOT * g) ** 2
    order = (values / weight).argsort(-1, descending=True)
    chosen = (weight[order].cumsum(-1) <= delta**2) & (values.gather(-1, order) > 0)
    return torch.zeros_like(chosen).scatter(-1, order, chosen)


def shift(g: Tensor, mask: Tensor) -> Tensor:
    """The shortest shift g' (up to rounding) that changes the signs in the mask and no other: (..., m)."""
    return torch.where(mask, -OVERSHOOT * g, 0.0)


def changes(g: Tensor, moved: Tensor, threshold: float = 0.0) -> Tensor:
    """The diagonal of D': 1{moved >= threshold} - 1{g >= threshold}, entries -1, 0, 1. The paper has threshold 0."""
    return (moved >= threshold).to(g.dtype) - (g >= threshold).to(g.dtype)


def worst_share(delta: float) -> float:
    """Share of signs that the worst shift of norm delta <= 1 changes, for m to infinity: P(|z| <= c), z ~ N(0, 1).

    c solves E[z^2; |z| <= c] = delta^2. The share is at most FLIP_CONSTANT delta^(2/3), and close to it for small delta.
    """
    if delta >= 1:
        return 1.0

    def spent(c: float) -> float:
        return math.erf(c / math.sqrt(2)) - c * math.sqrt(2 / math.pi) * math.exp(-c * c / 2) - delta**2

    return math.erf(brentq(spent, 0.0, 40.0) / math.sqrt(2))


def random_share(delta: float) -> float:
    """Share of signs that a Gaussian shift of norm delta changes: the angle between g and g + g', over pi."""
    return math.atan(delta) / math.pi


def tail_rate(kappa: float) -> float:
    """R such that Pr[some shift of norm delta flips kappa N signs] <= exp(-R N), with N = m delta^(2/3), for all m, delta.

    If kappa N signs cost at most delta^2, then sum_j max(c^2 - z_j^2, 0) >= kappa N c^2 - m delta^2 for every c, where
    z = sqrt(m) g; Markov's inequality for exp(s sum) and the density of z give, in units of delta^(2/3) for c and v,

        R = sup_{s, c} s (kappa c^2 - 1) - sqrt(2/pi) int_0^c (exp(s (c^2 - v^2)) - 1) dv.

    Zero for kappa <= FLIP_CONSTANT. This makes the exponent Omega(m delta^(2/3)) of Proposition C.4 explicit.
    """

    def negative(point: tuple[float, float]) -> float:
        s, c = math.exp(point[0]), math.exp(point[1])
        if s * c * c > 500:
            return math.inf
        integral, _ = quad(lambda v: math.expm1(s * (c * c - v * v)), 0, c)
        return -(s * (kappa * c * c - 1) - math.sqrt(2 / math.pi) * integral)

    best = minimize(negative, (-1.0, 0.4), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-10})
    return max(0.0, -float(best.fun)) if kappa > FLIP_CONSTANT else 0.0


def proof_constants() -> tuple[float, float]:
    """Constants (C, c) of "at most C m delta^(2/3) flips, except with probability exp(-c m delta^(2/3))" in the proof.

    It counts the entries below xi = delta^(2/3) / (2 sqrt(m)), at most twice their mean (Chernoff), and at most
    (delta / xi)^2 others.
    """
    mean = math.sqrt(2 / math.pi) / 2
    return 2 * mean + 4, mean / 3
