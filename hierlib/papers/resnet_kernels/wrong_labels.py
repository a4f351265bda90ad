"""The task of Corollary 7.1 of Allen-Zhu and Li 2019 on other inputs and with labels that somebody has spoiled.

Equation (6.2) speaks of any distribution with E 1/2 |H(x) - y|^2 <= OPT. Inputs are rows of length sqrt(d) with
|F(x)| = 1 for F = (x_1, ..., x_4) / 2, as Concept 1 wants (divide by sqrt(d) for unit vectors); coordinates depend on one
another, are biased, or take a continuum of values. Labels are H plus something of mean square `size` = 2 OPT that may
depend on x in any way.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.streams import stream

Inputs = Callable[[int, int, int, str], Tensor]


def _uniform(n: int, d: int, seed: int, *names: str) -> Tensor:
    return torch.rand((n, d), generator=stream(seed, *names, n, d), dtype=torch.float64)


def _unequal(n: int, d: int, seed: int, name: str, minus: float) -> Tensor:
    """Independent signs that are -1 with probability `minus`: (n, d)."""
    return torch.where(_uniform(n, d, seed, name, "unequal") < minus, -1.0, 1.0).double()


def chained(n: int, d: int, seed: int, name: str, turn: float = 0.4) -> Tensor:
    """Corners in which every coordinate is the one before it, or with probability `turn` its negative: (n, d).

    The first one is -1 with probability `turn`. So E x_i x_j = (1 - 2 turn)^|i - j|, and means are (1 - 2 turn)^i.
    """
    return _unequal(n, d, seed, f"{name}, chain", turn).cumprod(1)


def biased(n: int, d: int, seed: int, name: str, minus: float = 0.4) -> Tensor:
    """Corners with independent coordinates that are -1 with probability `minus`: (n, d)."""
    return _unequal(n, d, seed, f"{name}, biased", minus)


def copied(n: int, d: int, seed: int, name: str, wrong: float = 0.3) -> Tensor:
    """Corners whose second half repeats the first, each sign wrong with probability `wrong`: (n, d), d even."""
    X = hypercube(n, d // 2, seed, name)
    return torch.cat([X, X * _unequal(n, d // 2, seed, f"{name}, copies", wrong)], 1)


def on_circles(n: int, d: int, seed: int, name: str, minus: float = 0.45, spread: float = math.pi / 15) -> Tensor:
    """Neighbours (x_1, x_2), (x_3, x_4), ... are points of circles of radius sqrt(2): (n, d), d even.

    Angles are uniform up to `spread` to either side of the diagonals; signs are -1 with probability `minus`.
    """
    angle = math.pi / 4 + spread * (2 * _uniform(n, d // 2, seed, name, "angles") - 1)
    points = 2**0.5 * torch.stack([angle.cos(), angle.sin()], 2).reshape(n, d)
    return points * _unequal(n, d, seed, f"{name}, quadrants", minus)


def target(X: Tensor, alpha: float) -> tuple[Tensor, Tensor]:
    """F(x) = (x_1, ..., x_4) / 2 and alpha G(F(x)), all of whose entries are alpha x_1 x_2 x_3 x_4 / 2: both (n, 4)."""
    return X[:, :4] / 2, alpha / 2 * X[:, :4].prod(1, keepdim=True).expand(-1, 4)


def spoiled(kind: str, X: Tensor, alpha: float, size: float, seed: int, name: str) -> Tensor:
    """Labels at corners X with E |y - H|^2 = size, by a kind of KINDS: (n, 4)."""
    F, G = target(X, alpha)
    n = X.shape[0]
    chance = _uniform(n, 1, seed, name, "chance")
    last = torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64)
    if kind == "signs flipped":  # |2 H|^2 = 4 (1 + alpha^2) in the mean over uniform corners
        return torch.where(chance < size / (4 * (1 + alpha**2)), -(F + G), F + G)
    if kind == "negative products flipped":  # |2 alpha G|^2 = 4 alpha^2 where the product is -1
        return torch.where((chance < size / (2 * alpha**2)) & (G[:, :1] < 0), F - G, F + G)
    if kind == "a coordinate added":
        return F + G + size**0.5 / 2 * X[:, -1:]
    if kind == "a base coordinate weakened":
        return F + G - size**0.5 * X[:, 3:4] * last
    if kind == "a base coordinate exchanged":
        return F + G + (size / 2) ** 0.5 * (X[:, 4:5] - X[:, 3:4]) * last
    if kind == "the product weakened":
        return F + G - size**0.5 / alpha * G
    raise ValueError(f"labels can be spoiled in these ways: {', '.join(KINDS)}; not {kind!r}")


KINDS = (
    "signs flipped",
    "negative products flipped",
    "a coordinate added",
    "a base coordinate weakened",
    "a base coordinate exchanged",
    "the product weakened",
)
