"""Kernel regression on many targets at once: x_i + alpha chi_S, i in S, for many sets S (Allen-Zhu and Li 2019, section 7).

Predictions are linear in the labels, so the coordinates and the products are each fitted once, with one factorisation of
the kernel matrix; the errors over all 2^d corners are finite sums, as in `cube_regression`.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from hierlib.kernels.walsh import degree_kernel, products, spectrum_by_degree
from hierlib.papers.resnet_kernels.cube_regression import squared_kernel

Kernel = Callable[[Tensor, Tensor], Tensor]


def told(degree: int, weight: float) -> Kernel:
    """The kernel of the coordinates and of the products of `degree` of them, of sizes 1 and `weight`, and nothing else.

    For targets x_i + alpha chi_S with a random set S and a random sign of the product it is their covariance if the weight
    is alpha^2. No method that is linear in the labels then has a smaller mean error, over the targets, than this kernel
    without a ridge.
    """

    def kernel(X: Tensor, Z: Tensor) -> Tensor:
        d = X.shape[1]
        return degree_kernel(X, Z, 1) / d + weight * degree_kernel(X, Z, degree) / math.comb(d, degree)

    return kernel


def target_errors(kernel: Kernel, X: Tensor, sets: Tensor, alpha: float, ridge: float) -> Tensor:
    """E (x_i + alpha chi_S - prediction)^2 over all corners, for a kernel of <x, z>: X (n, d), sets (q, k) -> (q, k).

    Entry (S, j) is about the output with i the j-th element of S. The mean over j is E|H - K|^2 in the units of
    corollary 7.1, where everything is divided by sqrt(k); the sum is that of theorem 2.
    """
    n, d = X.shape
    spectrum, chi = spectrum_by_degree(kernel, d), products(X, sets)
    factor = torch.linalg.cholesky(kernel(X, X) + n * ridge * torch.eye(n, dtype=X.dtype))
    beta = torch.cholesky_solve(torch.cat([X, chi], 1), factor)
    known = torch.cat([spectrum[1] * X, spectrum[sets.shape[1]] * chi], 1)
    explained = beta.T @ known
    form = beta.T @ (squared_kernel(X, spectrum) @ beta) - explained - explained.T
    form += torch.eye(len(form), dtype=form.dtype)
    return _of_targets(form, sets, alpha)


def listed_errors(X: Tensor, sets: Tensor, alpha: float, judged: int, large: float = 1e5) -> Tensor:
    """The same for a kernel that bets: large sum_i x_i z_i + alpha^2 sum_S chi_S(x) chi_S(z), S in a list of sets (p, k).

    For the first `judged` sets of the list -> (judged, k). Coordinates are learned first because their weight is large.
    """
    (n, d), chi = X.shape, products(X, sets)
    # sums of signs are exact in single precision, which is twice as fast
    gram = large * X @ X.T + alpha**2 * (chi.float() @ chi.float().T).double()
    factor = torch.linalg.cholesky(gram + 1e-13 * gram.trace() / n * torch.eye(n, dtype=X.dtype))
    beta = torch.cholesky_solve(torch.cat([X, chi[:, :judged]], 1), factor)
    wanted = torch.eye(d + len(sets), d + judged, dtype=X.dtype)
    missed = torch.cat([large * X.T @ beta, alpha**2 * chi.T @ beta]) - wanted
    return _of_targets(missed.T @ missed, sets[:judged], alpha)


def _of_targets(form: Tensor, sets: Tensor, alpha: float) -> Tensor:
    """Errors of x_i + alpha chi_S from the inner products of what is missed of each coordinate, then of each chi_S."""
    own, diagonal = len(form) - len(sets) + torch.arange(len(sets)), form.diagonal()
    return diagonal[sets] + 2 * alpha * form[sets, own[:, None]] + alpha**2 * diagonal[own][:, None]
