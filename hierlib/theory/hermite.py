"""From gates to functions: Hermite polynomials seen through a random half-space.

A gate 1{<w, x> >= 0} of a Gaussian w, times a function h of <w, w*>, has a mean that depends on <w*, x> only. Hermite
polynomials turn into powers (Allen-Zhu and Li 2019, Claim F.3), so for every power series with a constant and odd terms
there is an h whose mean is that series (Lemma F.2). Polynomials are the probabilists' He_i, orthogonal under N(0, 1) with
E[He_i^2] = i!. Power series are coefficients c_0, ..., c_q along the last axis. Clips reach far out (B_i >= 100 sqrt(i)),
so tails are given as logarithms.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.special import eval_hermitenorm, gammaln, log_ndtr, ndtr

from hierlib.theory.power_series import log_complexity_eps


def log_gate_coefficient(i: ArrayLike) -> np.ndarray:
    """log |p'_i| = log((i - 2)!! / sqrt(2 pi)) for odd i, with (-1)!! = 1. The paper's bound (i - 1)!!/4 is too large."""
    i = np.asarray(i, dtype=float)
    return (i - 2) / 2 * np.log(2) + gammaln(i / 2) - np.log(np.pi)


def gate_coefficient(i: int) -> float:
    """p'_i with E[He_i(alpha_1) 1{<x, w_0> >= 0}] = p'_i x_1^i (Claim F.3): He_{i-1}(0) / sqrt(2 pi), so zero for even i.

    Mehler's formula leaves x_1^i E[He_i(alpha) 1{alpha >= 0}], and He_i times the density is minus the derivative of
    He_{i-1} times the density.
    """
    if i < 1:
        raise ValueError(f"the coefficient is for degrees from one on, got {i}")
    return 0.0 if i % 2 == 0 else (-1) ** ((i - 1) // 2) * float(np.exp(log_gate_coefficient(i)))


def log_double_factorial(n: ArrayLike) -> np.ndarray:
    """log n!! for even n >= 0: 2^(n/2) (n/2)!."""
    n = np.asarray(n, dtype=float)
    return n / 2 * np.log(2) + gammaln(n / 2 + 1)


def hermite_series(coefficients: ArrayLike) -> np.ndarray:
    """Hermite coefficients of h for a power series phi: 2 c_0, then c_i / p'_i (proof of Lemma F.2), (..., q + 1) -> same.

    Even terms from degree two on have p'_i = 0: no h has them in its mean, and they are left out.
    """
    c = np.asarray(coefficients, dtype=float)
    factor = np.array([2.0] + [1 / gate_coefficient(i) if i % 2 else 0.0 for i in range(1, c.shape[-1])])
    return c * factor


def gate_function(coefficients: ArrayLike, z: ArrayLike, clip: ArrayLike | None = None) -> np.ndarray:
    """h(z) = 2 c_0 + sum_i c_i/p'_i He_i(z), with He_i held constant beyond |z| = clip[i] (proof of Lemma F.2).

    coefficients (..., q + 1) against z (n, ...), or (q + 1,) against z of any shape; clip (q + 1,) -> the shape of z.
    """
    series, z = hermite_series(coefficients), np.asarray(z, dtype=float)
    value = np.zeros(np.broadcast_shapes(z.shape, series.shape[:-1]))
    for i in np.flatnonzero(series.reshape(-1, series.shape[-1]).any(axis=0)):
        bounded = z if clip is None else np.clip(z, -np.asarray(clip)[i], np.asarray(clip)[i])
        value += series[..., i] * eval_hermitenorm(int(i), bounded)
    return value


def mean_square(coefficients: ArrayLike) -> np.ndarray:
    """E[h(alpha_1)^2] = 4 c_0^2 + sum_i c_i^2 i!/p'_i^2 without clips (proof of Lemma F.2): (..., q + 1) -> (...)."""
    series = hermite_series(coefficients)
    return (series**2 * np.exp(gammaln(np.arange(series.shape[-1]) + 1))).sum(axis=-1)


