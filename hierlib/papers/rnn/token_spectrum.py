"""What a function of one token costs when all other tokens are random: exactly, for tokens on the circle (d = 2).

For independent uniform tokens a function of one of them, psi(<beta, x_l>) = sum_k a_k cos(k theta), is a sum of
eigenfunctions of the limit kernel. The eigenvalue of cos(k theta) is E[H cos(k theta)] with t_l = cos(theta), the mean over
all inner products, so

    y' H^-1 y  ->  a_0^2 / lambda_0 + sum_{k >= 1} a_k^2 / (2 lambda_k)        for infinitely many samples,

from below. The eigenvalues fall geometrically and would be lost in a Fourier transform of H; here they come from the power
series of H in t_l, whose coefficients are positive at every draw of the other tokens (`token_series`), with
E[t^p cos(k theta)] = 2^-p binom(p, (p - k) / 2): nothing cancels. (Not in Wang et al. 2021.)
"""

import math

import torch
from torch import Tensor

from hierlib.papers.rnn.token_series import kernel_series

ROWS = 2000  # draws to work on at a time: a hundred thousand would need gigabytes


def weights_of_token(t: Tensor, position: int, degree: int, s2: float) -> Tensor:
    """Coefficients of t_l^p, p = 0, ..., degree, in H, l = `position`, at the inner products t (draws, L) of the others.

    Column l of t is not used. -> (draws, degree + 1)
    """
    return torch.cat([kernel_series(some, {position: degree}, s2) for some in t.split(ROWS)])


def eigenvalues_on_circle(weights: Tensor) -> Tensor:
    """lambda_k = sum_p w_p E[t^p cos(k theta)] for k = 0, ..., degree from coefficients w (degree + 1,), t = cos(theta)."""
    degree = len(weights) - 1
    mixing = torch.zeros(degree + 1, degree + 1, dtype=torch.float64)
    for p in range(degree + 1):
        for k in range(p % 2, p + 1, 2):
            mixing[k, p] = math.comb(p, (p - k) // 2) / 2.0**p
    return mixing @ weights


def cost_on_circle(harmonics: Tensor, eigenvalues: Tensor) -> Tensor:
    """Partial sums of y' H^-1 y over the harmonics a_0, a_1, ... of a teacher psi(cos theta) = sum_k a_k cos(k theta)."""
    half = torch.full_like(harmonics, 0.5)
    half[0] = 1.0
    return (half * harmonics**2 / eigenvalues[: len(harmonics)]).cumsum(0)
