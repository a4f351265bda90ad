"""Powers of linear functions, the building block of Arora et al. 2019, section 6."""

from torch import Tensor


def monomial(X: Tensor, beta: Tensor, p: int, alpha: float = 1.0) -> Tensor:
    """y_i = alpha <beta, x_i>^p (Arora et al. 2019, theorem 6.1): X (n, d), beta (d,) -> (n,)."""
    return alpha * (X @ beta) ** p