def gated_mean(h: Callable[[np.ndarray], np.ndarray], x1: float, breaks: ArrayLike = ()) -> float:
    """E[1{alpha_1 x_1 + beta_1 sqrt(1 - x_1^2) >= 0} h(alpha_1)] by quadrature, for |x_1| <= 1 (Lemma F.2a).

    The gate is open with probability Phi(alpha_1 x_1/sqrt(1 - x_1^2)) given alpha_1, which is steep near zero when |x_1|
    is close to one: panels of 20 Gauss-Legendre nodes shrink towards zero. `breaks` are the kinks of h, such as clips.
    """
    ends = np.concatenate([[0.0], np.geomspace(1e-8, 1.0, 17), np.arange(1.25, 16.1, 0.25), np.abs(np.asarray(breaks))])
    ends = np.unique(ends[ends <= 16])  # the density beyond is below 1e-56
    ends = np.unique(np.concatenate([-ends, ends]))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(ends)[:, None] / 2
    z = ((ends[:-1, None] + ends[1:, None]) / 2 + half * nodes).ravel()
    steep = z * x1 / np.sqrt(max(1 - x1**2, 1e-300))
    density = (half * weights).ravel() * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return float((density * ndtr(steep) * h(z)).sum())


def clip_levels(degree: int, eps: float, scale: float = 1.0) -> np.ndarray:
    """scale times B_i = 100 sqrt(i) + 10 sqrt(log 1/eps) for i = 0, ..., degree (Claim F.4): (degree + 1,)."""
    return scale * (100 * np.sqrt(np.arange(degree + 1)) + 10 * np.sqrt(np.log(1 / eps)))


def log_hermite(i: int, B: float) -> float:
    """log He_i(B) for B beyond all roots (B >= 2 sqrt(i) is enough), where He_i is positive and increasing.

    The ratios He_j/He_{j-1} = B - (j - 1) He_{j-2}/He_{j-1} stay positive there, so nothing overflows or cancels.
    """
    if 2 * i**0.5 > B:
        raise ValueError(f"He_{i} may have roots beyond {B}")
    total, ratio = 0.0, B
    for j in range(1, i + 1):
        ratio = B if j == 1 else B - (j - 1) / ratio
        total += np.log(ratio)
    return float(total)


def log_tail(i: int, B: float) -> float:
    """log E[|He_i(z)| 1{|z| >= B}] (Claim F.4a), for i >= 1 and B >= 2 sqrt(i): twice He_{i-1}(B) times the density at B."""
    return log_hermite(i - 1, B) - B**2 / 2 + np.log(2 / np.sqrt(2 * np.pi))


def log_clipped_tail(i: int, B: float) -> float:
    """log E[|He_i(B)| 1{|z| >= B}] (Claim F.4b), for B >= 2 sqrt(i)."""
    return log_hermite(i, B) + np.log(2) + float(log_ndtr(-B))


def worst_tail_decades(tail: Callable[[int, float], float], degree: int, eps: float, scale: float = 1.0) -> float:
    """log10 of the largest sum_i |c_i/p'_i| tail_i over all phi with C_s(phi) < 1/eps, in units of eps/8 (Claim F.4a, b).

    The sum and the condition sum_i (i + 1)|c_i| < 1/eps are linear in |c_i|, so the worst phi is a single odd power, here
    up to `degree`. C* = 1, which allows more functions than any larger constant. Clips stand at scale B_i.
    """
    B = clip_levels(degree, eps, scale)
    worst = max(tail(i, B[i]) - log_gate_coefficient(i) - np.log(i + 1) for i in range(1, degree + 1, 2))
    return float((worst - np.log(eps) - np.log(eps / 8)) / np.log(10))


def least_constant(log_size: Callable[[int], float], degree: int, eps: float) -> float:
    """Smallest C* with sum_i |c_i/p'_i| size_i <= C_eps(phi)/2 for all odd phi up to `degree` (Claim F.4c, d).

    Linear in |c_i| again, and the weight of |c_i| in C_eps is C*^i times its value for C* = 1.
    """
    weights = log_complexity_eps(torch.eye(degree + 1, dtype=torch.float64).log(), np.log(1 / eps), 1.0).tolist()
    return max(
        float(np.exp((log_size(i) - log_gate_coefficient(i) + np.log(2) - weights[i]) / i)) for i in range(1, degree + 1, 2)
    )
