"""Labels that are not the data's own: random signs, and the hardest direction of a kernel."""

import torch
from torch import Tensor

from hierlib.streams import signs, stream


def random_signs(n: int, seed: int, name: str = "random labels") -> Tensor:
    """n independent uniform labels in {-1, +1}: (n,)."""
    return signs((n,), seed, name)


def shuffled(y: Tensor, seed: int) -> Tensor:
    """The same labels dealt out to the samples at random: their statistics stay, their meaning goes."""
    return y[torch.randperm(len(y), generator=stream(seed, "shuffled labels", len(y)))]


def partly_random(y: Tensor, share: float, seed: int, name: str = "partly random labels") -> Tensor:
    """A given share of the +-1 labels, chosen at random, redrawn from {-1, +1} (Arora et al. 2019, fig. 2).

    Redrawn, not flipped: half of them come out as they were.
    """
    generator = stream(seed, name, len(y))
    chosen = torch.randperm(len(y), generator=generator)[: round(share * len(y))]
    redrawn = torch.randint(0, 2, (len(y),), generator=generator).to(y) * 2 - 1
    return y.index_copy(0, chosen, redrawn[chosen])


def worst_case_labels(eigenvectors: Tensor) -> Tensor:
    """The eigenvector of the smallest eigenvalue, scaled to the norm sqrt(n) of +-1 labels (Arora et al. 2019, fig. 1).

    `eigenvectors` (n, n) holds them as columns in descending order of the eigenvalue. The paper's eigenvector has norm
    one; without the scaling its loss would start n times lower than that of +-1 labels.
    """
    return eigenvectors[:, -1] * len(eigenvectors) ** 0.5
