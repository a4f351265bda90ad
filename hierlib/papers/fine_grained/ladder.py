"""Five ways to label points of a sphere, from easy to hopeless for a two-layer ReLU network that trains lazily."""

import torch
from torch import Tensor

from hierlib.data.labels import random_signs
from hierlib.targets.monomials import monomial

TASKS = ("linear", "quadratic", "cubic", "sign", "random")


def ladder(X: Tensor, beta: Tensor, seed: int, name: str) -> Tensor:
    """One column per task of TASKS, X (n, d), beta (d,) -> (n, 5): t, t^2, t^3 and sign t for t = <beta, x>, and coins.

    The first two powers are learnable by Theorem 6.1 of Arora et al. 2019, the others are not covered by it. The coins
    come from the stream `name`; they ignore X.
    """
    powers = [monomial(X, beta, p) for p in (1, 2, 3)]
    return torch.stack([*powers, powers[0].sign(), random_signs(len(X), seed, name)], dim=1)
