"""The complexity measure of Arora et al. 2019: a bound on the test error that is known before training."""

import torch
from torch import Tensor

from hierlib.kernels.spectrum import inverse_norm


def complexity(H: Tensor, y: Tensor) -> Tensor:
    """sqrt(2 y' H^-1 y / n) (Arora et al. 2019, eq. 10): y (n,) -> scalar, or (n, q) -> one value per column (q,)."""
    return inverse_norm(H, y) * (2 / len(H)) ** 0.5


def expected_square(H: Tensor, y: Tensor, portions: Tensor) -> Tensor:
    """Mean of the squared measure when every +-1 label is redrawn with probability rho: portions (q,) -> (q,).

    2/n [(1-rho)^2 y' H^-1 y + (1 - (1-rho)^2) tr H^-1], because redrawn labels are independent of everything. At
    rho = 1 it is at least 2 n / tr H = 4: the measure of random labels is 2 or more on every data set.
    """
    kept = (1 - portions) ** 2
    trace = torch.cholesky_inverse(torch.linalg.cholesky(H)).trace()
    return 2 / len(H) * (kept * inverse_norm(H, y) ** 2 + (1 - kept) * trace)
