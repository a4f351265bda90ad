"""How far gradient descent carries the hidden weights of a wide two-layer network, and where it leaves them.

With Z(0) (m d, n) the gradients of the n outputs at the start and H(0) = Z(0)' Z(0), the linear weight sequence

    w(k+1) = w(k) - eta Z(0) (Z(0)' w(k) - y),   w(0) = 0                 (Arora et al. 2019, eq. 11)

is w(k) = Z(0) T_k y with T_k = eta sum_{j<k} (I - eta H(0))^j. It ends at Z(0) H(0)^-1 y, at the distance
sqrt(y' H(0)^-1 y) from where it began (sec. 5.2). Whether a network goes there depends on its laziness.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.spectrum import Spectrum, inverse_squares, spectral_inverse_norm
from hierlib.nets.two_layer import TwoLayer, active


def predicted_distances(eigen: Spectrum, y: Tensor, eta: float, steps: Tensor) -> Tensor:
    """sqrt(y' T_k H T_k y) at the given steps (q,): (q,). Arora et al. 2019, appendix D.1 (leading term of eq. 37).

    In the eigenbasis of H: sqrt(sum_i (v_i' y)^2 (1 - (1 - eta lambda_i)^k)^2 / lambda_i), which ends at
    sqrt(y' H^-1 y). `eigen` is that of H_inf for the paper's prediction, of H(0) for the sequence (11) itself.
    """
    fitted = 1 - (1 - eta * eigen.values) ** steps[:, None].to(y)
    return (fitted**2 @ inverse_squares(eigen, y)).sqrt()


def jacobian(net: TwoLayer, X: Tensor) -> Tensor:
    """Z: column i holds the gradient of f(x_i) in all hidden weights, a_r 1{<w_r, x_i> >= 0} x_i / sqrt(m): (m d, n).

    For small networks only; it has m d n entries.
    """
    gates = active(net, X).to(X) * net.a / len(net.a) ** 0.5
    return (gates[:, :, None] * X[:, None, :]).flatten(1).T


def jacobian_times(net: TwoLayer, X: Tensor, c: Tensor) -> Tensor:
    """Z c for c (n,), as one row per neuron, a_r/sqrt(m) sum_i c_i 1{<w_r, x_i> >= 0} x_i: (m, d). Z is never formed."""
    pulls = active(net, X).to(X) * c[:, None]
    return (net.a / len(net.a) ** 0.5)[:, None] * (pulls.T @ X)


def auxiliary_sequence(net: TwoLayer, X: Tensor, y: Tensor, eta: float, steps: int, start: Tensor | None = None) -> Tensor:
    """Equation 11, step by step: (steps + 1, m d). The paper starts it at zero. For small networks only."""
    Z = jacobian(net, X)
    weights = [torch.zeros(len(Z), dtype=Z.dtype) if start is None else start]
    for _ in range(steps):
        weights.append(weights[-1] - eta * (Z @ (Z.T @ weights[-1] - y)))
    return torch.stack(weights)


def auxiliary_limit(net: TwoLayer, X: Tensor, y: Tensor) -> Tensor:
    """Where the sequence (11) ends, Z(0) H(0)^-1 y, as one row per neuron: (m, d).

    Its norm is sqrt(y' H(0)^-1 y); its rows say how far every single neuron goes.
    """
    return jacobian_times(net, X, torch.linalg.solve(finite_gram(net.W, X), y))


def laziness(eigen: Spectrum, y: Tensor, m: int, kappa: float) -> float:
    """Lambda = kappa sqrt(m) / sqrt(y' H^-1 y), from the spectrum of H_inf: large where neurons keep their on/off pattern.

    All weights together travel the path length, so one neuron moves by about that over sqrt(m), while its pre-activations
    start at size kappa. The ratio is not in the paper; its theorems ask for Lambda >> 1, and by homogeneity nothing but
    kappa / |y| could matter.
    """
    return kappa * m**0.5 / spectral_inverse_norm(eigen, y).item()


def linear_movement(net: TwoLayer, X: Tensor, eigen: Spectrum, y: Tensor, eta: float, steps: int) -> Tensor:
    """W(k) - W(0) (m, d) after `steps` steps if no neuron flipped and the Gram matrix stayed at H_inf.

    Row r is a_r/sqrt(m) sum_i c_i 1{<w_r, x_i> >= 0} x_i with the summed residuals c = eta sum_{j<k} (I - eta H)^j y.
    """
    modes = (1 - (1 - eta * eigen.values) ** steps) / eigen.values * (eigen.vectors.T @ y)
    return jacobian_times(net, X, eigen.vectors @ modes)


class EndpointSummary(NamedTuple):
    """Where training has left a network, beside the end of the linear sequence."""

    length: float  # |W - W(0)|_F
    linear_length: float  # sqrt(y' H(0)^-1 y)
    gap: float  # between the two ends, over the linear length
    busiest: float  # max_r |w_r - w_r(0)|
    linear_busiest: float


def endpoint_summary(start: TwoLayer, end: TwoLayer, X: Tensor, y: Tensor) -> EndpointSummary:
    """Compare W - W(0) with Z(0) H(0)^-1 y: as lengths, as points, and by the neuron that goes furthest."""
    moved, aim = end.W - start.W, auxiliary_limit(start, X, y)
    length, linear_length, gap = (weights.norm().item() for weights in (moved, aim, moved - aim))
    busiest, linear_busiest = (weights.norm(dim=1).max().item() for weights in (moved, aim))
    return EndpointSummary(length, linear_length, gap / linear_length, busiest, linear_busiest)
