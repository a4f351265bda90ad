"""Arithmetic of power series in one or more variables, cut at a degree in each: many series at once.

A series is its coefficients, (draws, degree + 1) for one variable, (draws, degree_1 + 1, degree_2 + 1, ...) for more. Where
none is negative everything adds up and nothing cancels: every coefficient keeps its digits, however small it is.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor


def product(a: Tensor, b: Tensor) -> Tensor:
    """a b, for series of the same shape."""
    return (_multiplication(a) @ b.flatten(1).unsqueeze(2)).view_as(b)


def compose(outer: Tensor, step: Tensor) -> tuple[Tensor, ...]:
    """sum_i outer_i step^i for several functions, outer (functions, draws, terms), at series `step` without constant term.

    By Horner's rule, cut at the shape of `step`: one series (draws, ...) for each function.
    """
    by_step = _multiplication(step)
    total = torch.zeros(*by_step.shape[:2], len(outer), dtype=step.dtype)
    for coefficients in reversed(outer.unbind(2)):
        total = by_step @ total
        total[:, 0] += coefficients.T
    return tuple(series.reshape(step.shape) for series in total.unbind(2))


def _multiplication(a: Tensor) -> Tensor:
    """The matrices (draws, N, N) that multiply a series, its N coefficients in one row, by a."""
    return torch.nn.functional.pad(a.flatten(1), (0, 1))[:, _differences(tuple(a.shape[1:]))]


@cache
def _differences(shape: tuple[int, ...]) -> Tensor:
    """Where the exponents i - j stand among the N of this shape, for all i and j; N where one is negative: (N, N)."""
    exponents = np.indices(shape).reshape(len(shape), -1)
    apart = exponents[:, :, None] - exponents[:, None, :]
    place = np.ravel_multi_index(tuple(apart.clip(0)), shape)
    return torch.from_numpy(np.where((apart < 0).any(0), exponents.shape[1], place))
