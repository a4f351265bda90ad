"""Targets with a base signal and a composite signal on top of it: H(x) = beta F(x) + alpha G(F(x)).

Allen-Zhu and Li 2019, section 5, with the two examples of that paper on the hypercube. Both parts are kept as values at
the inputs, so that what a network has learned of either can be read off by a projection (`measures.signals`).
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Hierarchy(NamedTuple):
    """Base signal F(x) and composite signal G(F(x)) at the same inputs, both (n, k)."""

    F: Tensor
    G: Tensor

    def labels(self, alpha: float, beta: float = 1.0) -> Tensor:
        """H(x) = beta F(x) + alpha G(F(x)): (n, k)."""
        return beta * self.F + alpha * self.G


def paired_parities(X: Tensor, k: int = 8) -> Hierarchy:
    """The task of Figure 2 (Allen-Zhu and Li 2019, appendix A), for rows X (n, d) in {-1, +1}^d with d >= 2k.

    F = (x1 x2, x3 x4, ...), k products of pairs; G takes +-y1...y_{k/2} for the first half of the outputs and
    +-y_{k/2+1}...y_k for the second half. The paper writes two of the k entries of G; alternating signs are our choice.
    """
    if k % 2 or X.shape[1] < 2 * k:
        raise ValueError(f"paired parities need an even k and at least 2k input coordinates, got k = {k}, d = {X.shape[1]}")
    F = X[:, 0 : 2 * k : 2] * X[:, 1 : 2 * k : 2]
    halves = F.reshape(len(F), 2, k // 2).prod(2).repeat_interleave(k // 2, dim=1)
    signs = 1.0 - 2.0 * (torch.arange(k, device=X.device, dtype=X.dtype) % 2)
    return Hierarchy(F, halves * signs)


def coordinate_product(X: Tensor, k: int) -> Hierarchy:
    """The task of Theorem 2 (Allen-Zhu and Li 2019, section 7): F = the first k coordinates, G = their product, k times.

    X (n, d) in {-1, +1}^d, which is sqrt(d) times the paper's input. Which coordinates are meant does not matter to
    methods that treat all coordinates alike.
    """
    F = X[:, :k]
    return Hierarchy(F, F.prod(1, keepdim=True).expand(-1, k))
