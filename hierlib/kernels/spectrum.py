"""Eigenvalues, eigenvectors and the inverse norm of a symmetric positive definite matrix."""

from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor

from hierlib.streams import normals


class Spectrum(NamedTuple):
    """Eigenvalues (n,) in descending order and the eigenvectors as columns (n, n)."""

    values: Tensor
    vectors: Tensor


def spectrum(H: Tensor) -> Spectrum:
    """Eigenpairs of a symmetric matrix, largest first, always in float64.

    The smallest eigenvalues of real Gram matrices are 1e-4 to 1e-6 of the largest: float32 cannot see them.
    """
    values, vectors = torch.linalg.eigh(H.double())
    return Spectrum(values.flip(0), vectors.flip(1))


def top_spectrum(H: Tensor, count: int, seed: int, rounds: int = 8) -> Spectrum:
    """The first `count` eigenpairs of a positive semi-definite matrix (n, n) that is too large for all of them.

    Subspace iteration from a random block of twice that many columns, then Rayleigh and Ritz: each round shrinks what is
    wrong with eigenvector i by lambda_(2 count) / lambda_i. The products run in the precision of H, the values are float64.
    """
    block = normals((len(H), min(len(H), 2 * count + 10)), seed, "subspace").to(H)
    for _ in range(rounds):
        block = torch.linalg.qr(H @ block).Q
    inner = spectrum(block.T @ (H @ block))
    return Spectrum(inner.values[:count], block.double() @ inner.vectors[:, :count])


def energies(vectors: Tensor, y: Tensor) -> Tensor:
    """Share of |y|^2 on each eigenvector, (v_i' y)^2 / |y|^2: sums to one."""
    return (vectors.T @ y) ** 2 / (y @ y)


def inverse_norm(H: Tensor, y: Tensor) -> Tensor:
    """sqrt(y' H^-1 y) by Cholesky: y (n,) -> scalar, or one value per column of y (n, q) -> (q,).

    The length of the path that gradient descent takes to fit y (Arora et al. 2019, lemma 5.3).
    """
    columns = y[:, None] if y.ndim == 1 else y
    half = torch.linalg.solve_triangular(torch.linalg.cholesky(H), columns, upper=False)
    return half.norm(dim=0).squeeze(0) if y.ndim == 1 else half.norm(dim=0)


def inverse_squares(eigen: Spectrum, y: Tensor) -> Tensor:
    """(v_i' y)^2 / lambda_i, the terms of y' H^-1 y on the eigenvectors: (n,)."""
    return (eigen.vectors.T @ y) ** 2 / eigen.values


def spectral_inverse_norm(eigen: Spectrum, y: Tensor) -> Tensor:
    """`inverse_norm` of labels y (n,) where the eigenpairs of H are at hand: a scalar."""
    return inverse_squares(eigen, y).sum().sqrt()


def extreme_eigenvalues(H: Tensor, factor: Tensor | None = None, tolerance: float = 1e-4) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of a positive definite matrix, by Lanczos on H and on its inverse.

    A factorisation and a few dozen products instead of all n eigenvalues; `factor` is the lower Cholesky factor, where it
    is at hand. `tolerance` is relative and that of the eigenvectors; the error of the eigenvalues is of its square.
    """
    lower = torch.linalg.cholesky(H) if factor is None else factor

    def solve(v: np.ndarray) -> np.ndarray:
        return torch.cholesky_solve(torch.from_numpy(v.reshape(-1, 1)), lower)[:, 0].numpy()

    start = normals((len(H),), 0, "start of Lanczos").numpy()
    inverse = LinearOperator(H.shape, matvec=solve, dtype=np.float64)
    settings = {"k": 1, "which": "LA", "v0": start, "tol": tolerance, "return_eigenvectors": False}
    top, bottom = (eigsh(A, **settings)[0] for A in (H.numpy(), inverse))
    return 1 / float(bottom), float(top)
