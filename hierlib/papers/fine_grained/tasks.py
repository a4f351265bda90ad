"""Ways to label points of a sphere on which the bounds of Arora et al. 2019 can be told from a guess.

A bound has power where it is below what a constant achieves. The measure sqrt(2 y' H^-1 y / n) gets there for labels that
are bounded sums of the powers 1, 2, 4, ... of linear functions (theorem 6.1), if they also fill the range from -1 to 1.
"""

import torch
from torch import Tensor

from hierlib.data.spheres import around_axis, unit_sphere
from hierlib.streams import signs, stream

NOISE = 0.0125
TASKS = ("linear", "square", "noisy")


def height_tasks(X: Tensor, seed: int, name: str, noise: float = NOISE) -> Tensor:
    """One column per task of TASKS, X (n, d) -> (n, 3): s, s^2 and (1 - noise) s + noise * coin.

    s is the first coordinate. The coins come from the stream `name` and ignore X.
    """
    s = X[:, 0]
    coins = signs((len(X),), seed, "coins", name)
    return torch.stack([s, s.square(), (1 - noise) * s + noise * coins], dim=1)


def ring(n: int, d: int, seed: int, name: str, radius: float, noise: float) -> tuple[Tensor, Tensor]:
    """Three tasks that fill the range on the same inputs: X (n, d) with (x_1, x_2) = radius (cos t, sin t), and Y (n, 3).

    The angle t is uniform, the other coordinates are uniform on their sphere. The columns are cos t = x_1 / radius, then the
    square cos 2t = (x_1^2 - x_2^2) / radius^2, and (1 - noise) cos 2t + noise * coin. For every n, y' H^-1 y is at most
    4 / radius^2 for the first and 4 pi / radius^4 for the second (Arora et al. 2019, theorem 6.1 and the series behind it).
    """
    t = 2 * torch.pi * torch.rand(n, generator=stream(seed, "ring", name, n), dtype=torch.float64)
    around = radius * torch.stack([t.cos(), t.sin()], dim=1)
    rest = (1 - radius**2) ** 0.5 * unit_sphere(n, d - 2, seed, name)
    square = (2 * t).cos()
    noisy = (1 - noise) * square + noise * signs((n,), seed, "coins", name)
    return torch.cat([around, rest], dim=1), torch.stack([t.cos(), square, noisy], dim=1)


def four_corners(n: int, d: int, seed: int, name: str, height: float, flips: float = 0.0) -> tuple[Tensor, Tensor]:
    """Two questions about the same inputs: X (n, d) with first coordinates (+-height, +-height), and labels Y (n, 2) = +-1.

    The first column is the sign of x_1, the second that of x_1 x_2 (exclusive or: no linear classifier is better than a
    guess). A share `flips` of the rows of Y (in expectation) is turned round, at random and whatever the input is. Without
    it y = x_1 / height is linear and y = x_1 x_2 / height^2 a quadratic form x' A x with |A|_F^2 = 1 / (2 height^4): for
    every n, y' H^-1 y <= 4 / height^2 and <= pi / height^4 (Arora et al. 2019, theorem 6.1 and the series behind it).
    """
    corner = signs((n, 2), seed, "corners", name)
    heights = torch.full((n,), height / (1 - height**2) ** 0.5, dtype=torch.float64)
    rest = (1 - height**2) ** 0.5 * around_axis(heights * corner[:, 1], d - 1, seed, name)
    turned = torch.rand(n, generator=stream(seed, "flips", name, n), dtype=torch.float64) < flips
    questions = torch.stack([corner[:, 0], corner.prod(1)], dim=1)
    return torch.cat([height * corner[:, :1], rest], dim=1), torch.where(turned[:, None], -questions, questions)
