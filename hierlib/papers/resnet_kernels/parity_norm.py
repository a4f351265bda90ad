r"""The smallest norm of a two-layer network that computes a parity.

The network is f(x) = sum_r a_r relu(<w_r, x>) with a_r = +-1/sqrt(m), half of each sign, and x uniform on {+-1/sqrt(d)}^d;
the target is the parity chi of q coordinates, chi(x) = d^(q/2) x_1 ... x_q (Allen-Zhu and Li 2019, appendix A.1, q = 6).
Everything below is ours; the paper found its weights by training. Write |w| for the Euclidean norm of a row.

Lower bound. E[f chi] <= 1/sqrt(m) sum_r |w_r| M <= |W|_F M, where M is the largest |E[chi relu(<u, x>)]| over unit u.
An error e = E(f - chi)^2 forces E[f chi] >= 1 - sqrt(e), hence |W|_F >= (1 - sqrt(e)) / M.

M for even q. relu(t) = (t + |t|)/2, and chi does not correlate with linear functions. With v = u/sqrt(d), from
|t| = 1/pi int (1 - cos(ts)) / s^2 ds and E[chi cos(<u, x> s)] = +- prod_{i<=q} sin(v_i s) prod_{i>q} cos(v_i s),

    |E chi |<u, x>|| <= 1/pi int prod_{i<=q} |sin(v_i s)| / s^2 ds <= C_q (prod_{i<=q} |v_i|)^(1/q),
    C_q = 1/pi int sin(s)^q / s^2 ds = binom(q - 2, q/2 - 1) / 2^(q-2)

by Hölder's inequality with q equal exponents and the substitution s -> s/|v_i|. The geometric mean is at most
|v|/sqrt(q), so M = C_q / (2 sqrt(q d)), attained exactly where the q coordinates are equal up to sign and all others
vanish: at sign vectors.

For odd q >= 3 the correlation is zero for every u, because |<u, x>| is even in x and chi is odd: no network without biases
computes such a parity at any norm.
"""

import math

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from hierlib.data.cubes import all_corners
from hierlib.nets.signed import Signed, output_signs


def parity(X: Tensor, q: int) -> Tensor:
    """The product of the signs of the first q coordinates, +-1: X (..., n, d) -> (..., n)."""
    return X[..., :q].sign().prod(-1)


