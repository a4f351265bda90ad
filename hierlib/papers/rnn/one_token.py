"""How much of the powers of one token is in the kernel, for any norms that are the same in all samples.

Position l has tokens of squared norm `squares[l - 1]` in every sample, t is the cosine between the tokens of two samples at
one position, all other cosines are zero. Then everything is a power series in t with positive coefficients:

    gate      k0(z^l) at that position                                              (Wang et al. 2021, Lemma 22)
    tangent   H, the sum over all times                                             (eq. 33)

`token_series` does the same for several tokens of norm one. Coefficients are lower bounds of Loewner weights by themselves
(Schur); that they are the exact weights in every dimension is Schoenberg's theorem.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.papers.rnn.token_series import _compose, _product, _taylor, defect_of


class Weights(NamedTuple):
    """Coefficients of t^0, ..., t^degree in the gate of the position and in the tangent kernel; Q at the position."""

    gate: Tensor
    tangent: Tensor
    Q: float


def one_token_weights(squares: Sequence[float], position: int, degree: int, s2: float, gain: float = 1.0) -> Weights:
    """Power series in the cosine t of the token at `position` (1 to L), L = len(squares)."""
    if not 1 <= position <= len(squares):
        raise ValueError(f"positions are 1 to {len(squares)}, got {position}")
    c, T = torch.zeros(degree + 1, dtype=torch.float64), torch.zeros(degree + 1, dtype=torch.float64)
    c[0] = 1.0
    q, v = 1.0, 0.0
    gate, Q = c, 1.0
    for time, square in enumerate(squares, start=1):
        before, q = q, gain * q + s2 * square
        u = (s2 * square + gain * before * v) / q
        step = c * (gain * before / q)
        if time == position:
            step[1] += s2 * square / q
        step[0] = 0.0
        k0, k1 = _taylor(u, degree)
        on = _compose(k0, step)
        if time == position:
            gate, Q = on, q
        T = _product(on, gain * T + before / 2 * c)
        c, v = _compose(k1, step), defect_of(u)
    return Weights(gate, T, Q)


def lemma21_weights(square: float, room: float, mu: float, s2: float, degree: int) -> Tensor:
    """Coefficients of t^0, ..., t^degree in k0((mu + s2 square t) / Q), Q = mu + s2 room: the left side of Lemma 21."""
    Q = mu + s2 * room
    k0, _ = _taylor(s2 * room / Q, degree)
    return torch.tensor(k0, dtype=torch.float64) * (s2 * square / Q) ** torch.arange(degree + 1, dtype=torch.float64)
