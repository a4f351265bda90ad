"""A layer of m random neurons and its mean: the probability lemmas of Wang et al. 2021, appendix B, without sampling.

Tails of means of m independent terms are known exactly for three laws of mean zero (Theorems 7 and 9): signs, squares
g^2 - 1, and gated squares 2 relu(g)^2 - 1, which are the terms of |relu(W x)|^2. Means over two Gaussians u, v with
correlation z are integrals over one angle (Theorems 8 and 10): with u = r cos(t), v = r cos(t - arccos z),

    E[f(u) g(v)] = E[r^k] mean_t f(cos t) g(cos(t - arccos z))        if f and g together are homogeneous of degree k.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

Function = Callable[[np.ndarray], np.ndarray]
REACH = 12.0  # standard deviations of a binomial that are kept


def signs_tail(m: int, eps: float) -> float:
    """log Pr[|mean of m signs| > eps]."""
    return _log(2 * stats.binom.sf(math.floor(m * (1 + eps) / 2), m, 0.5))


def squares_tail(m: int, eps: float) -> float:
    """log Pr[|mean of m terms g^2 - 1| > eps]."""
    return _log(stats.chi2.sf(m * (1 + eps), m) + stats.chi2.cdf(m * (1 - eps), m))


def gated_squares_tail(m: int, eps: float) -> float:
    """log Pr[|mean of m terms 2 relu(g)^2 - 1| > eps]: k of the gates are open, and 2 |g|^2 of these k is to be 1 +- eps."""
    half = REACH * math.sqrt(m) / 2
    k = np.arange(max(1, math.floor(m / 2 - half)), min(m, math.ceil(m / 2 + half)) + 1)
    outside = stats.chi2.sf(m * (1 + eps) / 2, k) + stats.chi2.cdf(m * (1 - eps) / 2, k)
    return _log(float((stats.binom.pmf(k, m, 0.5) * outside).sum()))


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def sub_exponential_scale(log_moment: Function, edge: float) -> float:
    """The smallest lambda with log E[e^(sX)] <= s^2 lambda^2 / 2 for |s| <= 1 / lambda (eq. 39); s must be below `edge`.

    Infinite if none up to a thousand is enough.
    """

    def enough(scale: float) -> bool:
        if 1 / scale >= edge:
            return False
        s = np.linspace(1 / 400, 1, 400) / scale
        s = np.concatenate([-s, s])
        return bool((2 * log_moment(s) <= s**2 * scale**2 * (1 + 1e-9)).all())

    low, high = 1e-3, 1e3
    if not enough(high):
        return math.inf
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def pair_mean(f: Function, g: Function, z: float, degree: int) -> float:
    """E[f(u) g(v)] for correlation z, f g positively homogeneous of `degree` in (u, v), kinks at zero only."""
    points, weights = _angles(z)
    radius = 2 ** (degree / 2) * math.gamma(1 + degree / 2)
    return radius * float((weights * f(np.cos(points)) * g(np.cos(points - math.acos(z)))).sum())


def product_moment(f: Function, g: Function, z: float, s: np.ndarray, degree: float = 1.0) -> np.ndarray:
    """E[e^(s f(u) g(v))] at each s, f and g both positively homogeneous of `degree`: r^2 / 2 = e ~ Exp(1).

    With c = s f g on the unit circle the mean over e of exp(c (2e)^degree) is exp(c) at degree zero and 1 / (1 - 2c) at
    degree one, infinite from 2c = 1 on. Above degree one it is infinite for every c > 0.
    """
    points, weights = _angles(z)
    c = np.asarray(s, dtype=float)[..., None] * f(np.cos(points)) * g(np.cos(points - math.acos(z)))
    if degree == 0:
        return (weights * np.exp(c)).sum(-1)
    if degree == 1:
        room = 1 - 2 * c
        return np.where(room.min(-1) > 0, (weights / np.where(room > 0, room, np.inf)).sum(-1), np.inf)
    if degree < 1:
        raise ValueError(f"the degree is 0, 1 or above, got {degree}")
    e, shares = np.polynomial.laguerre.laggauss(40)
    finite = (np.exp(np.minimum(c, 0)[..., None] * (2 * e) ** degree) * shares).sum(-1)
    return np.where(c.max(-1) > 0, np.inf, (weights * finite).sum(-1))


def _angles(z: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on the circle, in panels between the zeros of cos(t) and cos(t - arccos z); weights add up to 1."""
    turned = math.acos(z)
    kinks = np.array([math.pi / 2, 1.5 * math.pi, turned + math.pi / 2, turned + 1.5 * math.pi]) % (2 * math.pi)
    return _panels(np.unique(np.concatenate([[0.0, 2 * math.pi], kinks])), 60, 1 / (2 * math.pi))


def hermite_coefficients(f: Function, count: int, half_line: bool = False) -> np.ndarray:
    """mu_0, ..., mu_(count-1) of f: E[f(x) h_r(x)] with h_r of norm one under N(0, 1); or the integral over x > 0 only."""
    reach = 2 * math.sqrt(count) + 12
    ends = np.linspace(0, reach, math.ceil(4 * reach))
    x, weights = _panels(ends if half_line else np.concatenate([-ends[:0:-1], ends]), 20, 1 / math.sqrt(2 * math.pi))
    damped = np.exp(-(x**2) / 4)  # half of the density goes with the polynomial, which then stays bounded
    values = weights * f(x) * damped
    before, now, found = np.zeros_like(x), damped, []
    for r in range(count):
        found.append(float((values * now).sum()))
        before, now = now, (x * now - math.sqrt(r) * before) / math.sqrt(r + 1)
    return np.array(found)


def _panels(ends: np.ndarray, nodes: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes between neighbouring ends, and their weights times `scale`."""
    inner, weights = np.polynomial.legendre.leggauss(nodes)
    half = np.diff(ends)[:, None] / 2
    return ((ends[:-1] + ends[1:])[:, None] / 2 + half * inner).ravel(), scale * (half * weights).ravel()
