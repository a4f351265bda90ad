"""Progress of gradient descent per step, in the unit in which Theorem 3.1 of Arora et al. 2019 promises it.

    rho_k = (1 - Phi(k+1) / Phi(k)) / (eta lambda_0 / 2),   lambda_0 = lambda_min(H_inf)

The theorem says rho_k >= 1. If the residual shrinks by I - eta H_inf, rho_k ends at 4 - 2 eta lambda_0.
"""

import torch
from torch import Tensor

from hierlib.nets.two_layer import TwoLayer, outputs

FLOOR = 1e-12  # below this a float64 loss is made of rounding errors, and so is the ratio of two of them


def progress(residuals: Tensor, eta: float, smallest: float) -> Tensor:
    """rho_k from residual vectors y - u(k) (steps + 1, n), for as long as the loss is above FLOOR: (at most steps,).

    `smallest` is lambda_0, the smallest eigenvalue of H_inf.
    """
    loss = residuals.square().sum(dim=1) / 2
    below = (loss <= FLOOR).nonzero()
    loss = loss[: int(below[0])] if len(below) else loss
    return (1 - loss[1:] / loss[:-1]) / (eta * smallest / 2)


def frozen_step(residual: Tensor, H: Tensor, eta: float) -> Tensor:
    """The residual after a step during which no neuron crosses zero, (I - eta H(k)) (y - u(k)): (n,), (n, n) -> (n,)."""
    return torch.addmv(residual, H, residual, alpha=-eta)


def frozen_part(net: TwoLayer, X: Tensor, y: Tensor, eta: float, share: float) -> tuple[TwoLayer, Tensor, float]:
    """Network, labels (n,) and step whose training is that of `net` with its last neurons frozen, a share of all.

    The k neurons that move are a network f' of their own: f = c + s f' with s = sqrt(k/m) and c the outputs of the frozen
    ones. Its labels are (y - c)/s and its step eta s^2; its residuals are those of f over s.
    """
    m, kept = len(net.a), round(len(net.a) * (1 - share))
    scale = (kept / m) ** 0.5
    rest = outputs(TwoLayer(net.W[kept:], net.a[kept:]), X) * ((m - kept) / m) ** 0.5
    return TwoLayer(net.W[:kept], net.a[:kept]), (y - rest) / scale, eta * scale**2
