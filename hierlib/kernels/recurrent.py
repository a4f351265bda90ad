"""Tangent kernels of the Elman network, of finite and of infinite width (Wang et al. 2021, sections 4.2 and 4.3).

Finite: H = <grad f(x), grad f(y)> / m factors into products of hidden states and of backward vectors,

    H = 1/m sum_{l, l'} <b_l(x), b_l'(y)> <h_(l-1)(x), h_(l'-1)(y)>                            (eq. 23, index corrected).

Infinite: with q_l = gain q_(l-1) + s2 |x_l|^2, q_0 = 1, the arc-cosine functions k1 and k0, K^0 = 1 and T^0 = 0,

    z^l = (gain K^(l-1) + s2 <x_l, y_l>) / sqrt(q_l(x) q_l(y)),   K^l = sqrt(q_l(x) q_l(y)) k1(z^l)      (Theorem 5)
    T^l = k0(z^l) (gain T^(l-1) + K^(l-1) / 2),   H = T^L = 1/2 sum_l K^(l-1) prod_{k >= l} k0(z^k)      (Theorem 6, gain 1)

The factor 1/2 is the mean of a gate; the paper does not show it.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.arc_cosine import k0, k1
from hierlib.nets.recurrent import Recurrent, States, backward, states

ROWS = 64  # rows of the limit kernel to work on at a time: their three matrices then stay in the cache


def finite_gram(net: Recurrent, X: Tensor) -> Tensor:
    """H of a network between sequences X (n, L, d): (n, n).

    Operations: 4 (L - 1) n m^2 + 2 m^2 with W, 2 L n m d with A, 2 L n m (L n + 1) for the inner products. Memory for
    3 L n m numbers.
    """
    found = states(net, X)
    return gram_of(found, backward(net, found.gates))


def gram_of(found: States, signals: Tensor) -> Tensor:
    """The same from states and backward vectors (L, n, m), where they are at hand.

    The pair of times (l', l) at (j, i) is the pair (l, l') at (i, j): half of them are computed.
    """
    L, n, m = signals.shape
    before = found.hidden[:L]
    H = torch.zeros(n, n, dtype=signals.dtype)
    for t in range(L):
        later = (L - t) * n
        products = signals[t] @ signals[t:].reshape(later, m).T
        # At t = 0 all sequences are in the same state h_0: one row of products does for all.
        products *= before[t][: None if t else 1] @ before[t:].reshape(later, m).T
        same, *others = products.split(n, dim=1)
        H += same
        for block in others:
            H += block
            H += block.T
    return H / m


class Limit(NamedTuple):
    """Parts of the limit kernel, in the order of time: K^0..K^L as (L + 1, n, p), z^1..z^L and T^1..T^L as (L, n, p)."""

    forward: Tensor
    correlations: Tensor
    tangents: Tensor

    @property
    def backward(self) -> Tensor:
        """F^l = 1/2 prod_{k >= l} k0(z^k), for gain 1: (L, n, p)."""
        return k0(self.correlations).flip(0).cumprod(0).flip(0) / 2


def squares(X: Tensor, s2: float, gain: float = 1.0) -> Tensor:
    """q_0, ..., q_L, the mean of |h_l|^2, for sequences X (n, L, d): (L + 1, n)."""
    q = torch.ones(X.shape[1] + 1, len(X), dtype=X.dtype)
    for t in range(X.shape[1]):
        q[t + 1] = gain * q[t] + s2 * X[:, t].square().sum(-1)
    return q


def limit_gram(X: Tensor, s2: float, Y: Tensor | None = None, gain: float = 1.0) -> Tensor:
    """H of infinite width between sequences X (n, L, d) and Y (p, L, d): (n, p); symmetric if Y is omitted. O(n p L)."""
    others = X if Y is None else Y
    qx, qy = (squares(Z, s2, gain) for Z in (X, others))
    H = torch.empty(len(X), len(others), dtype=X.dtype)
    for first in range(0, len(X), ROWS):
        rows = slice(first, first + ROWS)
        H[rows] = _rows(X[rows], others, qx[:, rows], qy, s2, gain)
    if Y is None:
        H.diagonal().copy_(_diagonal(qx, gain))  # arccos has infinite slope at 1, see `relu_gram`
    return H


def _rows(X: Tensor, Y: Tensor, qx: Tensor, qy: Tensor, s2: float, gain: float) -> Tensor:
    K = torch.ones(len(X), len(Y), dtype=X.dtype)
    T = torch.zeros_like(K)
    for t in range(X.shape[1]):
        Q = qx[t + 1].sqrt()[:, None] * qy[t + 1].sqrt()
        z = torch.addmm(K, X[:, t], Y[:, t].T, beta=gain, alpha=s2).div_(Q)
        on = k0(z)
        T.mul_(gain).add_(K, alpha=0.5).mul_(on)
        # k1(z) = sqrt(1 - z^2) / pi + z k0(z), with the k0 that is at hand
        K = on.mul_(z).add_((1 - z.square()).clamp_(min=0).sqrt_(), alpha=1 / torch.pi).mul_(Q)
    return T


def _diagonal(q: Tensor, gain: float) -> Tensor:
    """T^L of a sequence with itself, where every correlation is one: (n,)."""
    T = torch.zeros(q.shape[1], dtype=q.dtype)
    for before in q[:-1]:
        T = gain * T + before / 2
    return T


def limit_parts(X: Tensor, s2: float, Y: Tensor | None = None, gain: float = 1.0) -> Limit:
    """All parts of the limit kernel, written as in the paper: sequences X (n, L, d), Y (p, L, d)."""
    others = X if Y is None else Y
    Q = (squares(X, s2, gain)[:, :, None] * squares(others, s2, gain)[:, None, :]).sqrt()
    forward, correlations, tangents = [torch.ones_like(Q[0])], [], [torch.zeros_like(Q[0])]
    for t in range(X.shape[1]):
        z = (gain * forward[t] + s2 * X[:, t] @ others[:, t].T) / Q[t + 1]
        correlations.append(z)
        tangents.append(k0(z) * (gain * tangents[t] + forward[t] / 2))
        forward.append(Q[t + 1] * k1(z))
    return Limit(torch.stack(forward), torch.stack(correlations), torch.stack(tangents[1:]))


class CrossTime(NamedTuple):
    """Between time a of one sequence and time b of another, as (L + 1, L + 1, n, p): <h_a, h_b> and the tangent kernel."""

    forward: Tensor
    tangents: Tensor


def cross_time(X: Tensor, s2: float, Y: Tensor | None = None) -> CrossTime:
    """The limits of <h_a(x), h_b(y)> (Lemma 17) and of <grad <B, h_a>(x), grad <B, h_b>(y)> / m, for all times a and b.

    K^(0,0) = 1, and h_0 is uncorrelated with the pre-activations of later times: K^(0,b) = sqrt(q_b) k1(0).
    (The tangent blocks are not in Wang et al. 2021, who take them for zero when a and b differ.)
    """
    others = X if Y is None else Y
    (n, L, _), p = X.shape, len(others)
    roots = squares(X, s2).sqrt(), squares(others, s2).sqrt()
    K, T = (torch.zeros(L + 1, L + 1, n, p, dtype=X.dtype) for _ in range(2))
    apart = k1(torch.zeros((), dtype=X.dtype))
    for a in range(L + 1):
        for b in range(L + 1):
            Q = roots[0][a][:, None] * roots[1][b]
            if a and b:
                z = (K[a - 1, b - 1] + s2 * X[:, a - 1] @ others[:, b - 1].T) / Q
                K[a, b], T[a, b] = Q * k1(z), k0(z) * (T[a - 1, b - 1] + K[a - 1, b - 1] / 2)
            else:
                K[a, b] = Q * (1 if a == b else apart)
    return CrossTime(K, T)
