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

from hierlib.papers.rnn.token_series import arc_cosine_taylor, distances, kernel_series


class Weights(NamedTuple):
    """Coefficients of t^0, ..., t^degree in the gate of the position and in the tangent kernel; Q at the position."""

    gate: Tensor
    tangent: Tensor
    Q: float


def one_token_weights(squares: Sequence[float], position: int, degree: int, s2: float, gain: float = 1.0) -> Weights:
    """Power series in the cosine t of the token at `position` (1 to L), L = len(squares)."""
    orthogonal = torch.zeros(1, len(squares), dtype=torch.float64)
    tangent = kernel_series(orthogonal, {position: degree}, s2, gain, squares)[0]
    u, q = distances(orthogonal, squares, s2, gain)
    gate = _gate(u[position - 1], s2 * squares[position - 1] / q[position], degree)
    return Weights(gate, tangent, q[position])


def lemma21_weights(square: float, room: float, mu: float, s2: float, degree: int) -> Tensor:
    """Coefficients of t^0, ..., t^degree in k0((mu + s2 square t) / Q), Q = mu + s2 room: the left side of Lemma 21."""
    Q = mu + s2 * room
    return _gate(torch.tensor([s2 * room / Q], dtype=torch.float64), s2 * square / Q, degree)


def _gate(u: Tensor, share: float, degree: int) -> Tensor:
    """Coefficients of t^0, ..., t^degree in k0(1 - u + share t), u (1,)."""
    k0, _ = arc_cosine_taylor(u, degree)
    return k0[0] * share ** torch.arange(degree + 1, dtype=torch.float64)
