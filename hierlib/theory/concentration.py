"""Tails of Gaussian sums and matrices: the tools of appendix C of Allen-Zhu and Li 2019, with their constants.

Proposition C.1: |g|^2 of a Gaussian vector. Proposition C.2: norms of a Gaussian matrix, also on sparse vectors.
Lemma C.3: sums of products of Gaussians behind independent gates. Where the paper says O or Omega, constants are given.
"""

import math

import torch
from scipy import stats
from scipy.optimize import minimize_scalar
from torch import Tensor

from hierlib.streams import normals


def normalised_powers(shape: tuple[int, ...], seed: int, name: str, power: int = 1) -> Tensor:
    """Independent entries of mean 0 and variance 1, float64: Gaussians, or odd powers of Gaussians with heavy tails."""
    return normals(shape, seed, name) ** power / math.sqrt(math.prod(range(1, 2 * power, 2)))  # E z^(2p) = (2p - 1)!!


def chi_square_threshold(m: int, t: float) -> float:
    """m + 2 sqrt(m t) + 2 t, which |g|^2 exceeds with probability at most exp(-t) (Proposition C.1)."""
    return m + 2 * math.sqrt(m * t) + 2 * t


def chi_square_tail(m: int, x: float) -> float:
    """Pr[|g|^2 >= x] for a standard Gaussian g in m dimensions, exactly."""
    return float(stats.chi2.sf(x, m))


def sparse_norm(M: Tensor, s: int) -> float:
    """max |M v| over v with at most s = 1 or 2 entries and norm one, exactly: M (n, m)."""
    gram = M.mT @ M
    squares = gram.diagonal()
    if s == 1:
        return math.sqrt(float(squares.max()))
    if s != 2:
        raise ValueError("exact only for s = 1 and s = 2; see sparse_norm_found")
    mean, half = (squares[:, None] + squares) / 2, (squares[:, None] - squares) / 2
    top = mean + (half**2 + gram**2).sqrt()  # the larger eigenvalue of every 2 x 2 minor
    top.fill_diagonal_(0.0)
    return math.sqrt(float(top.max()))


def sparse_norm_found(M: Tensor, s: int) -> float:
    """A lower bound on max |M v| over s-sparse v of norm one, M (n, m): 30 power steps that keep the s largest entries.

    One start at every of the s longest columns.
    """
    v = torch.zeros(M.shape[1], s, dtype=M.dtype)
    v[(M**2).sum(0).topk(s).indices, torch.arange(s)] = 1.0
    for _ in range(30):
        w = M.mT @ (M @ v)
        kept = w.abs().topk(s, dim=0).indices
        v = torch.zeros_like(w).scatter(0, kept, w.gather(0, kept))
        v = v / v.norm(dim=0)
    return float((M @ v).norm(dim=0).max())


def sparse_union_bound(n: int, m: int, s: int) -> float:
    """sqrt(n) + sqrt(s) + sqrt(2 log C(m, s)): a union over all sets of s columns, in the proof of Proposition C.2.

    max |M v| exceeds it by r with probability at most exp(-r^2/2 - r sqrt(2 log C(m, s))).
    """
    return math.sqrt(n) + math.sqrt(s) + math.sqrt(2 * log_choose(m, s))


def log_choose(m: int, s: int) -> float:
    """log of the binomial coefficient."""
    return math.lgamma(m + 1) - math.lgamma(s + 1) - math.lgamma(m - s + 1)


def gated_sums(a1: Tensor, a2: Tensor, n: Tensor, h: Tensor) -> Tensor:
    """sum_i a1_i a2_i 1[n_i >= 0] h_i over the last axis: the sums of Lemma C.3 (a2 = a1 in the second)."""
    return (a1 * a2 * (n >= 0) * h).sum(-1)


def indicator_threshold(m: int, B: float) -> float:
    """B (sqrt(m) + B): Lemma C.3 for L = 1 says that a sum deviates by more with probability at most 4 exp(-B^2/8)."""
    return B * (math.sqrt(m) + B)


def product_exponent(m: int, B: float) -> float:
    """E such that the first sum of Lemma C.3 exceeds its threshold with probability at most 2 exp(-E), L = 1 (Chernoff).

    E exp(lambda a1 a2 c) = (1 - lambda^2 c^2)^(-1/2) is largest for |c| = 1, whatever gates and h are.
    """
    x = indicator_threshold(m, B)
    found = minimize_scalar(lambda s: -(s * x + m / 2 * math.log1p(-s * s)), bounds=(0, 1 - 1e-12), method="bounded")
    return -float(found.fun)


def square_exponent(m: int, B: float, share: float) -> float:
    """The same for the upper tail of the second sum, sum_i a_i^2 c_i minus its mean, c_i = 1[n_i >= 0] h(alpha_i).

    exp(lambda a^2 c) has the mean E (1 - 2 lambda c)^(-1/2), convex in c: among all c in [-1, 1] of the same mean the
    worst is +1 with probability `share`, else -1. The lower tail is the upper tail of 1 - share.
    """
    x, mean = indicator_threshold(m, B), 2 * share - 1

    def negative(s: float) -> float:
        moment = share / math.sqrt(1 - 2 * s) + (1 - share) / math.sqrt(1 + 2 * s)
        return -(s * (x + m * mean) - m * math.log(moment))

    return -float(minimize_scalar(negative, bounds=(0, 0.5 - 1e-12), method="bounded").fun)
