"""Inputs drawn from the unit sphere: uniformly, or with a given height above its equator."""

import torch
from torch import Tensor

from hierlib.streams import normals, stream


def unit_sphere(n: int, d: int, seed: int, name: str = "sphere", dtype: torch.dtype = torch.float64) -> Tensor:
    """n independent uniform points on the sphere in R^d, as rows: (n, d)."""
    X = normals((n, d), seed, name)
    return (X / X.norm(dim=1, keepdim=True)).to(dtype)


def around_axis(heights: Tensor, d: int, seed: int, name: str = "around the axis") -> Tensor:
    """Independent points of the sphere in R^d with the given first coordinates (n,), uniform around that axis: (n, d)."""
    others = unit_sphere(len(heights), d - 1, seed, name)
    return torch.cat([heights[:, None], (1 - heights.square()).sqrt()[:, None] * others], dim=1)


def uniform_heights(n: int, d: int, seed: int, name: str = "heights") -> Tensor:
    """Independent points of the sphere in R^d whose first coordinate is uniform on [-1, 1]: (n, d).

    In three dimensions this is the uniform law (Archimedes). In many it is not: there a uniform point has a height of
    order 1/sqrt(d), and labels that follow the height would all be close to zero.
    """
    heights = torch.rand(n, generator=stream(seed, "uniform heights", name, n), dtype=torch.float64) * 2 - 1
    return around_axis(heights, d, seed, name)
