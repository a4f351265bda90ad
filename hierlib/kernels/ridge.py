"""Ridge regression with a kernel or with explicit features, for a whole list of ridges at once.

    minimise over beta   1/N sum_i |sum_j K(x_i, x_j) beta_j - y_i|^2 + ridge Tr(beta' K beta)

(Allen-Zhu and Li 2019, eq. 3.1) has the solution beta = (K + N ridge I)^-1 Y. One eigendecomposition of K serves all
ridges and all outputs.
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
        self.values = values.clamp(min=0)  # rounding makes some of them slightly negative
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
        if min(ridges) <= 0:
            raise ValueError("a ridge must be positive, else the solution need not be unique")
        n = len(self.values)
        return 1 / (self.values + n * torch.tensor(ridges, dtype=self.values.dtype)[:, None])


def ridge_features(Phi: Tensor, Y: Tensor, ridges: Sequence[float]) -> Tensor:
    """Weights w that minimise 1/N |Phi w - Y|^2 + ridge |w|^2: Phi (..., N, m), Y (..., N, q) -> (..., r, m, q).

    Training the last layer of a network is this, with Phi its last hidden layer. It goes through the smaller one of
    Phi Phi' (N, N) and Phi' Phi (m, m). Leading axes are separate problems (one network each).
    """
    if min(ridges) <= 0:
        raise ValueError("a ridge must be positive, else the solution need not be unique")
    n, m = Phi.shape[-2:]
    wide = m > n
    values, vectors = torch.linalg.eigh(Phi @ Phi.mT if wide else Phi.mT @ Phi)
    rotated = vectors.mT @ (Y if wide else Phi.mT @ Y)
    shifts = n * torch.tensor(ridges, dtype=values.dtype)[:, None]
    shrunk = rotated[..., None, :, :] / (values.clamp(min=0)[..., None, :] + shifts)[..., None]
    weights = vectors[..., None, :, :] @ shrunk
    return Phi.mT[..., None, :, :] @ weights if wide else weights
