"""Kernels that contain the coordinates and a list of products, for targets x_i + alpha chi_S (Allen-Zhu and Li 2019).

Theorem 2 of the paper is about every correlation kernel. The strongest against it know that the target is a product of k
coordinates, and bet on some of these products. Their features are orthonormal on the cube, so that errors over all corners
are sums of squares of coefficients, in any dimension.
"""

import torch
from torch import Tensor

from hierlib.kernels.walsh import products


def chosen_products_errors(X: Tensor, sets: Tensor, judged: int, alphas: list[float], share: float, ridge: float) -> Tensor:
    """E|H - K|^2 over the cube for the first `judged` sets as targets: corners X (n, d), sets (s, k) -> (alphas, judged).

    The kernel is sum_j x_j z_j / d + share * sum_S chi_S(x) chi_S(z) / s. A small share makes the coordinates heavy, hence
    nearly free. Targets have k outputs, x_i + alpha chi_S for i in S.
    """
    (n, d), s = X.shape, len(sets)
    features = torch.cat([X, products(X, sets)], 1)
    weights = torch.cat([torch.full((d,), 1 / d), torch.full((s,), share / s)]).to(X.dtype)
    gram = (features * weights) @ features.T + n * ridge * torch.eye(n, dtype=X.dtype)
    known = features[:, : d + judged]
    beta = torch.cholesky_solve(known, torch.linalg.cholesky(gram))
    left = weights[:, None] * (features.T @ beta)  # coefficients of the predictions for x_1, ..., x_d and the products
    left.diagonal().sub_(1.0)
    form = left.T @ left  # E[(what is left of label a)(what is left of label b)]
    base, composite = form.diagonal()[:d], form.diagonal()[d:]
    own, cross = base[sets[:judged]].sum(1), form[d:, :d].gather(1, sets[:judged]).sum(1)
    return torch.stack([own + 2 * a * cross + sets.shape[1] * a**2 * composite for a in alphas])


def most_learned(n: int, k: int) -> float:
    """How many targets x_i + alpha chi_S, |S| = k, sums of n functions K(., x_j) can have with error at most alpha^2/4.

    All outputs of all predictions lie in a space of dimension n, however their coefficients are chosen. In one output, on
    average, the error is at most alpha^2/4k, so that a matrix of rank n is near the identity of size l, and
    l - n <= |I - B|_F^2 <= l/4k (Eckart and Young 1936).
    """
    return n / (1 - 1 / (4 * k))
