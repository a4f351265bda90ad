"""Sequences of tokens in R^d, and labels that a teacher gives with a margin."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.data.spheres import unit_sphere
from hierlib.streams import stream


class Labelled(NamedTuple):
    """Sequences X (n, L, d), the teacher's values F (n,) with |F| >= 1, and their signs y (n,)."""

    X: Tensor
    F: Tensor
    y: Tensor


def token_sequences(
    n: int, L: int, d: int, seed: int, name: str = "sequences", norms: tuple[float, float] = (1.0, 1.0)
) -> Tensor:
    """Independent tokens, uniform in direction, with norms uniform in an interval: (n, L, d)."""
    X = unit_sphere(n * L, d, seed, name).reshape(n, L, d)
    low, high = norms
    if low == high == 1.0:
        return X
    sizes = torch.rand(n, L, 1, generator=stream(seed, name, "norms", n, L), dtype=torch.float64)
    return X * (low + (high - low) * sizes)


def with_margin(X: Tensor, values: Tensor, share: float = 0.5) -> Labelled:
    """The `share` of the sequences whose values (n,) are largest in size, values divided by the smallest size that is kept.

    The labels then have margin one, y F >= 1, as the theorems of Wang et al. 2021 ask for.
    """
    sizes = values.abs()
    kept = sizes >= sizes.quantile(1 - share)
    F = values[kept] / sizes[kept].min()
    return Labelled(X[kept], F, F.sign())


def labelled(
    n: int, L: int, d: int, seed: int, teacher: Callable[[Tensor], Tensor], share: float = 0.5, name: str = "labelled"
) -> Labelled:
    """About n sequences of unit tokens with margin one under a teacher X -> values: the best of n / share."""
    X = token_sequences(round(n / share), L, d, seed, name)
    return with_margin(X, teacher(X), share)
