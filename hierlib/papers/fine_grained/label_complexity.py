"""The complexity measure of Arora et al. 2019: a bound on the test error that is known before training."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.spectrum import extreme_eigenvalues, inverse_norm


def complexity(H: Tensor, y: Tensor) -> Tensor:
    """sqrt(2 y' H^-1 y / n) (Arora et al. 2019, eq. 10): y (n,) -> scalar, or (n, q) -> one value per column (q,)."""
    return inverse_norm(H, y) * (2 / len(H)) ** 0.5


def expected_square(H: Tensor, y: Tensor, shares: Tensor) -> Tensor:
    """Mean of the squared measure when every +-1 label is redrawn with probability rho: shares rho (q,) -> (q,).

    2/n [(1-rho)^2 y' H^-1 y + (1 - (1-rho)^2) tr H^-1], because redrawn labels are independent of everything. At
    rho = 1 it is at least 2 n / tr H = 4: the measure of random labels is 2 or more on every data set.
    """
    kept = (1 - shares) ** 2
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(H))
    return 2 / len(H) * (kept * (y @ inverse @ y) + (1 - kept) * inverse.trace())


def second_term(n: int, smallest: float, delta: float) -> float:
    """The O(sqrt(log(n / (lambda_0 delta)) / n)) of Theorem 5.1 with the constants of its proof (Arora et al. 2019, D.3).

    1/sqrt(n) of training loss, 2 * 2/sqrt(n) of Rademacher complexity beyond the measure, and Theorem B.1 for every class
    of radius B = 1, 2, ..., sqrt(n / lambda_0) + 1 at once, at a failure probability of delta / 3 for all of them together.
    """
    classes = math.ceil((n / smallest) ** 0.5) + 1
    return 5 / n**0.5 + 3 * (math.log(6 * classes / delta) / (2 * n)) ** 0.5


class LimitFit(NamedTuple):
    """What one factorisation of H_inf (n, n) tells about q sets of labels and p new points."""

    measure: Tensor  # sqrt(2 y' H^-1 y / n): (q,)
    guesses: Tensor  # h(x)' H^-1 y, the infinitely wide network after infinite training from zero: (p, q)
    smallest: float  # eigenvalues of H_inf
    largest: float


def limit_fit(H: Tensor, Y: Tensor, rows: Tensor) -> LimitFit:
    """Measure, limit of training and extreme eigenvalues: Y (n, q) labels in columns, rows h(x) (p, n)."""
    lower = torch.linalg.cholesky(H)
    half = torch.linalg.solve_triangular(lower, Y, upper=False)
    weights = torch.linalg.solve_triangular(lower.T, half, upper=True)
    return LimitFit(half.norm(dim=0) * (2 / len(H)) ** 0.5, rows @ weights, *extreme_eigenvalues(H, lower))
