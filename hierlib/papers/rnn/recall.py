"""What the kernel of a recurrent network recalls of each token of a sequence: measured, and predicted without a fit. (Ours.)

The coordinates of a token are eigenfunctions of the limit kernel for independent uniform tokens, with the eigenvalue
lambda_p = E[H t_p] (Funk and Hecke). For ridgeless regression on n samples an eigenfunction comes back with the share

    learnability = lambda / (lambda + kappa),   R^2 = 1 - overfit (1 - learnability)^2,
    1 / kappa = tr H^-1,   overfit = n tr H^-2 / (tr H^-1)^2

(the "eigenlearning" theory of Simon, Dickens, Karkada and DeWeese 2023, with its two constants read off the Gram matrix).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from hierlib.kernels.ridge import interpolant
from hierlib.papers.rnn.token_series import kernel_of_products


def measured_recall(H: Tensor, rows: Tensor, X: Tensor, new: Tensor) -> Tensor:
    """R^2 on new sequences (p, L, d) of the coordinates of every token, learned from X (n, L, d): (L,)."""
    n, L, d = X.shape
    answers = interpolant(H, X.reshape(n, L * d), rows).reshape(-1, L, d)
    return 1 - (answers - new).square().sum((0, 2)) / new.square().sum((0, 2))


def token_eigenvalues(positions: Sequence[int], s2: float, gain: float, draws: Tensor) -> Tensor:
    """lambda_p for these positions (from 1) from inner products of independent uniform unit vectors, draws (N, L).

    Each draw is paired with the one in which t_p has the other sign, so that everything even in t_p cancels exactly.
    """
    rows, columns = range(len(positions)), [position - 1 for position in positions]
    signs = torch.ones(len(positions), draws.shape[1], dtype=draws.dtype)
    signs[rows, columns] = -1
    flipped = kernel_of_products(draws * signs[:, None, :], s2, gain)  # (positions, N)
    return ((kernel_of_products(draws, s2, gain) - flipped) * draws[:, columns].T).mean(1) / 2


def predicted_recall(H: Tensor, eigenvalues: Tensor) -> Tensor:
    """R^2 of eigenfunctions with these eigenvalues, for the Gram matrix H (n, n) of the samples."""
    inverse = 1 / torch.linalg.eigvalsh(H)
    missed = 1 - eigenvalues / (eigenvalues + 1 / inverse.sum())
    return 1 - len(H) * inverse.square().sum() / inverse.sum() ** 2 * missed.square()
