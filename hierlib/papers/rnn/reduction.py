"""The reduction of a recurrent network to a sum over times, of earlier work, as a kernel (Wang et al. 2021, Section 5).

    f ~ sum_l Back^0_l 1{W h_(l-1) + A x_l >= 0} W* h_(l-1),   Back^0 of a fixed sequence,

is linear in W*. At infinite width and for tokens of norm one its kernel is a function of the inner products t_l,

    1/2 sum_l k0(z_l) K^(l-1),                                 and, with the states of the fixed sequence in place of h,
    1/2 sum_l k0((1 + s2 t_l) / (1 + s2)),

of which only the second is a sum of functions of one token each. (The kernels are ours; the paper has the expression.)
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from hierlib.papers.rnn.token_series import defect, open_share


def frozen_backward(t: Tensor, s2: float) -> Tensor:
    """The kernel with the backward part alone frozen, at inner products t (..., L), real or complex: (...)."""
    q, v, total = 1.0, torch.zeros_like(t[..., 0]), torch.zeros_like(t[..., 0])
    for product in t.unbind(-1):
        before, q = q, q + s2
        u = (s2 * (1 - product) + before * v) / q
        total = total + open_share(u) * before * (1 - v) / 2
        v = defect(u)
    return total


def frozen_states(t: Tensor, s2: float) -> Tensor:
    """The kernel with backward part and states frozen (at those of the sequence of zeros): (...)."""
    return open_share(s2 * (1 - t) / (1 + s2)).sum(-1) / 2


def second_order(kernel: Callable[[Tensor], Tensor], L: int, a: int, b: int) -> Tensor:
    """Taylor coefficients of t_a^i t_b^j, i and j up to 2, the other t at zero: (3, 3), by Cauchy's integral."""
    radius, points = 0.5, 16
    circle = radius * torch.exp(2j * math.pi * torch.arange(points, dtype=torch.float64) / points)
    t = torch.zeros(points, points, L, dtype=torch.complex128)
    t[..., a - 1], t[..., b - 1] = circle[:, None], circle
    sums = torch.fft.fft2(kernel(t)).real[:3, :3] / points**2
    return sums / radius ** torch.tensor([[0, 1, 2], [1, 2, 3], [2, 3, 4]])
