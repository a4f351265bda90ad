"""The two-layer ReLU network with one output, no biases, and output weights that stay at +-1/sqrt(m), half of each sign.

f(x) = A relu(W x),   A = (1, ..., 1, -1, ..., -1) / sqrt(m)                (Allen-Zhu and Li 2019, appendix A.1)

The fields are matrices, and every function accepts weights with leading axes (one network per entry).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.streams import normals


class Signed(NamedTuple):
    """Output weights A (..., 1, m), which are never trained, and hidden weights W (..., m, d)."""

    A: Tensor
    W: Tensor


def output_signs(m: int) -> Tensor:
    """m/2 times +1/sqrt(m), then m/2 times -1/sqrt(m), in float64: (1, m)."""
    if m % 2:
        raise ValueError(f"half of the output weights are positive, so m must be even, got {m}")
    return torch.cat([torch.ones(m // 2), -torch.ones(m // 2)]).to(torch.float64)[None] / m**0.5


def signed(m: int, d: int, seed: int) -> Signed:
    """Hidden weights from N(0, 1), in float64. The paper does not state its start; with inputs of norm one this gives an
    output of order one."""
    return Signed(output_signs(m), normals((m, d), seed, "signed network"))


def outputs(net: Signed, X: Tensor) -> Tensor:
    """X (..., n, d) -> (..., n, 1)."""
    return torch.relu(X @ net.W.mT) @ net.A.mT
