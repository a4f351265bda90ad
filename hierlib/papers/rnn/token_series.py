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

import itertools
import math
from collections.abc import Mapping

import torch
from torch import Tensor

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
    for product in t.unbind(-1):
        before, q = q, gain * q + s2
        u = (s2 * (1 - product) + gain * before * v) / q
        T = open_share(u) * (gain * T + before * (1 - v) / 2)
        v = defect(u)
    return T


def token_weights(L: int, degrees: Mapping[int, int], s2: float, gain: float = 1.0) -> Tensor:
    """Coefficients of prod_l t_l^p_l in H for the positions l of `degrees` (1 to L), p_l = 0, ..., degrees[l].

    The other t are zero. One axis for each position, in the order of `degrees`: (degree + 1, ...), float64.
    """
    if not degrees or min(degrees) < 1 or max(degrees) > L:
        raise ValueError(f"positions are 1 to {L}, got {sorted(degrees)}")
    shape = tuple(degree + 1 for degree in degrees.values())
    order, zero = sum(degrees.values()), (0,) * len(shape)
    moving = {position: tuple(int(p == position) for p in degrees) for position in degrees}
    one, T = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    one[zero] = 1.0
    c, q, v = one.clone(), 1.0, 0.0  # c = K / q, a series; v = 1 - c at t = 0
    for position in range(1, L + 1):
        before, q = q, gain * q + s2
        u = (s2 + gain * before * v) / q
        step = c * (gain * before / q)
        if degrees.get(position):
            step[moving[position]] += s2 / q
        step[zero] = 0.0  # what the correlation gains over its value at t = 0
        k0, k1 = _taylor(u, order)
        T = _product(_compose(k0, step), gain * T + before / 2 * c)
        c, v = _compose(k1, step), defect_of(u)
    return T


def _taylor(u: float, order: int) -> tuple[list[float], list[float]]:
    """Taylor coefficients of k0 and k1 at z = 1 - u: k1' = k0, and k0' = 1 / (pi sqrt(1 - z^2)) has a positive recursion."""
    z, room = 1 - u, u * (2 - u)
    slope = [1 / math.sqrt(room)] if room else [math.inf]
    for i in range(order):
        earlier = slope[i - 1] if i else 0.0
        slope.append((z * (2 * i + 1) * slope[i] + i * earlier) / (room * (i + 1)))
    k0 = [1 - 2 * math.asin(math.sqrt(u / 2)) / math.pi, *(value / math.pi / (i + 1) for i, value in enumerate(slope))][
        : order + 1
    ]
    k1 = [1 - defect_of(u), *(value / (i + 1) for i, value in enumerate(k0))][: order + 1]
    return k0, k1


def _compose(outer: list[float], step: Tensor) -> Tensor:
    """sum_i outer_i step^i for a series without constant term, cut at the shape of `step` (Horner)."""
    zero = (0,) * step.ndim
    total = torch.zeros_like(step)
    for coefficient in reversed(outer):
        total = _product(total, step)
        total[zero] += coefficient
    return total


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Product of two series, cut at their shape."""
    total = torch.zeros_like(a)
    for index in itertools.product(*map(range, a.shape)):
        if factor := a[index].item():
            shifted = tuple(slice(i, None) for i in index)
            kept = tuple(slice(0, size - i) for i, size in zip(index, a.shape, strict=True))
            total[shifted] += factor * b[kept]
    return total


def contour_weights(L: int, degrees: Mapping[int, int], s2: float, radius: float, points: int = 64) -> Tensor:
    """The same by Cauchy's integral, one Fourier transform on the torus |t_l| = radius: the slow and independent twin.

    The nearest singularity in t_l is at about t_l = l; a weight below 1e-16 of the largest on the torus is lost.
    """
    circle = radius * torch.exp(2j * math.pi * torch.arange(points, dtype=torch.float64) / points)
    t = torch.zeros(*(points,) * len(degrees), L, dtype=torch.complex128)
    for axis, position in enumerate(degrees):
        t[..., position - 1] = circle.reshape([points if i == axis else 1 for i in range(len(degrees))])
    sums = torch.fft.fftn(kernel_of_products(t, s2)).real / points ** len(degrees)
    kept = sums[tuple(slice(0, degree + 1) for degree in degrees.values())]
    return kept / radius ** sum(torch.meshgrid(*(torch.arange(n) for n in kept.shape), indexing="ij"))


def limit_cost(s2: float, L: int, d: int, positions: tuple[int, ...], draws: Tensor) -> float:
    """y' H^-1 y for infinitely many samples of independent uniform tokens, y = prod over positions of <beta_l, x_l>.

    Such a y is an eigenfunction of the kernel, with the eigenvalue E[H prod_l t_l], and E[y^2] = d^-N (Funk and Hecke); the
    mean is over `draws`, inner products t (draws, L) of independent uniform unit vectors. (Not in the paper.)
    """
    chosen = draws[:, [position - 1 for position in positions]].prod(1)
    return 1 / (d ** len(positions) * (kernel_of_products(draws, s2) * chosen).mean().item())
