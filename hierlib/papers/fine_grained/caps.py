"""A target that is hard to see: one on a small cap of the sphere, zero elsewhere."""

from scipy import stats
from torch import Tensor


def cap(X: Tensor, centre: Tensor, probability: float) -> Tensor:
    """1{<centre, x_i> > t}, with t such that a uniform point of the sphere is in the cap with the given probability.

    X (n, d), centre (d,) of norm one -> (n,). In R^d, (1 + <centre, x>) / 2 has the law Beta((d-1)/2, (d-1)/2).
    """
    shape = (len(centre) - 1) / 2
    threshold = 2 * stats.beta.isf(probability, shape, shape) - 1
    return (X @ centre > threshold).to(X)
