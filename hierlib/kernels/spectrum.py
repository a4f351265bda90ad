"""Eigenvalues, eigenvectors and the inverse norm of a symmetric positive definite matrix."""

from typing import NamedTuple

import torch
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
