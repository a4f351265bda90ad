"""Ways to label points of a sphere, from easy to hopeless for a two-layer ReLU network that trains lazily."""

import torch
from scipy import stats
from torch import Tensor

from hierlib.data.labels import random_signs
from hierlib.targets.powers import monomial

TASKS = ("linear", "quadratic", "cubic", "sign", "random")


def ladder(X: Tensor, beta: Tensor, seed: int, name: str) -> Tensor:
    """One column per task of TASKS, X (n, d), beta (d,) -> (n, 5): t, t^2, t^3 and sign t for t = <beta, x>, and coins.

    The first two powers are learnable by Theorem 6.1 of Arora et al. 2019, the others are not covered by it. The coins
    come from the stream `name`; they ignore X.
    """
    powers = [monomial(X, beta, p) for p in (1, 2, 3)]
    return torch.stack([*powers, powers[0].sign(), random_signs(len(X), seed, name)], dim=1)


def cap(X: Tensor, centre: Tensor, probability: float) -> Tensor:
    """A target that is hard to see: one on a cap that a uniform point of the sphere is in with the given probability.

    1{<centre, x_i> > t} for X (n, d) and a centre (d,) of norm one -> (n,). In R^d, (1 + <centre, x>) / 2 has the law
    Beta((d-1)/2, (d-1)/2), which gives t.
    """
    shape = (len(centre) - 1) / 2
    threshold = 2 * stats.beta.isf(probability, shape, shape) - 1
    return (X @ centre > threshold).to(X)
