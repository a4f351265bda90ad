"""How much of the base signal and of the composite signal of a target a network has learned.

The target is H(x) = beta F(x) + alpha G(F(x)) (Allen-Zhu and Li 2019, section 5); both signals are read off by projection.
"""

from typing import NamedTuple

from torch import Tensor

from hierlib.targets.hierarchy import Hierarchy


class Shares(NamedTuple):
    """How much of the two signals an output contains, in units of what it should contain, and the error that is left.

    error = E|out - H|^2 = base_error + composite_error + rest, where the first two are what is missing of beta F and of
    alpha G(F) and the rest is everything else. Each may have leading axes (one per network).
    """

    base: Tensor
    composite: Tensor
    base_error: Tensor
    composite_error: Tensor
    rest: Tensor
    error: Tensor


def shares(outputs: Tensor, signal: Hierarchy, alpha: float, beta: float = 1.0) -> Shares:
    """Project outputs (..., n, k) on the two signals. F_r and G_r must have mean square one and be uncorrelated.

    base = mean_r E[out_r F_r] / beta and composite = mean_r E[out_r G_r] / alpha are 1 for a perfect fit. Expectations are
    means over the n inputs, so the split of the error is exact up to the correlations of F and G on these inputs.
    """
    n = outputs.shape[-2]
    on_base = (outputs * signal.F).sum(-2) / n
    on_composite = (outputs * signal.G).sum(-2) / n
    base_error = (on_base - beta).square().sum(-1)
    composite_error = (on_composite - alpha).square().sum(-1)
    error = (outputs - signal.labels(alpha, beta)).square().sum((-2, -1)) / n
    return Shares(
        on_base.mean(-1) / beta,
        on_composite.mean(-1) / alpha,
        base_error,
        composite_error,
        error - base_error - composite_error,
        error,
    )
