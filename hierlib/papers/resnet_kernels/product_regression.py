"""Kernel regression on x_i + alpha x_1...x_k (Allen-Zhu and Li 2019, theorem 2), for every alpha and off the sample.

Predictions are linear in the labels. So the k coordinates and their product are fitted once, and whatever one wants to
know for x_i + alpha chi follows from what is left of either. Averages over the 2^d corners are finite sums, as in
`cube_regression`; the mean over the corners that are not in the sample follows by taking the sample away.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from hierlib.data.cubes import all_corners
from hierlib.kernels.ridge import RidgePath
from hierlib.kernels.walsh import products, spectrum_by_degree, subsets
from hierlib.papers.resnet_kernels.cube_regression import squared_kernel
from hierlib.targets.hierarchy import coordinate_product

Kernel = Callable[[Tensor, Tensor], Tensor]


class ProductRegression:
    """Ridge regression with a kernel of <x, z> at corners X (n, d). First axis: ridges, second: outputs."""

    def __init__(self, kernel: Kernel, X: Tensor, k: int, ridges: Sequence[float]):
        n, d = X.shape
        self.k, self.ridges = k, torch.tensor(ridges, dtype=torch.float64)
        self.spectrum = spectrum_by_degree(kernel, d)
        signal, gram = coordinate_product(X, k), kernel(X, X)
        self.labels = torch.cat([signal.F, signal.G[:, :1]], 1)  # the coordinates, then their product
        beta = _coefficients(gram, self.labels, ridges)  # (r, n, k + 1)
        known = torch.cat([self.spectrum[1] * signal.F, self.spectrum[k] * signal.G[:, :1]], 1)
        explained = beta.mT @ known  # E[prediction a times target b]: (r, k + 1, k + 1)
        self.cube = beta.mT @ (squared_kernel(X, self.spectrum) @ beta) - explained - explained.mT + torch.eye(k + 1)
        fitted = gram @ beta
        left = fitted - self.labels
        self.sample = left.mT @ left / n  # (r, k + 1, k + 1), as the two above and below
        self.norm = beta.mT @ fitted
        first = _first_occurrences(X)
        seen, corners = left[:, first].mT @ left[:, first], 2.0**d
        self.unseen = (corners * self.cube - seen) / max(corners - len(first), 1.0)

    def errors(self, alpha: float, where: str = "unseen") -> Tensor:
        """Mean squared error of each output over the corners outside the sample, the `cube`, or the `sample`: (r, k)."""
        return self._combined(getattr(self, where), alpha)

    def best(self, alpha: float, where: str = "unseen") -> float:
        """E|H - K|^2 of all outputs together, with the ridge that makes it smallest."""
        return self.errors(alpha, where).sum(1).min().item()

    def objective(self, alpha: float) -> Tensor:
        """The minimum of eq. (3.1), mean squared error on the sample plus ridge times norm: (r,)."""
        return (self.errors(alpha, "sample") + self.ridges[:, None] * self.norms(alpha).square()).sum(1)

    def norms(self, alpha: float) -> Tensor:
        """|u| of each output: (r, k)."""
        return self._combined(self.norm, alpha).clamp(min=0).sqrt()

    def cost_of_learning(self, alpha: float) -> Tensor:
        """What eq. (3.1) is at least for any beta with E|H - K|^2 <= alpha^2/4, by lemma E.2: (r,)."""
        return self.ridges * self.k * alpha**2 / (4 * self.spectrum[self.k])

    def _combined(self, form: Tensor, alpha: float) -> Tensor:
        """A quadratic form of the k coordinates and the product, at x_i + alpha chi: (r, k + 1, k + 1) -> (r, k)."""
        k = self.k
        return form.diagonal(dim1=1, dim2=2)[:, :k] + 2 * alpha * form[:, :k, k] + alpha**2 * form[:, k, k, None]


def specialist_errors(kernel: Kernel, X: Tensor, c: int, k: int, alpha: float, ridges: Sequence[float]) -> Tensor:
    """E|H - K|^2 off the sample, best over the ridges, for a kernel that sees the first c coordinates of X (n, d) only.

    One number for each product of k of these c coordinates: (C(c, k),). Targets with a coordinate outside are beyond it:
    their product is orthogonal to all that the kernel contains. The mean is over the corners of the d-cube that are no
    rows of X; they are counted by the pattern that the kernel sees.
    """
    patterns, sets, d = all_corners(c), subsets(c, k), X.shape[1]
    seen = X[_first_occurrences(X), :c]
    numbers = (seen < 0).long() @ 2 ** torch.arange(c)
    weight = 2.0 ** (d - c) - torch.bincount(numbers, minlength=2**c).double()
    weight = weight / weight.sum()
    labels, targets = (torch.cat([points, products(points, sets)], 1) for points in (X[:, :c], patterns))
    members = torch.zeros(len(sets), c, dtype=torch.float64).scatter_(1, sets, 1.0)
    path, rows, found = RidgePath(kernel(X[:, :c], X[:, :c]), labels), kernel(patterns, X[:, :c]), []
    for ridge in ridges:
        left = path.predict(rows, [ridge])[0] - targets
        form = left.T @ (weight[:, None] * left)
        base, composite = form.diagonal()[:c], form.diagonal()[c:]
        found.append(members @ base + 2 * alpha * (members * form[c:, :c]).sum(1) + k * alpha**2 * composite)
    return torch.stack(found).amin(0)


def two_steps(X: Tensor, k: int, alpha: float) -> float:
    """E|H - f|^2 of a learner that is no kernel: it finds the k coordinates by correlation, then fills a table of 2^k rows.

    Corners X (n, d) with labels x_i + alpha x_1...x_k. A row of the table that no sample fills is zero. If a coordinate is
    not found, nan: the table would be one of other coordinates.
    """
    Y = coordinate_product(X, k).labels(alpha)
    found = (X.T @ Y).abs().argmax(0)
    if not torch.equal(found, torch.arange(k)):
        return float("nan")
    rows = (X[:, :k] < 0).long() @ 2 ** torch.arange(k)
    counts = torch.bincount(rows, minlength=2**k).clamp(min=1)[:, None]
    table = torch.zeros(2**k, k, dtype=X.dtype).index_add_(0, rows, Y) / counts
    return (table - coordinate_product(all_corners(k), k).labels(alpha)).square().sum(1).mean().item()


def _coefficients(gram: Tensor, Y: Tensor, ridges: Sequence[float]) -> Tensor:
    """(K + n ridge I)^-1 Y for a few ridges, by Cholesky: (n, n), (n, q) -> (r, n, q). `RidgePath` is for many."""
    shifted = (gram + len(gram) * ridge * torch.eye(len(gram), dtype=gram.dtype) for ridge in ridges)
    return torch.stack([torch.cholesky_solve(Y, torch.linalg.cholesky(K)) for K in shifted])


def _first_occurrences(X: Tensor) -> Tensor:
    """The rows of X (n, d) without repetitions, by their first places."""
    _, inverse = torch.unique(X, dim=0, return_inverse=True)
    places = torch.full((int(inverse.max()) + 1,), len(X))
    return places.scatter_reduce(0, inverse, torch.arange(len(X)), "amin").sort().values
