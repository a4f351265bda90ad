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

from hierlib.papers.rnn.token_series import defect, open_share


def weights_of_token(t: Tensor, position: int, degree: int, s2: float) -> Tensor:
    """Coefficients of t_l^p, p = 0, ..., degree, in H, l = `position`, at the inner products t (draws, L) of the others.

    Column l of t is not used. -> (draws, degree + 1)
    """
    draws, L = t.shape
    zeros = torch.zeros(draws, degree + 1, dtype=torch.float64)
    T, c = zeros.clone(), zeros.clone()
    c[:, 0] = 1.0
    q, v = 1.0, torch.zeros(draws, dtype=torch.float64)
    for place in range(1, L + 1):
        before, q = q, q + s2
        moving = place == position
        u = (s2 * (1.0 if moving else 1 - t[:, place - 1]) + before * v) / q
        if place < position:  # nothing depends on the token yet: numbers, not series
            T[:, 0] = open_share(u) * (T[:, 0] + before / 2 * c[:, 0])
            v = defect(u)
            c[:, 0] = 1 - v
            continue
        step = c * (before / q)
        step[:, 0] = 0.0
        if moving:
            step[:, 1] += s2 / q
        k0, k1 = _taylor(u, degree)
        T = _product(_compose(k0, step), T + before / 2 * c)
        c, v = _compose(k1, step), defect(u)
    return T


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


def _taylor(u: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """Taylor coefficients of k0 and k1 at z = 1 - u: (draws, order + 1) each; see `token_series`."""
    z, room = 1 - u, u * (2 - u)
    slope = [room.rsqrt()]
    for i in range(order):
        earlier = slope[i - 1] if i else 0.0
        slope.append((z * (2 * i + 1) * slope[i] + i * earlier) / (room * (i + 1)))
    k0 = [open_share(u), *(value / math.pi / (i + 1) for i, value in enumerate(slope))][: order + 1]
    k1 = [1 - defect(u), *(value / (i + 1) for i, value in enumerate(k0))][: order + 1]
    return torch.stack(k0, 1), torch.stack(k1, 1)


def _compose(outer: Tensor, step: Tensor) -> Tensor:
    """sum_i outer_i step^i for series without constant term, row by row (Horner)."""
    total = torch.zeros_like(step)
    for coefficient in reversed(outer.unbind(1)):
        total = _product(total, step)
        total[:, 0] += coefficient
    return total


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Product of two series, row by row, cut at their length."""
    total = a[:, :1] * b
    for i in range(1, a.shape[1]):
        total[:, i:] += a[:, i : i + 1] * b[:, : b.shape[1] - i]
    return total
