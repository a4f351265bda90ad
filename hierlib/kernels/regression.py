"""Kernel regression: what an infinitely wide network has learned when its training is over."""

import torch
from torch import Tensor


def interpolant(H: Tensor, Y: Tensor, rows: Tensor) -> Tensor:
    """f(x) = h(x)' H^-1 y, the function of least norm through the labels.

    H (n, n) between the samples, Y (n,) or one column of labels per task (n, q), rows h(x) (p, n) between new points
    and samples -> (p,) or (p, q). Gradient descent on a wide network that starts at zero ends here.
    """
    columns = Y[:, None] if Y.ndim == 1 else Y
    values = rows @ torch.cholesky_solve(columns, torch.linalg.cholesky(H))
    return values.squeeze(1) if Y.ndim == 1 else values
