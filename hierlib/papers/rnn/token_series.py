"""What the kernel of the recurrent network knows of each token: its Taylor weights (Wang et al. 2021, Sec. 4.3, App. G).

For tokens of norm one the limit kernel is a function H(t_1, ..., t_L) of the inner products t_l = <x_l, y_l>, a power series
whose coefficients are not negative. By Schur's product theorem every monomial is a lower bound, H >= weight prod_l T_l^p_l,
so that a teacher prod_l <beta_l, x_l>^p_l with |beta_l| = 1 costs at most y' H^-1 y <= 1 / weight, for every sample.

The recursion is followed in the distance u = 1 - z of a correlation from one, where nothing cancels:

    u_l = (s2 (1 - t_l) + gain q_(l-1) v_(l-1)) / q_l,   v = 1 - k1(1 - u),   q_l = gain q_(l-1) + s2.

The derivatives of k0 and k1 between 0 and 1 are positive, so in power series arithmetic everything adds up and nothing
cancels either: every weight has its relative accuracy, however small it is. Contour integrals, the usual way, lose a weight
that is less than a rounding error of H. (The weights are not in the paper, which bounds them.)
"""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from hierlib.theory.cut_series import compose, product

SMALL = 1e-6  # below it the first terms of the series are exact to 1e-12 and cheaper than special functions


def defect(u: Tensor) -> Tensor:
    """v = 1 - k1(1 - u) = u - (sqrt(u (2 - u)) - (1 - u) arccos(1 - u)) / pi, without cancellation; u real or complex."""
    lost = (u * (2 - u)).sqrt() - (1 - u) * _angle(u)
    series = u.sqrt() * u * (2 * math.sqrt(2) / 3) * (1 + 0.05 * u)
    return u - torch.where(u.abs() < SMALL, series, lost) / math.pi


def open_share(u: Tensor) -> Tensor:
    """k0(1 - u) = 1 - arccos(1 - u) / pi; u real or complex."""
    return 1 - _angle(u) / math.pi


def defect_of(u: float) -> float:
    """`defect` of one number, for recursions that go from number to number."""
    lost = math.sqrt(u * (2 - u)) - (1 - u) * 2 * math.asin(math.sqrt(u / 2))
    series = u**1.5 * (2 * math.sqrt(2) / 3) * (1 + 0.05 * u)
    return u - (series if u < SMALL else lost) / math.pi


def _angle(u: Tensor) -> Tensor:
    """arccos(1 - u) = 2 arcsin(sqrt(u / 2)), exact for small u."""
    return 2 * (u / 2).sqrt().arcsin()


def kernel_of_products(t: Tensor, s2: float, gain: float = 1.0) -> Tensor:
    """H at inner products t (..., L) of unit tokens, real or complex: (...)."""
    q = 1.0
    v, T = torch.zeros_like(t[..., 0]), torch.zeros_like(t[..., 0])
    for cosine in t.unbind(-1):
        before, q = q, gain * q + s2
        u = (s2 * (1 - cosine) + gain * before * v) / q
        T = open_share(u) * (gain * T + before * (1 - v) / 2)
        v = defect(u)
    return T


def token_weights(L: int, degrees: Mapping[int, int], s2: float, gain: float = 1.0) -> Tensor:
    """Coefficients of prod_l t_l^p_l in H for the positions l of `degrees` (1 to L), p_l = 0, ..., degrees[l].

    The other t are zero. One axis for each position, in the order of `degrees`: (degree + 1, ...), float64.
    """
    return kernel_series(torch.zeros(1, L, dtype=torch.float64), degrees, s2, gain)[0]


def kernel_series(
    t: Tensor, degrees: Mapping[int, int], s2: float, gain: float = 1.0, squares: Sequence[float] | None = None
) -> Tensor:
    """The same where the other tokens have the cosines t (draws, L): (draws, degree + 1, ...).

    `squares` are the squared norms of the tokens, the same in all samples, one if omitted: t_l then is their cosine.
    """
    draws, L = t.shape
    if not degrees or min(degrees) < 1 or max(degrees) > L:
        raise ValueError(f"positions are 1 to {L}, got {sorted(degrees)}")
    squares = [1.0] * L if squares is None else squares
    others = t.clone()
    others[:, [position - 1 for position in degrees]] = 0.0
    u, q = distances(others, squares, s2, gain)
    taylor = arc_cosine_taylor(u, sum(degrees.values()))
    T = torch.zeros(draws, *(degree + 1 for degree in degrees.values()), dtype=torch.float64)
    c = T.clone()  # K / q
    c.view(draws, -1)[:, 0] = 1.0
    for l in range(1, L + 1):  # noqa: E741
        step = c * (gain * q[l - 1] / q[l])  # what the correlation gains over its value at t = 0
        step.view(draws, -1)[:, 0] = 0.0
        if degrees.get(l):
            first_power: tuple[slice | int, ...] = (slice(None), *(int(position == l) for position in degrees))
            step[first_power] += s2 * squares[l - 1] / q[l]
        terms = None if l >= min(degrees) else 1  # before the first of the tokens all series are numbers
        on, after = compose(taylor[:, l - 1, :, :terms], step)
        T, c = product(on, gain * T + q[l - 1] / 2 * c), after
    return T


def distances(t: Tensor, squares: Sequence[float], s2: float, gain: float = 1.0) -> tuple[Tensor, list[float]]:
    """u_1, ..., u_L as (L, draws) and q_0, ..., q_L, for tokens of these squared norms with the cosines t (draws, L)."""
    u, q, v = [], [1.0], torch.zeros(len(t), dtype=t.dtype)
    for cosine, square in zip(t.unbind(1), squares, strict=True):
        q.append(gain * q[-1] + s2 * square)
        u.append((s2 * square * (1 - cosine) + gain * q[-2] * v) / q[-1])
        v = defect(u[-1])
    return torch.stack(u), q


def arc_cosine_taylor(u: Tensor, order: int) -> Tensor:
    """Taylor coefficients of k0 and k1 at z = 1 - u, u of any shape: (2, ..., order + 1).

    k1' = k0, and k0' = 1 / (pi sqrt(1 - z^2)) has a recursion whose terms are positive for z > 0.
    """
    z, room = 1 - u, u * (2 - u)
    slope = [room.rsqrt() / math.pi]
    for i in range(order):
        earlier = slope[i - 1] if i else 0.0
        slope.append((z * (2 * i + 1) * slope[i] + i * earlier) / (room * (i + 1)))
    k0 = [open_share(u), *(value / (i + 1) for i, value in enumerate(slope))]
    k1 = [1 - defect(u), *(value / (i + 1) for i, value in enumerate(k0))]
    return torch.stack([torch.stack(k[: order + 1], -1) for k in (k0, k1)])
