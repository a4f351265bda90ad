"""Kernels on the hypercube in the Walsh basis chi_S(x) = prod_{j in S} x_j.

A correlation kernel is diagonal there, K(x, z) = sum_S lambda_S^2 chi_S(x) chi_S(z) (Allen-Zhu and Li 2019, proposition
E.1). Points and sets are numbered alike: bit j of i says that x_j = -1 (as in `hierlib.data.cubes.all_corners`), bit j of
the number of S says that j is in S.
"""

import math
from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor

from hierlib.kernels.correlation import by_distance
from hierlib.nets.residual import with_one


def walsh_transform(values: Tensor) -> Tensor:
    """sum_x f(x) chi_S(x) for all S: values (..., 2^d) at all corners -> (..., 2^d), in d passes over the data.

    Applied twice it multiplies by 2^d.
    """
    size = values.shape[-1]
    if size & (size - 1) or not size:
        raise ValueError(f"a Walsh transform needs 2^d values, got {size}")
    shape, half = values.shape, 1
    while half < size:
        pairs = values.reshape(*shape[:-1], size // (2 * half), 2, half)
        low, high = pairs[..., 0, :], pairs[..., 1, :]
        values = torch.stack([low + high, low - high], dim=-2)
        half *= 2
    return values.reshape(shape)


def in_walsh_basis(K: Tensor) -> Tensor:
    """E_{x,z} K(x, z) chi_S(x) chi_T(z) for all pairs of sets: K (2^d, 2^d) -> (2^d, 2^d). The diagonal is lambda_S^2."""
    return walsh_transform(walsh_transform(K).mT).mT / K.shape[-1] ** 2


def off_diagonal(M: Tensor) -> float:
    """Frobenius norm off the diagonal over that on it: zero for a correlation kernel in the Walsh basis."""
    on = M.diagonal()
    return ((M - on.diag()).norm() / on.norm()).item()


def krawtchouk(h: int, k: int, d: int) -> int:
    """sum of chi_S(x) over the corners x with h coordinates -1, for any S of size k (and with h and k exchanged)."""
    return sum((-1) ** i * math.comb(k, i) * math.comb(d - k, h - i) for i in range(min(h, k) + 1) if h - i <= d - k)


def spectrum_by_degree(kernel: Callable[[Tensor, Tensor], Tensor], d: int) -> Tensor:
    """lambda_S^2 of a kernel that depends on <x, z> only, one value for each size of S: (d + 1,).

    lambda_S^2 = E_z[K(1, z) chi_S(z)]; there are only d + 1 different K(1, z), so this is a short exact sum for any d.
    """
    one_sided = 1 - 2 * torch.ones(d + 1, d, dtype=torch.float64).tril(-1)  # row h has h coordinates -1
    values = kernel(one_sided, torch.ones(1, d, dtype=torch.float64))[:, 0].tolist()
    sums = [math.fsum(values[h] * krawtchouk(h, k, d) for h in range(d + 1)) for k in range(d + 1)]
    return torch.tensor(sums, dtype=torch.float64) / 2**d


def subsets(d: int, k: int) -> Tensor:
    """All sets of k coordinates out of d, as rows of indices: (C(d, k), k)."""
    return torch.tensor(list(combinations(range(d), k)), dtype=torch.long).reshape(-1, k)


def products(X: Tensor, sets: Tensor) -> Tensor:
    """chi_S(x) for rows X (n, d) and sets of k coordinates (s, k): (n, s)."""
    features = torch.ones(len(X), len(sets), dtype=X.dtype)
    for column in sets.T:
        features *= X[:, column]
    return features


def degree_gram(X: Tensor, k: int) -> Tensor:
    """sum over all S of size k of chi_S(x_i) chi_S(x_j): corners X (n, d) -> (n, n), without the C(d, k) features.

    Two corners that differ in h coordinates have the Krawtchouk number of (k, h) as entry; the diagonal is C(d, k).
    """
    d = X.shape[1]
    return by_distance(X, X, torch.tensor([krawtchouk(k, h, d) for h in range(d + 1)], dtype=torch.float64))


def finite_tangent(W: Tensor, a: Tensor, X: Tensor) -> Tensor:
    """Tangent kernel of the hidden weights of sum_r a_r relu(<w_r, (x, 1)>): W (m, d + 1), a (m,), X (n, d) -> (n, n).

    (<x, z> + 1) sum_r a_r^2 1{active on x} 1{active on z}. It depends on more than the products x_j z_j, because the drawn
    weights do; only its mean over the weights is a correlation kernel.
    """
    inputs = with_one(X)
    active = (inputs @ W.T >= 0).to(X.dtype)
    return (inputs @ inputs.T) * ((active * a.square()) @ active.T)
