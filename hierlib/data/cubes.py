"""Inputs from the corners of the hypercube."""

import torch
from torch import Tensor

from hierlib.streams import signs, stream


def hypercube(n: int, d: int, seed: int, name: str = "cube") -> Tensor:
    """n independent uniform points of {-1, +1}^d, as rows: (n, d). Divide by sqrt(d) for points of norm one."""
    return signs((n, d), seed, name)


def leaning_hypercube(n: int, d: int, seed: int, name: str = "cube", lean: float = 0.3) -> Tensor:
    """n points of {-1, +1}^d whose coordinates lean together: (n, d), rows independent, coordinates not.

    Each row has a hidden fair sign z, and given z every coordinate is z with probability (1 + lean)/2. So every coordinate
    is fair, E x_i x_j = lean^2, and a product of an even number q of different coordinates has the mean lean^q.
    """
    hidden = signs((n, 1), seed, f"{name}, hidden")
    uniform = torch.rand((n, d), generator=stream(seed, f"{name}, leaning", n, d), dtype=torch.float64)
    return torch.where(uniform < (1 + lean) / 2, hidden, -hidden)


def all_corners(d: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """All 2^d points of {-1, +1}^d, (2^d, d). Row i has x_j = -1 where bit j of i is set."""
    if d > 24:
        raise ValueError(f"2^{d} corners do not fit in memory; d may be at most 24")
    bits = torch.arange(2**d)[:, None] >> torch.arange(d) & 1
    return 1 - 2 * bits.to(dtype)


def unseen_corners(X: Tensor, seed: int) -> Tensor:
    """The corners of the cube that are no rows of X (n, d), in random order: (2^d - distinct rows, d).

    On a small cube a sample holds a good part of all corners. What was learned shows on the others alone.
    """
    corners = all_corners(X.shape[1], X.dtype)
    left = torch.ones(len(corners), dtype=torch.bool)
    left[(X < 0).long() @ 2 ** torch.arange(X.shape[1])] = False
    unseen = corners[left]
    return unseen[torch.randperm(len(unseen), generator=stream(seed, "unseen corners", *X.shape))]
