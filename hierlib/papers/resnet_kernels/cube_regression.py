"""Error of kernel ridge regression over the whole hypercube, exactly and for any dimension.

For a kernel of <x, z> with lambda_S^2 = `spectrum_by_degree`, the averages over all 2^d corners are finite sums:
E_x[K(x, x_i) K(x, x_j)] is the kernel with lambda_S^4 in place of lambda_S^2, and E_x[K(x, x_j) chi_S(x)] = lambda_S^2
chi_S(x_j). No test points are needed (Allen-Zhu and Li 2019, proposition E.1, is all that is used).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from torch import Tensor

from hierlib.data.cubes import all_corners, hypercube
from hierlib.kernels.hamming import by_distance
from hierlib.kernels.ridge import RidgePath
from hierlib.kernels.walsh import krawtchouk, products, spectrum_by_degree, subsets
from hierlib.targets.hierarchy import coordinate_product

Kernel = Callable[[Tensor, Tensor], Tensor]


def squared_kernel(X: Tensor, spectrum: Tensor) -> Tensor:
    """E_x[K(x, x_i) K(x, x_j)] over all corners: X (n, d), spectrum (d + 1,) -> (n, n)."""
    d = X.shape[1]
    squares = spectrum.square().tolist()
    values = [math.fsum(squares[k] * krawtchouk(k, h, d) for k in range(d + 1)) for h in range(d + 1)]
    return by_distance(X, X, torch.tensor(values, dtype=torch.float64))


class Solutions:
    """Ridge regression on x_i + alpha x_1...x_k, i = 1..k (Allen-Zhu and Li 2019, theorem 2), with one kernel.

    The errors are over the whole cube. Everything has the ridges as first axis and the k outputs as second.
    """

    def __init__(self, kernel: Kernel, X: Tensor, k: int, alpha: float, ridges: Sequence[float]):
        self.spectrum, self.alpha, self.k = spectrum_by_degree(kernel, X.shape[1]), alpha, k
        signal = coordinate_product(X, k)
        Y, K = signal.labels(alpha), kernel(X, X)
        path = RidgePath(K, Y)
        beta = path.coefficients(ridges)
        explained = beta * (self.spectrum[1] * signal.F + alpha * self.spectrum[k] * signal.G)
        quadratic = (beta * (squared_kernel(X, self.spectrum) @ beta)).sum(1)
        self.errors = quadratic - 2 * explained.sum(1) + 1 + alpha**2
        self.training_errors = (K @ beta - Y).square().mean(1)
        self.norms = path.norms(ridges).sqrt()

    @property
    def needed(self) -> float:
        """alpha / (2 |lambda_S|), the norm without which no error is below alpha^2/4 (lemma E.2)."""
        return self.alpha / (2 * self.spectrum[self.k].item() ** 0.5)

    def forbidden(self, errors: Tensor) -> int:
        """How many solutions have an error of at most alpha^2/4 and less than the norm that this needs: (r, q) -> count."""
        return int(((errors <= self.alpha**2 / 4) & (self.norms < self.needed)).sum())

    @property
    def best(self) -> float:
        """Smallest error over the ridges of all outputs together, E|H - K|^2."""
        return self.errors.sum(1).min().item()


def cheapest_norm(spectrum: Tensor, k: int, alpha: float, error: float) -> float:
    """Least |u| with E(phi(u, x) - x_i - alpha chi_S)^2 <= error, |S| = k: the minimum that lemma E.2 bounds.

    Only u_i and u_S matter. Along the ridge path u = lambda c / (lambda^2 + mu) the error rises with mu, from 0 to
    1 + alpha^2, and takes the given value once.
    """
    squares, target = np.array([spectrum[1].item(), spectrum[k].item()]), np.array([1.0, alpha])

    def excess(log_mu: float) -> float:
        mu = math.exp(log_mu)
        return float((((mu * target) / (squares + mu)) ** 2).sum() - error)

    if error >= 1 + alpha**2:
        return 0.0  # the zero function is good enough
    mu = math.exp(brentq(excess, -60.0, 60.0, xtol=1e-14))
    return float(np.sqrt((squares * target**2 / (squares + mu) ** 2).sum()))


def memorising_margin(gram: Tensor, d: int, k: int) -> float:
    """Smallest eigenvalue of the Gram matrix of products of k coordinates, over the (d/5)^k / 400 that lemma E.3 needs."""
    return 400 * torch.linalg.eigvalsh(gram)[0].item() / (d / 5) ** k


def sample_limit(d: float, k: int) -> float:
    """(d / (20 k^2 log^2 d))^(k/2), the largest number of samples in lemma E.3."""
    return (d / (20 * k**2 * math.log(d) ** 2)) ** (k / 2)


def crossing(sizes: ArrayLike, values: ArrayLike, level: float) -> float:
    """Where a falling curve first goes below `level`, on the line between the two sizes around it, log-log; nan if never."""
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(values, dtype=float))
    below = np.flatnonzero(y < math.log(level))
    if not len(below) or below[0] == 0:
        return math.nan
    i = below[0]
    share = (y[i - 1] - math.log(level)) / (y[i - 1] - y[i])
    return float(np.exp(x[i - 1] + share * (x[i] - x[i - 1])))


def samples_to_learn(kernel: Kernel, d: int, k: int, alpha: float, ridges: Sequence[float], seed: int) -> float:
    """Number of samples at which the best error over the ridges falls to k alpha^2 / 2, half of what the product is worth.

    The samples grow by a quarter at a time, from half the number of products on, and each set contains the last one.
    """
    limit = 20 * math.comb(d, k)
    X = hypercube(limit, d, seed, "growing sample")
    sizes, prices = [round(0.4 * math.comb(d, k))], [math.inf]
    while prices[-1] > 0.5:
        if sizes[-1] * 1.25 > limit:
            return math.nan
        sizes.append(round(sizes[-1] * 1.25))
        prices.append(Solutions(kernel, X[: sizes[-1]], k, alpha, ridges).best / (k * alpha**2))
    return crossing(sizes[1:], prices[1:], 0.5)


def errors_of_all_targets(kernel: Kernel, X: Tensor, k: int, alpha: float, ridges: Sequence[float]) -> Tensor:
    """E|H - K|^2 for every choice of the k coordinates, for any kernel on a small cube: X (n, d) -> (r, C(d, k)).

    Predictions are linear in the labels. So the coordinates and the products of k of them are fitted once, and the error
    of x_i + alpha chi_S follows from the inner products of what is left of either.
    """
    corners, sets = all_corners(X.shape[1]), subsets(X.shape[1], k)
    labels, targets = (torch.cat([points, products(points, sets)], 1) for points in (X, corners))
    members = torch.zeros(len(sets), X.shape[1], dtype=torch.float64).scatter_(1, sets, 1.0)
    path, rows, found = RidgePath(kernel(X, X), labels), kernel(corners, X), []
    for ridge in ridges:
        left = path.predict(rows, [ridge])[0] - targets
        base, composite = left[:, : X.shape[1]], left[:, X.shape[1] :]
        cross = members * (composite.T @ base) / len(corners)
        alone = base.square().mean(0), composite.square().mean(0)
        found.append(members @ alone[0] + 2 * alpha * cross.sum(1) + k * alpha**2 * alone[1])
    return torch.stack(found)
