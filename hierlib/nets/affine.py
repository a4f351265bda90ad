"""One layer with biases, z -> relu(M (z, 1)): what the networks of Allen-Zhu and Li 2019 are made of.

Every function takes weights with leading axes (one network per entry) and inputs with the same or no leading axes.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad


def with_one(X: Tensor) -> Tensor:
    """(x, 1) for the rows of X: (..., n, d) -> (..., n, d + 1)."""
    return pad(X, (0, 1), value=1.0)


def relu_layer(M: Tensor, Z: Tensor) -> Tensor:
    """relu(M (z, 1)) for the rows of Z (..., n, q), M (..., m, q + 1) -> (..., n, m). The last column of M is the bias."""
    return torch.relu(with_one(Z) @ M.mT)


def relu_layer_tangent(M: Tensor, Z: Tensor, dM: Tensor, dZ: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """relu(M (z, 1)) and how it moves with M and z, D (dM (z, 1) + M (dz, 0)) at its own gates D: (..., n, m), twice.

    Without dZ (..., n, q) the inputs stay. A gate is open where the pre-activation is positive; zero has no probability.
    """
    lifted = with_one(Z)
    value, change = torch.relu(lifted @ M.mT), lifted @ dM.mT
    if dZ is not None:
        change = change + dZ @ M[..., :-1].mT
    return value, value.sign() * change  # the sign of relu is the gate, and cheaper than a comparison
