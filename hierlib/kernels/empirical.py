"""Tangent kernels of finite two-layer networks, and how far they are from their limits.

The hidden weights of f(x) = sum_r a_r relu(<w_r, x>) have the tangent kernel

    H[i, j] = <x_i, x_j> sum_r a_r^2 1{<w_r, x_i> >= 0} 1{<w_r, x_j> >= 0} .

The m x d gradients are never formed: they factor into the inputs and the on/off pattern of the neurons. For a network with
biases the inputs are (x, 1).
"""

import math

from torch import Tensor

from hierlib.kernels.hamming import tangent
from hierlib.kernels.relu import relu_gram


def both_active(on: Tensor, squares: Tensor | None = None) -> Tensor:
    """sum_r a_r^2 on_ir on_jr for gates `on` (n, m) of 0 and 1, squares a_r^2 (m,): (n, n). Without squares, a count."""
    return (on if squares is None else on * squares) @ on.T


def finite_gram(W: Tensor, X: Tensor, squares: Tensor | None = None) -> Tensor:
    """H of a network with m neurons: W (m, d), X (n, d), squares a_r^2 (m,) -> (n, n).

    Without squares H(W) of Arora et al. 2019, sec. 3.4, where a_r^2 = 1/m. It depends on more than <x_i, x_j>, because the
    drawn weights do; only its mean over the weights does not.
    """
    on = (X @ W.T >= 0).to(X.dtype)
    H = (X @ X.T) * both_active(on, squares)
    return H / len(W) if squares is None else H


def finite_gram_deviation(X: Tensor, m: int) -> float:
    """Root mean square of |H(0) - H_inf|_F over random networks with a_r^2 = 1/m: X (n, d) with unit rows.

    At most n / (2 sqrt(m)). (Not in Arora et al. 2019, whose lemma C.3 bounds the same norm.)
    """
    K = X @ X.T
    K.fill_diagonal_(1.0)
    return _deviation(K, relu_gram(X), m, fourth_moment=1.0)


def tangent_deviation(X: Tensor, m: int) -> float:
    """Root mean square of |H - K|_F over |K|_F for the limit K = `hamming.tangent` of two layers: corners X (n, d).

    The networks have biases, W ~ N(0, 1/d) and a ~ N(0, 1/m). (Not in Allen-Zhu and Li 2019.)
    """
    K = tangent(X, X, 2)
    return _deviation(X @ X.T + 1, K, m, fourth_moment=3.0) / K.norm().item()


def _deviation(inner: Tensor, limit: Tensor, m: int, fourth_moment: float) -> float:
    """Root mean square of |H - limit|_F when sqrt(m) a_r has second moment one and the given fourth moment q.

    Entry (i, j) is a sum of m independent <x_i, x_j> a_r^2 1{both active}. Its variance is <x_i, x_j>^2 (q p - p^2) / m,
    p = limit / inner the probability that both are active. Multiplied out there is no division by an inner product.
    """
    return math.sqrt((limit * (fourth_moment * inner - limit)).sum().item() / m)
