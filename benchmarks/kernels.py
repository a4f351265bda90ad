"""The Gram matrix against the matrix product it contains."""

from collections.abc import Iterator

import torch

from benchmarks.timing import Result, side_by_side
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.relu import relu_gram


def measure() -> Iterator[Result]:
    for dtype in (torch.float32, torch.float64):
        X = unit_sphere(4000, 784, seed=0, dtype=dtype)
        product, gram = side_by_side(lambda X=X: X @ X.T, lambda X=X: relu_gram(X))
        name = f"relu_gram, n = 4000, d = 784, {str(dtype).removeprefix('torch.')}"
        yield Result(name, f"{gram / product:.2f} x the time of X @ X.T ({gram:.2f} s)", "at most 2 x", gram <= 2 * product)
