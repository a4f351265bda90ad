"""How much larger the values of one sample are than those of another, with an interval that holds for every distribution."""

import math

import numpy as np
from numpy.typing import ArrayLike


def rank_sum_counts(n: int, m: int) -> np.ndarray:
    """How many of the C(n + m, n) orders of two samples have u pairs (i, j) with a_i > b_j: (n m + 1,), for u = 0, 1, ...

    The coefficients of the Gaussian binomial: prod_{i <= n} (1 - q^(m + i)) / (1 - q^i).
    """
    counts = np.zeros(n * m + 1)
    counts[0] = 1
    for i in range(1, n + 1):
        higher = counts.copy()
        higher[m + i :] -= counts[: -(m + i)] if m + i <= n * m else 0
        for u in range(i, n * m + 1):  # division by 1 - q^i
            higher[u] += higher[u - i]
        counts = higher
    return counts


def ratio_interval(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, tuple[float, float]]:
    """The typical ratio a_i / b_j of positive values, the median over all pairs, and its interval (Hodges and Lehmann 1963).

    The interval consists of all factors c for which the rank-sum test does not tell a from c b at this level, so it is
    right for every distribution if a is distributed like a multiple of b. With too few values it is everything.
    """
    a, b = (np.asarray(values, dtype=float).ravel() for values in (a, b))
    ratios = np.sort((a[:, None] / b[None, :]).ravel())
    if np.isnan(ratios).any():
        return math.nan, (math.nan, math.nan)
    below = np.cumsum(rank_sum_counts(len(a), len(b))) / math.comb(len(a) + len(b), len(a))
    rank = int(np.searchsorted(below, (1 - level) / 2, side="right"))  # P(U < rank) <= (1 - level)/2
    ends = (float(ratios[rank - 1]), float(ratios[-rank])) if rank else (0.0, math.inf)
    return float(np.median(ratios)), ends
