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

from hierlib.kernels.hamming import by_distance


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


def degree_kernel(X: Tensor, Z: Tensor, k: int) -> Tensor:
    """sum over all S of size k of chi_S(x) chi_S(z): corners X (n, d), Z (p, d) -> (n, p), without the C(d, k) features.

    Two corners that differ in h coordinates have the Krawtchouk number of (k, h) as entry.
    """
    d = X.shape[1]
    return by_distance(X, Z, torch.tensor([krawtchouk(k, h, d) for h in range(d + 1)], dtype=torch.float64))


def degree_gram(X: Tensor, k: int) -> Tensor:
    """`degree_kernel` of a sample with itself: corners X (n, d) -> (n, n). The diagonal is C(d, k)."""
    return degree_kernel(X, X, k)


def heaviest_products(weights: Tensor, k: int, share: float) -> Tensor:
    """The sets S of size k with the largest lambda_S of `weighted_gaussian`, a given share of them: weights (d,) -> (s, k).

    Its lambda_S^2 is a product of one factor per coordinate, so a set is worth the sum of log tanh(2 weight_j) over S.
    """
    sets = subsets(len(weights), k)
    value = torch.tanh(2 * weights).log()[sets].sum(1)
    return sets[value.topk(math.ceil(share * len(sets))).indices]


def samples_until_not_dominant(X: Tensor, k: int) -> int:
    """Largest N for which the first N corners of X (n, d) have a diagonally dominant Gram matrix of degree-k products.

    Dominant in the sense of the proof of lemma E.3 (Allen-Zhu and Li 2019): every row sum off the diagonal is at most half
    of the diagonal. If all n have it, n.
    """
    gram = degree_gram(X, k)
    half = gram[0, 0].item() / 2
    sums = gram.abs().fill_diagonal_(0).cumsum(1)  # column N - 1: row sums over the first N samples
    largest = sums.cummax(0).values.diagonal()
    beyond = (largest > half).nonzero()
    return int(beyond[0]) if len(beyond) else len(X)
