"""The Gram matrix that a wide two-layer ReLU network trains with.

For unit vectors x_i and a first layer w_r ~ N(0, I) that is trained while the second is frozen,

    H_inf[i, j] = E_w[ <x_i, x_j> 1{<w, x_i> >= 0} 1{<w, x_j> >= 0} ]
                = <x_i, x_j> (pi - arccos <x_i, x_j>) / (2 pi).          (Arora et al. 2019, eq. 3)
"""

import math

from torch import Tensor

ROWS = 256  # rows per block: the elementwise work on a block then stays in the cache


def relu_gram(X: Tensor, Z: Tensor | None = None) -> Tensor:
    """H_inf between unit rows: X (n, d), Z (p, d) -> (n, p); symmetric with diagonal 1/2 when Z is omitted."""
    H = X @ (X if Z is None else Z).T
    for block in H.split(ROWS):
        angle_term = block.clamp(-1.0, 1.0).arccos_().neg_().add_(math.pi)
        block.mul_(angle_term).div_(2 * math.pi)
    if Z is None:
        # arccos has infinite slope at 1: a rounding error of 1e-7 in |x|^2 would move the diagonal by 1e-4,
        # which is more than the smallest eigenvalue of real data.
        H.fill_diagonal_(0.5)
    return H


def finite_gram(W: Tensor, X: Tensor) -> Tensor:
    """H(W) of a network with m neurons (Arora et al. 2019, sec. 3.4): W (m, d), X (n, d) -> (n, n).

    The m x d gradients are never formed: they factor into the inputs and the on/off pattern of the neurons.
    """
    active = (X @ W.T >= 0).to(X.dtype)
    return (X @ X.T) * (active @ active.T) / len(W)


def series_coefficient(p: int) -> float:
    """c_p in H_inf = sum_p c_p K^p (entrywise powers of K = X X^T): Arora et al. 2019, appendix E.

    c_1 = 1/4, c_p = (p-3)!! / ((p-2)!! (p-1) 2 pi) for even p, and zero for odd p > 1.
    """
    if p < 1:
        raise ValueError(f"the series starts at the first power, got p = {p}")
    if p == 1:
        return 0.25
    if p % 2:
        return 0.0
    # (2l-3)!!/(2l-2)!! as a running product: double factorials overflow long before their ratio gets small
    ratio = math.prod((2 * k - 1) / (2 * k) for k in range(1, p // 2))
    return ratio / (p - 1) / (2 * math.pi)
