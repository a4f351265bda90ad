"""Named random streams.

Every draw comes from `stream(seed, name, ...)`: the same names give the same numbers on every device, and a new
draw under a new name never shifts an old one. Streams live on the CPU; move what was drawn, not the generator.
"""

import hashlib

import torch
from torch import Tensor


def stream(seed: int, *names: str | int | float) -> torch.Generator:
    """A CPU generator that depends on the seed and the names, and on nothing else."""
    digest = hashlib.sha256("\0".join(map(str, (int(seed), *names))).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


def signs(shape: tuple[int, ...], seed: int, *names: str | int) -> Tensor:
    """Independent fair signs -1 and +1 in float64, from the stream of the names and the shape."""
    return torch.randint(0, 2, shape, generator=stream(seed, *names, *shape)).double() * 2 - 1


def normals(shape: tuple[int, ...], seed: int, *names: str | int, scale: float = 1.0) -> Tensor:
    """Independent normal numbers N(0, scale^2) in float64, from the stream of the names and the shape."""
    return scale * torch.randn(shape, generator=stream(seed, *names, *shape), dtype=torch.float64)
