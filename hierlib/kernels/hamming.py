"""Correlation kernels on the corners of the hypercube: Gaussian, arc-sine, and those of wide ReLU networks.

A correlation kernel is a function of the products x_j z_j alone (Allen-Zhu and Li 2019, section 3; the squares x_j^2 are one
here). Most of those below depend on <x, z> only. Between corners <x, z> = d - 2h, where h counts the coordinates
that differ, so such a kernel has d + 1 values: they are computed once and looked up, and the diagonal is exact.

Networks as in appendix A of that paper: x -> relu(W (x, 1)), W ~ N(0, 1/d), weights after it N(0, 1/m), m -> infinity.
The variance of the first bias is 1/d too (later biases have variance 1/m and vanish).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from hierlib.kernels.arc_cosine import ROWS, k0, k1


def by_distance(X: Tensor, Z: Tensor, values: Tensor) -> Tensor:
    """values[h] for all rows that differ in h coordinates: corners X (n, d), Z (p, d), values (d + 1,) -> (n, p)."""
    for rows in (X, Z):
        if not (rows.abs() == 1).all():
            raise ValueError("these kernels are for corners of the hypercube: every coordinate must be -1 or +1")
    d, Z = X.shape[1], Z.to(X.dtype)
    blocks = [values[((d - block @ Z.T) / 2).round_().int()] for block in X.split(ROWS)]
    return torch.cat(blocks)


def _dot_product(X: Tensor, Z: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """function(<x, z> / d) for all pairs of corners: (n, p)."""
    d = X.shape[1]
    return by_distance(X, Z, function((d - 2 * torch.arange(d + 1, dtype=torch.float64)) / d))


def gaussian_kernel(X: Tensor, Z: Tensor, h: float) -> Tensor:
    """exp(-|x - z|^2 / h) between corners X (n, d) and Z (p, d): (n, p). |x - z|^2 is 4 per coordinate that differs."""
    d = X.shape[1]
    return by_distance(X, Z, torch.exp(-4 / h * torch.arange(d + 1, dtype=torch.float64)))


def weighted_gaussian(X: Tensor, Z: Tensor, weights: Tensor) -> Tensor:
    """exp(-sum_j weights_j (x_j - z_j)^2), which sees some coordinates better than others: weights (d,) -> (n, p)."""
    total = weights.sum()
    return torch.exp(2 * (((X * weights) @ Z.T) - total).clamp(max=0))


def arcsine(X: Tensor, Z: Tensor) -> Tensor:
    """arcsin(<x, z> / (|x| |z|)): (n, p)."""
    return _dot_product(X, Z, torch.arcsin)


def conjugate(X: Tensor, Z: Tensor, layers: int) -> Tensor:
    """Conjugate kernel of a network with 2 or 3 layers: E[relu(u) relu(v)] at the last hidden layer, (n, p).

    It is the mean over the m hidden units; training only the output weights is regression with this kernel. With variance
    q = 1 + 1/d of the first preactivations and their correlation c it is q/2 k1(c), and then q/4 k1(k1(c)).
    """
    bias = 1 / X.shape[1]
    if layers == 2:
        return _dot_product(X, Z, lambda t: (1 + bias) / 2 * k1(_correlation(t, bias)))
    _only_three(layers)
    return _dot_product(X, Z, lambda t: (1 + bias) / 4 * k1(k1(_correlation(t, bias))))


def tangent(X: Tensor, Z: Tensor, layers: int) -> Tensor:
    """Tangent kernel of the hidden weights of a network with 2 or 3 layers and output weights N(0, 1/m): (n, p).

    Two layers: (<x, z> + 1) k0(c)/2. Three: the middle matrix gives m S k0(k1(c))/2 with S the conjugate kernel of two
    layers, the first matrix (<x, z> + 1) k0(c)/2 k0(k1(c))/2, without the factor m. The limit divided by m is taken, in
    which only the middle matrix is left.
    """
    d = X.shape[1]
    bias = 1 / d
    if layers == 2:
        return _dot_product(X, Z, lambda t: (t * d + 1) * k0(_correlation(t, bias)) / 2)
    _only_three(layers)

    def middle(t: Tensor) -> Tensor:
        below = k1(_correlation(t, bias))
        return (1 + bias) / 2 * below * k0(below) / 2

    return _dot_product(X, Z, middle)


def convolutional(X: Tensor, Z: Tensor, width: int, pooled: bool) -> Tensor:
    """Conjugate kernel of one convolution over patches of `width` neighbours (cyclic), variance 1/width, and ReLU: (n, p).

    When the output layer sees every position by itself, the mean over positions i of k1(<x_i, z_i> / width) / 2, where
    x_i is the patch at i. When the positions are averaged first (`pooled`), the mean over all pairs of positions: then it
    contains products x_i z_j and is no correlation kernel.
    """
    patches = [torch.stack([points.roll(-shift, 1) for shift in range(width)], 2) for points in (X, Z)]
    if pooled:
        between = torch.einsum("nic,pjc->npij", *patches) / width
        return k1(between).mean((2, 3)) / 2
    return k1(torch.einsum("nic,pic->npi", *patches) / width).mean(2) / 2


def _correlation(t: Tensor, bias: float) -> Tensor:
    """Correlation of the first preactivations at <x, z> / d = t, where `bias` is the variance of the bias."""
    return (t + bias) / (1 + bias)


def _only_three(layers: int) -> None:
    if layers != 3:
        raise ValueError(f"closed forms are here for networks with 2 or 3 layers, got {layers}")


# Three kernels of <x, z> that differ in their spectra, by name: a Gaussian of width sqrt(2d), two layers of ReLU.
COMMON: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Gaussian": lambda X, Z: gaussian_kernel(X, Z, 2 * X.shape[1]),
    "tangent": lambda X, Z: tangent(X, Z, 2),
    "conjugate": lambda X, Z: conjugate(X, Z, 2),
}
