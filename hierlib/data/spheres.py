"""Inputs drawn uniformly from the unit sphere."""

import torch
from torch import Tensor

from hierlib.streams import normals


def unit_sphere(n: int, d: int, seed: int, name: str = "sphere", dtype: torch.dtype = torch.float64) -> Tensor:
    """n independent uniform points on the sphere in R^d, as rows: (n, d)."""
    X = normals((n, d), seed, name)
    return (X / X.norm(dim=1, keepdim=True)).to(dtype)
