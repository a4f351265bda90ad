"""Named random streams.

Every draw comes from `stream(seed, name, ...)`: the same names give the same numbers on every device, and a new
draw under a new name never shifts an old one. Streams live on the CPU; move what was drawn, not the generator.
"""

import hashlib

import torch


def stream(seed: int, *names: str | int | float) -> torch.Generator:
    """A CPU generator that depends on the seed and the names, and on nothing else."""
    digest = hashlib.sha256("\0".join(map(str, (int(seed), *names))).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)
