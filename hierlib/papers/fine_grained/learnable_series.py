"""Bounds on the path length sqrt(y' H_inf^-1 y) for y_i = sum_j alpha_j <beta_j, x_i>^p_j, p_j = 1 or even.

Both hold for all n and all unit inputs with invertible H_inf (Arora et al. 2019, section 6 and appendix E).
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from hierlib.kernels.relu import series_coefficient


def triangle_bound(powers: Sequence[int], alphas: Tensor, betas: Tensor) -> float:
    """3 sum_j p_j |alpha_j| |beta_j|^p_j (Arora et al. 2019, eq. 13): alphas (J,), betas (J, d)."""
    p = torch.tensor(powers)
    return float(3 * (p * alphas.abs() * betas.norm(dim=1) ** p).sum())


def series_bound(powers: Sequence[int], alphas: Tensor, betas: Tensor) -> float:
    """sqrt of sum_p |T_p|^2 / c_p, where T_p is the sum of alpha_j beta_j^(x p) over p_j = p: alphas (J,), betas (J, d).

    The sharp form of eq. 13. H_inf = sum_p c_p K^p is a Gram matrix of all tensor powers sqrt(c_p) x^(x p) side by
    side, in which y has the weights T_p / sqrt(c_p): terms of one degree add as tensors, different degrees as squares.
    """
    p = torch.tensor(powers)
    weights = alphas * betas.norm(dim=1) ** p
    # sizes and angles apart: <beta_j, beta_k>^p overflows long before a term of a convergent series gets large
    directions = normalize(betas)
    cosines = directions @ directions.T
    total = 0.0
    for power in sorted(set(powers)):
        same = p == power
        square = weights[same] @ cosines[same][:, same] ** power @ weights[same]
        total += float(square) / series_coefficient(power)
    return total**0.5
