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
    own = d + torch.arange(len(sets))
    diagonal = form.diagonal()
    return diagonal[sets] + 2 * alpha * form[sets, own[:, None]] + alpha**2 * diagonal[own][:, None]
