"""What the worst movement adds to parts (e) and (f) of Lemma D.1 (Allen-Zhu and Li 2019) in a wide block, at any radius.

The laws are ours. For small radii they become the powers 4/3 and 2/3 of `lemma_d1.start_size` and `lemma_d1.operator_size`.
"""

import math
from collections.abc import Callable

from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import k0


def operator_limit(ratio: float) -> float:
    """What the worst movement with tau = ratio sigma_v adds to <u, A D V0 v> / sigma_v as m grows, v orthogonal to z: (f).

    With independent standard normal a, b, h (times 1/sqrt(m)) the gates with h^2 <= |a b| / lambda flip where the sign
    helps, and lambda spends the budget, 1/2 E[h^2; flipped] = ratio^2. |a b| has the density 2/pi K_0. For small ratios
    this is 0.64 ratio^(2/3), `operator_size`.
    """

    def mean(value: Callable[[float], float]) -> float:
        return quad(lambda t: 2 / math.pi * k0(t) * value(t), 0, 40, limit=200)[0]

    log = brentq(lambda log: mean(lambda t: _second_moment(math.sqrt(t * math.exp(-log)))) / 2 - ratio**2, -20, 40)
    return mean(lambda t: t * math.erf(math.sqrt(t * math.exp(-log) / 2))) / 2


def start_limit(ratio: float) -> float:
    """What the worst movement with tau = ratio sigma_v adds to |A D V0 z| / (sigma_v |z|) as m grows: part (e).

    The gates with |h| <= |a| / lambda flip where the sign helps. For small ratios 0.89 ratio^(4/3), `start_size`.
    """

    def mean(value: Callable[[float], float]) -> float:
        return quad(lambda a: math.sqrt(2 / math.pi) * math.exp(-a * a / 2) * value(a), 0, 12)[0]

    log = brentq(lambda log: mean(lambda a: _second_moment(a * math.exp(-log))) / 2 - ratio**2, -20, 40)
    return mean(lambda a: a * math.sqrt(2 / math.pi) * -math.expm1(-((a * math.exp(-log)) ** 2) / 2)) / 2


def _second_moment(c: float) -> float:
    """E[h^2; |h| <= c] of a standard normal h."""
    return math.erf(c / math.sqrt(2)) - c * math.sqrt(2 / math.pi) * math.exp(-c * c / 2)
