"""The task of Corollary 7.1 of Allen-Zhu and Li 2019 as samples that no step has seen before."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.streams import normals
from hierlib.targets.hierarchy import coordinate_product
from hierlib.train.one_pass import Sample


def product_samples(
    d: int,
    k: int,
    alphas: Sequence[float],
    seed: int,
    chunk: int = 2000,
    beta: float = 1.0,
    noise: float = 0.0,
    inputs: Callable[[int, int, int, str], Tensor] = hypercube,
) -> Sample:
    """The task for one run per alpha, in chunks: inputs (chunk, d) that all share, labels (runs, chunk, k).

    x uniform on {+-1/sqrt(d)}^d and H = F + alpha G(F), F_i = sqrt(d/k) x_i and G_r = 1/sqrt(k) prod_{j <= k} sqrt(d) x_j.
    Variants: beta F + alpha G(F); labels y = H + Gaussian noise with E|y - H|^2 = noise^2, which is 2 OPT in the paper's
    units; other corners, drawn by inputs(n, d, seed, name) in {-1, +1}^d.
    """

    def sample(index: int) -> tuple[Tensor, Tensor]:
        X = inputs(chunk, d, seed, f"block {index}")
        signal = coordinate_product(X, k)
        Y = torch.stack([signal.labels(alpha, beta) for alpha in alphas])
        if noise:
            Y += normals((chunk, k), seed, f"label noise {index}", scale=noise)
        return X / d**0.5, Y / k**0.5

    return sample


def together(*samples: Sample) -> Sample:
    """Several tasks with a leading axis of runs as one: inputs (runs, chunk, d), labels (runs, chunk, k)."""

    def sample(index: int) -> tuple[Tensor, Tensor]:
        drawn = [one(index) for one in samples]
        return torch.cat([X.expand(len(Y), -1, -1) for X, Y in drawn]), torch.cat([Y for _, Y in drawn])

    return sample
