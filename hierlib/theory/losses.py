"""Pointwise losses of predictions u against labels y, from the smallest to the largest: zero-one <= ramp <= l1."""

from torch import Tensor


def zero_one(u: Tensor, y: Tensor) -> Tensor:
    """1 where the sign is wrong; u = 0 counts as wrong."""
    return (u * y <= 0).to(u)


def ramp(u: Tensor, y: Tensor) -> Tensor:
    """1 - u y cut to [0, 1], for labels +-1 (Arora et al. 2019, appendix D.4)."""
    return (1 - u * y).clamp(0, 1)


def absolute(u: Tensor, y: Tensor) -> Tensor:
    """|u - y|."""
    return (u - y).abs()


def cut_absolute(u: Tensor, y: Tensor) -> Tensor:
    """|u - y| cut at 1: 1-Lipschitz with values in [0, 1], as Theorem 5.1 of Arora et al. 2019 wants it."""
    return absolute(u, y).clamp(max=1)
