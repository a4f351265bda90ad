"""Gradient descent on a linear model: the predictions that the papers make about wide networks.

With the matrix H fixed, u(k+1) = u(k) - eta H (u(k) - y) has the closed form

    y - u(k) = sum_i (1 - eta lambda_i)^k (v_i' (y - u(0))) v_i.          (Arora et al. 2019, eq. 7 and 8)
"""

import torch
from torch import Tensor

from hierlib.kernels.spectrum import Spectrum


def predicted_residuals(eigen: Spectrum, y: Tensor, eta: float, steps: Tensor, start: Tensor | None = None) -> Tensor:
    """Residual vectors y - u(k) at the given steps (q,): (q, n). `start` is u(0), zero when omitted."""
    modes = eigen.vectors.T @ (y if start is None else y - start)
    decay = (1 - eta * eigen.values) ** steps[:, None].to(modes)
    return (decay * modes) @ eigen.vectors.T


def predicted_loss(eigen: Spectrum, y: Tensor, eta: float, steps: Tensor) -> Tensor:
    """Phi(k) = |y - u(k)|^2 / 2 at the given steps (q,), without forming the vectors: (q,)."""
    decay = (1 - eta * eigen.values) ** (2 * steps[:, None].to(y))
    return decay @ (eigen.vectors.T @ y) ** 2 / 2


def largest_gap(residuals: Tensor, predicted: Tensor) -> float:
    """max_k |u(k) - predicted u(k)| / sqrt(n) over a run, from residual vectors (steps, n): what the proofs bound."""
    return ((residuals - predicted).norm(dim=1).max() / residuals.shape[1] ** 0.5).item()


def iterated_residuals(H: Tensor, y: Tensor, eta: float, steps: int) -> Tensor:
    """The recursion itself, step by step (Arora et al. 2019, eq. 7): (steps + 1, n). Slow twin of the closed form."""
    residuals = [y]
    for _ in range(steps):
        residuals.append(residuals[-1] - eta * (H @ residuals[-1]))
    return torch.stack(residuals)
