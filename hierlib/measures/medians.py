"""Medians, with intervals that hold for every distribution."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def median_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Two of the n values that enclose the median of what they were drawn from, with probability at least `level`.

    How many of n independent values lie below the median is a binomial number with chance 1/2, whatever the distribution.
    The pair is the innermost symmetric one; with fewer values than any pair needs, the interval is the whole line.
    """
    ordered = np.sort(np.asarray(values, dtype=float).ravel())
    if np.isnan(ordered).any():
        return math.nan, math.nan
    # the value of rank r from either end misses the median with probability 2 P(fewer than r below it)
    rank = int(stats.binom.ppf((1 - level) / 2, len(ordered), 0.5))
    return (float(ordered[rank - 1]), float(ordered[-rank])) if rank else (-math.inf, math.inf)
