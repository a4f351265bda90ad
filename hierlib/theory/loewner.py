"""The order of symmetric matrices: B >= A means that B - A is positive semi-definite."""

import torch
from torch import Tensor

RANK = 1e-10  # eigenvalues below this share of the largest are zeros that rounding has moved


def largest_share(B: Tensor, A: Tensor) -> float:
    """The largest c with B >= c A, for B (n, n) positive definite and A (n, n) >= 0, not zero.

    With B = R R', c is one over the largest eigenvalue of R^-1 A R^-T. If A = Y Y', no combination Y w of its columns with
    |w| = 1 has a squared length w' Y' B^-1 Y w above 1 / c, and one of them reaches it (Arora et al. 2019, appendix E).
    """
    root = torch.linalg.cholesky(B)
    half = torch.linalg.solve_triangular(root, A, upper=False)
    whitened = torch.linalg.solve_triangular(root, half.T, upper=False)
    return 1 / torch.linalg.eigvalsh((whitened + whitened.T) / 2)[-1].item()


def inversion_gap(A: Tensor, B: Tensor, projected: bool = True) -> float:
    """Least eigenvalue of A^+ - P B^+ P, where P projects on the range of A, in units of the larger of |A^+| and |B^+|.

    Zero or more whenever B >= A >= 0 (Arora et al. 2019, lemma E.1), up to rounding, which is why the unit knows both
    inverses. Without the projection it is that of A^+ - B^+: the order is then inverted only if A has the range of B.
    """
    inverse, other = (torch.linalg.pinv(matrix, hermitian=True, rtol=RANK) for matrix in (A, B))
    unit = max(torch.linalg.matrix_norm(matrix, 2).item() for matrix in (inverse, other))
    if projected:
        P = A @ inverse
        other = P @ other @ P.T
    difference = inverse - other
    return torch.linalg.eigvalsh((difference + difference.T) / 2)[0].item() / unit
