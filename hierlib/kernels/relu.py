"""The Gram matrix that a wide two-layer ReLU network trains with.

For unit vectors x_i and a first layer w_r ~ N(0, I) that is trained while the second is frozen,

    H_inf[i, j] = E_w[ <x_i, x_j> 1{<w, x_i> >= 0} 1{<w, x_j> >= 0} ]
                = <x_i, x_j> (pi - arccos <x_i, x_j>) / (2 pi)           (Arora et al. 2019, eq. 3),

which is t k0(t) / 2 at t = <x_i, x_j>, with the arc-cosine kernel k0.
"""

import math

from scipy.special import erfcx
from torch import Tensor

from hierlib.kernels.arc_cosine import ROWS, angle


def relu_gram(X: Tensor, Z: Tensor | None = None) -> Tensor:
    """H_inf between unit rows: X (n, d), Z (p, d) -> (n, p); symmetric with diagonal 1/2 when Z is omitted."""
    H = X @ (X if Z is None else Z).T
    for block in H.split(ROWS):
        block.mul_(angle(block).neg_().add_(math.pi)).div_(2 * math.pi)  # t k0(t) / 2, in place
    if Z is None:
        # arccos has infinite slope at 1: a rounding error of 1e-7 in |x|^2 would move the diagonal by 1e-4,
        # which is more than the smallest eigenvalue of real data.
        H.fill_diagonal_(0.5)
    return H


def eigenvalue_bound(n: int, overlap: float) -> float:
    """A lower bound for the smallest eigenvalue of H_inf of n unit inputs with |<x_i, x_j>| <= overlap for all i != j.

    H_inf = K/4 + sum_l c_2l K^2l, entrywise powers of K = X X^T, and no term has a negative eigenvalue. The diagonal of
    K^2l is one and its other entries are at most overlap^2l, so all its eigenvalues are at least 1 - (n - 1) overlap^2l:

        lambda_min(H_inf) >= sum_l c_2l max(0, 1 - (n - 1) overlap^2l) >= sqrt(s)/2pi erfcx(sqrt(log(n - 1) + s/2)),

    s = -2 log(overlap), erfcx(z) = exp(z^2) erfc(z). The second step writes the gain as the integral of its derivative
    and uses sum_{l >= L} c_2l >= 1 / (2 pi sqrt(pi (L - 1/2))), which is Wallis' inequality. For a small angle theta
    between the closest inputs s is theta^2, and the bound is theta/2pi for n = 2 and theta / (2 pi sqrt(pi log n)) for many.
    (Not in Arora et al. 2019, whose remark 5.1 says "positive".)
    """
    if not 0 < overlap <= 1:
        raise ValueError(f"the overlap must be positive and at most 1, got {overlap}")
    s = -2 * math.log(overlap)
    return float(math.sqrt(s) / (2 * math.pi) * erfcx(math.sqrt(math.log(n - 1) + s / 2)))


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
