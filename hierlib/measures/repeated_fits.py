"""Exponents of power laws where every repetition runs through all sizes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from hierlib.measures.fits import loglog_slope


class RepeatedFit(NamedTuple):
    """The mean exponent, a confidence interval for it, and the exponent of each repetition."""

    slope: float
    interval: tuple[float, float]
    slopes: np.ndarray


def slope_by_repeat(x: ArrayLike, y: ArrayLike, confidence: float = 0.95) -> RepeatedFit:
    """One least-squares exponent of y in x per column of y (len(x), repeats), and Student's interval for their mean.

    A column is one repetition (an initial network, a sample) followed through all x, so its points are not independent of
    each other; the columns are. Nothing is assumed about the scatter within a column. A value that was not reached (nan)
    makes its column, and so the mean and the interval, nan.
    """
    columns = np.asarray(y, dtype=float).T
    if columns.ndim != 2 or len(columns) < 2:
        raise ValueError("an interval over repetitions needs y of shape (len(x), repeats) with at least two repeats")
    slopes = np.array([loglog_slope(x, column).slope for column in columns])
    mean = float(slopes.mean())
    half = float(stats.t.ppf((1 + confidence) / 2, len(slopes) - 1) * slopes.std(ddof=1) / len(slopes) ** 0.5)
    return RepeatedFit(mean, (mean - half, mean + half), slopes)
