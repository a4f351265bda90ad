"""The two-layer ReLU network whose output weights stay at random signs.

f(x) = 1/sqrt(m) sum_r a_r max(<w_r, x>, 0),   w_r ~ N(0, kappa^2 I),   a_r uniform in {-1, +1}
                                                                        (Arora et al. 2019, eq. 1)
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.streams import normals, signs


class TwoLayer(NamedTuple):
    """Hidden weights W (m, d), one row per neuron, and frozen output signs a (m,)."""

    W: Tensor
    a: Tensor


def two_layer(m: int, d: int, kappa: float, seed: int, paired: bool = False) -> TwoLayer:
    """Draw a network of m neurons on R^d at initial scale kappa, in float64.

    `paired` is an addition to the paper: m/2 neurons are drawn and repeated with the opposite output sign, so
    that the output is zero up to rounding before training while the Gram matrix keeps its expectation. The paper gets there
    only in the limit kappa -> 0, where its own theory of lazy neurons breaks down.
    """
    if paired and m % 2:
        raise ValueError(f"a paired network needs an even number of neurons, got m = {m}")
    drawn = m // 2 if paired else m
    W = normals((drawn, d), seed, "hidden weights", scale=kappa)
    a = signs((drawn,), seed, "output signs")
    if paired:
        W, a = torch.cat([W, W]), torch.cat([a, -a])
    return TwoLayer(W, a)


def outputs(net: TwoLayer, X: Tensor) -> Tensor:
    """f(x_i) for the rows of X (n, d) -> (n,)."""
    return torch.relu(X @ net.W.T) @ net.a / len(net.a) ** 0.5


def active(net: TwoLayer, X: Tensor) -> Tensor:
    """Which neuron is on for which input, 1{<w_r, x_i> >= 0}: (n, m), bool."""
    return X @ net.W.T >= 0


def flipped(before: TwoLayer, after: TwoLayer, X: Tensor) -> float:
    """Share of the n m activations that differ between two states of a network."""
    return (active(before, X) != active(after, X)).double().mean().item()


def near_kink(net: TwoLayer, X: Tensor, R: float) -> Tensor:
    """The events A_{r,i} = {|<w_r(0), x_i>| <= R} (Arora et al. 2019, eq. 15): (n, m), bool."""
    return (X @ net.W.T).abs() <= R
