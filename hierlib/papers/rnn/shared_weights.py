"""What one matrix for all times costs: the fluctuations of |h_l|^2 (Wang et al. 2021, Theorem 5, Theorem 16, Lemma 18).

Given the states before, |h_a|^2 of step a is a mean over m neurons of 2 relu(g)^2, g ~ N(0, 1). With fresh weights at each
step the deviations of different steps are independent; with one matrix they are correlated like the neurons' inputs:

    Var log |h_l|^2 = 1/m sum_{a, b <= l} c(z^(a,b)),    c(rho) = Cov(2 relu(u)^2, 2 relu(v)^2) at correlation rho

(c(1) = 5, c(0) = 0), to first order in 1/m. Fresh weights: 5 (l + 1) / m. One matrix: the states of different times become
parallel, z -> 1, and the sum tends to 5 l^2 / m. (Not in the paper, whose error is l^2 log^2 m / m.)
"""

import math

import torch
from torch import Tensor

from hierlib.kernels.arc_cosine import angle
from hierlib.kernels.recurrent import cross_time, squares


def covariance(rho: Tensor) -> Tensor:
    """c(rho) = (2/pi) (3 sin t cos t + (pi - t) (1 + 2 cos^2 t)) - 1, t = arccos rho: the arc-cosine kernel of degree 2."""
    t = angle(rho)
    return 2 / math.pi * (3 * t.sin() * t.cos() + (math.pi - t) * (1 + 2 * t.cos() ** 2)) - 1


def log_norm_variance(x: Tensor, s2: float) -> Tensor:
    """m Var log |h_l|^2 for l = 0, ..., L along one sequence x (L, d), one matrix for all times: (L + 1,)."""
    L = len(x)
    roots = squares(x[None], s2).sqrt()[:, 0]
    K = cross_time(x[None], s2).forward[:, :, 0, 0]
    z = torch.eye(L + 1, dtype=x.dtype)
    z[1:, 1:] = (K[:-1, :-1] + s2 * x @ x.T) / (roots[1:, None] * roots[1:])
    z.fill_diagonal_(1.0)
    return covariance(z).cumsum(0).cumsum(1).diagonal()


def log_norm_variance_fresh(L: int) -> Tensor:
    """The same with fresh weights at each step: 5 (l + 1)."""
    return 5.0 * torch.arange(1, L + 2, dtype=torch.float64)