def kink_integral(q: int) -> float:
    """C_q = 1/pi int sin(s)^q / s^2 ds over the line, for even q >= 2."""
    if q < 2 or q % 2:
        raise ValueError(f"the closed form is for even q >= 2, got {q}; odd parities above one correlate with no neuron")
    return math.comb(q - 2, q // 2 - 1) / 2 ** (q - 2)


def largest_correlation(q: int, d: int) -> float:
    """M = max over unit u in R^d of |E[chi relu(<u, x>)]|, for even q <= d. For q = 6: sqrt(6/d)/32."""
    return kink_integral(q) / (2 * math.sqrt(q * d))


def correlations(U: Tensor, q: int) -> Tensor:
    """E[chi relu(<u, x>)] for the rows u of U (n, d), exactly, as a mean over all 2^d inputs: (n,)."""
    X = all_corners(U.shape[1], U.dtype)
    return torch.relu(U @ X.T) @ parity(X, q) / (len(X) * U.shape[1] ** 0.5)


def correlation_bound(U: Tensor, q: int) -> Tensor:
    """Hölder's bound on |E[chi relu(<u, x>)]|, C_q/2 times the geometric mean of |u_1|, ..., |u_q| over sqrt(d): (n,)."""
    return kink_integral(q) / 2 * U[:, :q].abs().log().mean(1).exp() / U.shape[1] ** 0.5


def ascend(U: Tensor, q: int) -> Tensor:
    """Raise |E[chi relu(<u, x>)]| from the rows of U (n, d) by 400 gradient steps on the unit sphere; returns the last rows.

    The function is piecewise linear, so that steps of a fixed size would jump around the maximum; they shrink to zero.
    """
    X = all_corners(U.shape[1], U.dtype)
    signed = X * parity(X, q)[:, None] / (len(X) * U.shape[1] ** 0.5)
    U = U / U.norm(dim=1, keepdim=True)
    for step in range(400):
        gradient = (U @ X.T > 0).to(U.dtype) @ signed
        slope = (gradient * U).sum(1, keepdim=True)  # the value itself: the function is homogeneous
        direction = (gradient - slope * U) * slope.sign()
        size = 0.5 * (1 - step / 400) ** 2
        U = U + size * direction / direction.norm(dim=1, keepdim=True).clamp_min(1e-300)
        U = U / U.norm(dim=1, keepdim=True)
    return U


def smallest_norm(error: float, q: int, d: int) -> float:
    """The frontier: every network with E(f - chi)^2 = error has at least this |W|_F.

    For q = 6 it is 13.064 (1 - sqrt(error)) sqrt(d).
    """
    return max(0.0, 1 - math.sqrt(error)) / largest_correlation(q, d)


def frontier(errors: ArrayLike, q: int = 6) -> np.ndarray:
    """`smallest_norm` in units of sqrt(d), where it no longer depends on d, for many errors at once."""
    return np.maximum(0.0, 1 - np.sqrt(errors)) * smallest_norm(0.0, q, q) / q**0.5


def parity_network(m: int, d: int, q: int, share: float = 1.0) -> Signed:
    """A network of even width m >= 2^q that computes share * chi on {+-1/sqrt(d)}^d exactly.

    Its rows are the 2^q sign vectors v on the first q coordinates, those with E[chi relu(<v, x>)] > 0 where the output
    weight is positive, because sum_v chi(v) relu(<v, z>) is proportional to chi(z). Where m is no multiple of 2^q some
    vectors get one row more than others; the rows of a vector share its weight equally. At multiples of 2^q all rows
    have the same norm and |W|_F = share / M, which is optimal.
    """
    if m % 2 or m < 2**q:
        raise ValueError(f"the parity of {q} coordinates needs an even number of at least {2**q} neurons, got {m}")
    if d < q:
        raise ValueError(f"the parity of {q} coordinates needs as many inputs, got d = {d}")
    vectors = all_corners(q)
    rising = parity(vectors, q) * (-1) ** (q // 2 + 1) > 0  # the sign of sin^q in the docstring above
    slot = torch.arange(m // 2) % 2 ** (q - 1)
    rows = torch.cat([vectors[rising][slot], vectors[~rising][slot]])
    copies = torch.bincount(slot)[slot].repeat(2).double()
    # E[chi relu(<v, z>)] = +-C_q/2 for z in {+-1}^q, so a factor 2/C_q in the mean over the 2^q vectors gives chi.
    weight = share * 2 / kink_integral(q) / 2**q * (d * m) ** 0.5
    W = torch.zeros(m, d, dtype=torch.float64)
    W[:, :q] = rows * (weight / copies)[:, None]
    return Signed(output_signs(m), W)


def widened(net: Signed, m: int, d: int) -> Signed:
    """The recipe of the paper's footnote 13: zero columns up to d inputs, rows repeated up to m neurons, the same function.

    If m is no multiple of the old width, the first rows of either sign get one copy more; copies share their row equally.
    """
    old, before = net.W.shape
    slot = torch.arange(m // 2) % (old // 2)
    copies = torch.bincount(slot)[slot].repeat(2).to(net.W.dtype)
    # Inputs shrink from 1/sqrt(before) to 1/sqrt(d), output weights from 1/sqrt(old) to 1/sqrt(m).
    scale = (d / before * m / old) ** 0.5 / copies
    W = torch.zeros(m, d, dtype=net.W.dtype)
    W[:, :before] = net.W[torch.cat([slot, slot + old // 2])] * scale[:, None]
    return Signed(output_signs(m), W)
