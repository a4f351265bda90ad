"""Ridge regression with a kernel or with explicit features, for a whole list of ridges at once.

    minimise over beta   1/N sum_i |sum_j K(x_i, x_j) beta_j - y_i|^2 + ridge Tr(beta' K beta)

(Allen-Zhu and Li 2019, eq. 3.1) has the solution beta = (K + N ridge I)^-1 Y. One eigendecomposition of K serves all
ridges and all outputs. Without a ridge it is the interpolant, which a factorisation gives faster.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


class RidgePath:
    """The solutions for one kernel matrix K (N, N) and labels Y (N, q). Everything returned has the ridges as first axis."""

    def __init__(self, K: Tensor, Y: Tensor):
        if Y.ndim != 2:
            raise ValueError(f"labels need one column per output, got shape {tuple(Y.shape)}")
        values, self.vectors = torch.linalg.eigh(K)
        self.values = values.clamp(min=0)
        self.rotated = self.vectors.T @ Y

    def coefficients(self, ridges: Sequence[float]) -> Tensor:
        """beta = (K + N ridge I)^-1 Y: (r, N, q)."""
        return self.vectors @ (self._shrinkage(ridges)[:, :, None] * self.rotated)

    def norms(self, ridges: Sequence[float]) -> Tensor:
        """beta' K beta, the square norm of each output in the space of the kernel: (r, q)."""
        return (self.values * self._shrinkage(ridges).square()) @ self.rotated.square()

    def predict(self, rows: Tensor, ridges: Sequence[float]) -> Tensor:
        """Predictions at new points, rows K(x, x_j) (p, N): (r, p, q)."""
        return rows @ self.coefficients(ridges)

    def errors(self, rows: Tensor, targets: Tensor, ridges: Sequence[float]) -> Tensor:
        """Mean over the points of the squared error, per output: rows (p, N), targets (p, q) -> (r, q)."""
        return (self.predict(rows, ridges) - targets).square().mean(1)

    def _shrinkage(self, ridges: Sequence[float]) -> Tensor:
        """1 / (eigenvalue + N ridge): (r, N)."""
        return 1 / _shifted(self.values, len(self.values), ridges)


def ridge_features(Phi: Tensor, Y: Tensor, ridges: Sequence[float]) -> Tensor:
    """Weights w that minimise 1/N |Phi w - Y|^2 + ridge |w|^2: Phi (..., N, m), Y (..., N, q) -> (..., r, m, q).

    Training the last layer of a network is this, with Phi its last hidden layer. It goes through the smaller one of
    Phi Phi' (N, N) and Phi' Phi (m, m). Leading axes are separate problems (one network each).
    """
    n, m = Phi.shape[-2:]
    wide = m > n
    values, vectors = torch.linalg.eigh(Phi @ Phi.mT if wide else Phi.mT @ Phi)
    rotated = vectors.mT @ (Y if wide else Phi.mT @ Y)
    shrunk = rotated[..., None, :, :] / _shifted(values, n, ridges)[..., None]
    weights = vectors[..., None, :, :] @ shrunk
    return Phi.mT[..., None, :, :] @ weights if wide else weights


def interpolant(H: Tensor, Y: Tensor, rows: Tensor) -> Tensor:
    """f(x) = h(x)' H^-1 y, the function of least norm through the labels: ridge regression in the limit of no ridge.

    H (n, n) between the samples, Y (n,) or one column of labels per task (n, q), rows h(x) (p, n) between new points
    and samples -> (p,) or (p, q). Gradient descent on a wide network that starts at zero ends here.
    """
    columns = Y[:, None] if Y.ndim == 1 else Y
    values = rows @ torch.cholesky_solve(columns, torch.linalg.cholesky(H))
    return values.squeeze(1) if Y.ndim == 1 else values


def _shifted(values: Tensor, n: int, ridges: Sequence[float]) -> Tensor:
    """eigenvalue + n ridge for all ridges: (..., N) -> (..., r, N). Rounding makes some eigenvalues slightly negative."""
    if min(ridges) <= 0:
        raise ValueError("a ridge must be positive, else the solution need not be unique")
    return values.clamp(min=0)[..., None, :] + n * torch.tensor(ridges, dtype=values.dtype)[:, None]
