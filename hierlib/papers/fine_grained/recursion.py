"""The error recursion of Arora et al. 2019: what a step of a real network does beyond a step of the linear sequence.

    u(k+1) - u(k) = -eta H(k)  (u(k) - y) + epsilon(k)                            (eq. 24)
                  = -eta H_inf (u(k) - y) + zeta(k)                               (eq. 25)
    u(k) - y      = -(I - eta H_inf)^k y + e(k)                                   (eq. 32)

epsilon(k) is made by neurons that cross zero during the step, zeta(k) also by H(k) having left H_inf, and e(k) is what has
come together after k steps, from them and from the outputs u(0).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.empirical import both_active
from hierlib.kernels.spectrum import Spectrum
from hierlib.nets.two_layer import TwoLayer, near_kink
from hierlib.theory.linear_dynamics import predicted_residuals


class Recursion(NamedTuple):
    """One run of K steps: u(k) - y (K + 1, n), epsilon(k) and zeta(k) (K, n), and the largest movement R of a neuron."""

    residuals: Tensor
    epsilon: Tensor
    zeta: Tensor
    R: float


def follow(start: TwoLayer, X: Tensor, y: Tensor, H_inf: Tensor, eta: float, steps: int) -> Recursion:
    """Gradient descent in double precision, with H(k) at every step: X (n, d), y (n,), H_inf (n, n)."""
    K, m, W = X @ X.T, len(start.a), start.W
    a = start.a / m**0.5
    residuals, pulls, R = [], [], 0.0
    for _ in range(steps + 1):
        P = X @ W.T
        on = (P >= 0).to(X)
        residual = (P * on) @ a - y
        residuals.append(residual)
        pulls.append(eta * (K * both_active(on) / m) @ residual)
        R = max(R, (W - start.W).norm(dim=1).max().item())
        W = W - eta * ((on * residual[:, None] * a).T @ X)
    r, pull = torch.stack(residuals), torch.stack(pulls)[:-1]
    step = r[1:] - r[:-1]
    return Recursion(r, step + pull, step + eta * r[:-1] @ H_inf, R)


def epsilon_bound(run: Recursion, start: TwoLayer, X: Tensor, eta: float) -> Tensor:
    """2 eta sqrt(n) / m sum_i |S_i| |u(k) - y|, the bound on |epsilon(k)|_1 below eq. 24, for every step: (K,).

    S_i holds the neurons that start within R of the kink of x_i.
    """
    n, m = X.shape[0], len(start.a)
    pairs = near_kink(start, X, run.R).sum().item()
    return 2 * eta * n**0.5 / m * pairs * run.residuals[:-1].norm(dim=1)


def error(run: Recursion, eigen: Spectrum, y: Tensor, eta: float) -> tuple[Tensor, Tensor]:
    """e(k) of eq. 32, and the part of it that is not (I - eta H_inf)^k u(0), the sum of the zetas: twice (K + 1, n)."""
    k = torch.arange(len(run.residuals))
    e = run.residuals + predicted_residuals(eigen, y, eta, k)
    return e, run.residuals + predicted_residuals(eigen, y, eta, k, run.residuals[0] + y)


def envelope(eta: float, smallest: float, steps: int, rate: float = 0.25) -> Tensor:
    """eta k (1 - rate eta lambda_0)^(k - 1) for k = 1 .. steps, the shape of the second term of eq. 33: (steps,)."""
    k = torch.arange(1, steps + 1).double()
    return eta * k * (1 - rate * eta * smallest) ** (k - 1)
