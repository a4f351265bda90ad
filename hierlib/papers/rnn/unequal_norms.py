"""What is left of the backward signal when token norms differ between samples (Wang et al. 2021, eq. 29, 85).

At tokens that are orthogonal between two samples the correlations z_k know the norms only, and so does the backward product
g = prod_{k > l} k0(z_k). With many samples of each kind of norms, F_l >= c Sigma_l asks for g/2 - c to be positive definite
as a kernel on norms. If all samples have the same norms, c = g/2. If norms vary in an interval, a function equal to one
there is one for all norms, because functions of this kernel are analytic; so c <= g/2 at *every* norm, and g >= 2^-(L-l)
comes as close to it as one likes when each norm is far above the one before. (Ours.)

The matrices are those of an analytic kernel: their condition grows exponentially with their size, hence many digits.
"""

from collections.abc import Sequence

import mpmath as mp
from mpmath import mpf

from hierlib.papers.rnn.norm_prices import price_of_one


def gates(first: Sequence[float], second: Sequence[float], s2: float) -> list[mpf]:
    """k0(z_1), ..., k0(z_L) between two samples with these norms of their tokens, all tokens orthogonal."""
    found, K, q, p = [], mpf(1), mpf(1), mpf(1)
    for one, two in zip(first, second, strict=True):
        q, p = q + s2 * mpf(one) ** 2, p + s2 * mpf(two) ** 2
        size = mp.sqrt(q * p)
        z = K / size
        share = 1 - mp.acos(z) / mp.pi
        K = size * (mp.sqrt(1 - z * z) / mp.pi + z * share)
        found.append(share)
    return found


def constant_share(kinds: Sequence[Sequence[float]], l: int, s2: float, digits: int = 60) -> float:  # noqa: E741
    """The largest c such that g - c is positive semi-definite on these kinds of norms, g over the times after l."""
    with mp.workdps(digits):
        return float(1 / price_of_one(lambda one, two: mp.fprod(gates(one, two, s2)[l:]), kinds))
