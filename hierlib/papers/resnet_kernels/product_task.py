"""The task of Corollary 7.1 of Allen-Zhu and Li 2019 as samples that no step has seen before."""

from collections.abc import Sequence

import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.targets.hierarchy import coordinate_product
from hierlib.train.one_pass import Sample


def product_samples(d: int, k: int, alphas: Sequence[float], seed: int, chunk: int = 2000) -> Sample:
    """The task for one run per alpha, in chunks: inputs (chunk, d) that all share, labels (runs, chunk, k).

    x uniform on {+-1/sqrt(d)}^d and H = F + alpha G(F), F_i = sqrt(d/k) x_i and G_r = 1/sqrt(k) prod_{j <= k} sqrt(d) x_j.
    """

    def sample(index: int) -> tuple[Tensor, Tensor]:
        X = hypercube(chunk, d, seed, f"block {index}")
        signal = coordinate_product(X, k)
        return X / d**0.5, torch.stack([signal.labels(alpha) for alpha in alphas]) / k**0.5

    return sample
