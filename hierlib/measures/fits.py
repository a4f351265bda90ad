"""Exponents of power laws, with intervals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


class Fit(NamedTuple):
    """y = exp(intercept) x^slope, with a 95 % confidence interval for the slope."""

    slope: float
    interval: tuple[float, float]
    intercept: float

    def __call__(self, x: ArrayLike) -> np.ndarray:
        return np.exp(self.intercept) * np.asarray(x, dtype=float) ** self.slope


def loglog_slope(x: ArrayLike, y: ArrayLike) -> Fit:
    """Least-squares exponent of y in x. y may carry several repetitions per x: shape (len(x),) or (len(x), repeats).

    The interval is Student's at 95 %, from the scatter of all points around the line. A value that was not reached (nan)
    enters no fit: the slope is then nan too, and satisfies nothing.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if np.isnan(y).any():
        return Fit(np.nan, (np.nan, np.nan), np.nan)
    if not (x > 0).all() or not (y > 0).all():
        raise ValueError("a power law needs positive x and y")
    flat_x = np.broadcast_to(x.reshape(-1, *[1] * (y.ndim - 1)), y.shape).ravel()
    line = stats.linregress(np.log(flat_x), np.log(y.ravel()))
    freedom = flat_x.size - 2
    error = np.nan_to_num(line.stderr)  # scipy says nan when y is constant, where the scatter is zero
    half = stats.t.ppf(0.975, freedom) * error if freedom > 0 else np.inf
    return Fit(float(line.slope), (float(line.slope - half), float(line.slope + half)), float(line.intercept))
