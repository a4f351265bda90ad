"""The arc-cosine functions: what a wide layer of steps or of ReLUs makes of the correlation c of two Gaussian inputs.

    k0(c) = 2 P(u >= 0, v >= 0) = (pi - arccos c) / pi
    k1(c) = 2 E[relu(u) relu(v)] = (sqrt(1 - c^2) + c (pi - arccos c)) / pi        for u, v ~ N(0, 1), E[u v] = c

Both are 1 at c = 1; k0 is the derivative of k1. Limits of wide networks are built from them: `relu`, `hamming`.
"""

import math

from torch import Tensor

ROWS = 256  # rows of a Gram matrix to work on at a time: they then stay in the cache


def angle(c: Tensor) -> Tensor:
    """arccos c, the angle between the two inputs, for c of any shape; |c| may exceed 1 by rounding."""
    return c.clamp(-1, 1).arccos_()


def k0(c: Tensor) -> Tensor:
    """Arc-cosine kernel of degree 0 at the correlation c, of any shape: (pi - arccos c) / pi."""
    return 1 - angle(c) / math.pi


def k1(c: Tensor) -> Tensor:
    """Arc-cosine kernel of degree 1 at the correlation c, of any shape: sqrt(1 - c^2) / pi + c k0(c)."""
    c = c.clamp(-1, 1)
    return (1 - c * c).sqrt() / math.pi + c * k0(c)
