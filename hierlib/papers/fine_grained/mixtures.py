"""Labels that are mixed from parts: everything linear theory says about them follows from the parts (ours).

A wide lazy network sees labels y only through their projections v_i' y on the eigenvectors of H_inf (Arora et al. 2019,
eq. 8 and lemma 5.3). Projections are linear in y, so those of y = sum_j c_j p_j are the same mixture of those of p_j.
"""

import torch
from torch import Tensor

from hierlib.kernels.spectrum import Spectrum


def coefficients(parts: Tensor, weights: Tensor) -> Tensor:
    """c proportional to the weights (q,), such that sum_j c_j p_j has the norm sqrt(n) of +-1 labels: (q, n) -> (q,)."""
    norm = (weights @ parts).norm()
    if not norm > 0:
        raise ValueError("the mixture is zero: it cannot be rescaled")
    return weights * (parts.shape[1] ** 0.5 / norm)


def eigenvector_labels(vectors: Tensor, first: int, last: int) -> Tensor:
    """Equal parts of the eigenvectors number first..last, counted from one, at norm sqrt(n): (n, n) -> (n,)."""
    n = len(vectors)
    if not 1 <= first <= last <= n:
        raise ValueError(f"eigenvectors {first} to {last} were asked for, there are 1 to {n}")
    return vectors[:, first - 1 : last].sum(1) * (n / (last - first + 1)) ** 0.5


def oriented(eigen: Spectrum, y: Tensor) -> Spectrum:
    """The same eigenpairs with every eigenvector turned towards y, v_i' y >= 0: their signs are otherwise arbitrary."""
    signs = torch.where(eigen.vectors.T @ y < 0, -1.0, 1.0).to(eigen.vectors)
    return Spectrum(eigen.values, eigen.vectors * signs)


def unexplained(movement: Tensor, parts: Tensor, c: Tensor) -> Tensor:
    """Share of a movement of weights (m, d) that is not the mixture c (q,) of the movements for the parts (q, m, d).

    |D - sum_j c_j D_j|^2 / |D|^2: zero for a network that is linear in its labels.
    """
    return ((movement - torch.einsum("j,jrd->rd", c, parts)).norm() / movement.norm()) ** 2
