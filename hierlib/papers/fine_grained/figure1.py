"""Which labels are easy? How labels lie along the eigenvectors of H_inf, and how fast each kind is then fitted.

Along the eigenvector v_i the squared residual shrinks by (1 - eta lambda_i)^2 per step (Arora et al. 2019, section 4):
labels on the first eigenvectors are fitted at once, labels on the last ones hardly ever. Figure 1 of the paper compares
three label vectors of equal norm on the same inputs: the true ones, random signs, and the last eigenvector.
"""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from hierlib.data.labels import random_signs, worst_case_labels
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import Spectrum, spectrum
from hierlib.nets.two_layer import two_layer
from hierlib.streams import stream
from hierlib.theory.linear_dynamics import predicted_loss
from hierlib.train.full_batch import gradient_descent


class LabelComparison(NamedTuple):
    """Inputs X (n, d), the eigenpairs of their H_inf, named label vectors (n,) of norm sqrt(n), and the step eta."""

    X: Tensor
    eigen: Spectrum
    labels: dict[str, Tensor]
    eta: float

    def predicted(self, k: Tensor) -> dict[str, Tensor]:
        """Loss per sample at the steps k (q,) for every label vector, without a network: (q,) each."""
        return {name: predicted_loss(self.eigen, y, self.eta, k) / len(y) for name, y in self.labels.items()}


def three_labels(X: Tensor, true: Tensor, seed: int, eta: float | None = None) -> LabelComparison:
    """The comparison of Arora et al. 2019, figure 1. The step is 1/lambda_max when omitted."""
    eigen = spectrum(relu_gram(X))
    labels = {"true": true, "random": random_signs(len(X), seed), "worst": worst_case_labels(eigen.vectors)}
    return LabelComparison(X, eigen, labels, 1 / eigen.values[0].item() if eta is None else eta)


def loss_curves(
    of: LabelComparison, steps: int, m: int, kappa: float, seed: int, paired: bool = False, device: str = "cpu"
) -> dict[str, Tensor]:
    """Loss per sample at every step (steps + 1,) of networks that start alike and differ in their labels only.

    Plain initialisation at scale kappa is that of the paper (Arora et al. 2019, eq. 1); `paired` adds to every neuron
    a copy of opposite sign, so that the output starts at zero for any kappa.
    """
    net = two_layer(m, of.X.shape[1], kappa, seed, paired=paired)
    curves = {}
    for name, y in of.labels.items():
        run = gradient_descent(net, of.X, y, of.eta, steps, device=device, progress=name)
        curves[name] = run.loss(y) / len(y)
    return curves


def permuted_projections(eigen: Spectrum, y: Tensor, seed: int) -> Tensor:
    """Labels with the projections of y dealt out to the eigenvectors at random. Same norm, same sizes, no alignment."""
    order = torch.randperm(len(y), generator=stream(seed, "permuted projections", len(y)))
    return eigen.vectors @ (eigen.vectors.T @ y)[order]


def first_step(loss: Tensor, share: float) -> float:
    """k_share: the first step at which a loss curve (steps + 1,) is down to a share of its start; infinite if never."""
    reached = (loss <= share * loss[0]).nonzero()
    return float(reached[0]) if len(reached) else float("inf")


def predicted_first_step(eigen: Spectrum, y: Tensor, eta: float, share: float) -> int:
    """`first_step` of the predicted loss, found by bisection: it may lie far beyond anything one would train.

    Below the stability limit, eta lambda_max < 2, every term of the prediction falls, so there is one crossing.
    """
    if not eta * eigen.values[0] < 2 or not eigen.values[-1] > 0:
        raise ValueError("the predicted loss falls to zero only for 0 < lambda_i < 2/eta")

    def down(k: int) -> bool:
        start, now = predicted_loss(eigen, y, eta, torch.tensor([0, k]))
        return bool(now <= share * start)

    return bisect_left(range(2**62), True, key=down)


def largest_miss(of: LabelComparison, measured: Mapping[str, Tensor], until: int) -> float:
    """Largest distance of measured to predicted residual norm up to step `until`, in units of |y| = sqrt(n).

    `measured` holds curves of the loss per sample (steps + 1,), for all label vectors of the comparison or for some.
    """
    predicted = of.predicted(torch.arange(until + 1))
    gaps = [(2 * loss[: until + 1]).sqrt() - (2 * predicted[name]).sqrt() for name, loss in measured.items()]
    return max(gap.abs().max().item() for gap in gaps)


def slower_over_faster(measured: Mapping[str, Tensor], since: int) -> float:
    """Smallest ratio of a loss curve to the one named before it, from step `since` on: above 1 if the order is as named."""
    curves = [loss[since:] for loss in measured.values()]
    return min((slower / faster).min().item() for faster, slower in pairwise(curves))


def top_share_ratio(vectors: Tensor, labels: Tensor, top: int) -> Tensor:
    """Share of |y|^2 on the first `top` eigenvectors over top/n, for the columns of labels (n, q): (q,).

    Independent random signs have the mean 1 exactly; n/top is the largest value possible.
    """
    on_top = (vectors[:, :top].T @ labels).square().sum(0) / labels.square().sum(0)
    return on_top * len(vectors) / top


def distance_to_even(vectors: Tensor, labels: Tensor) -> np.ndarray:
    """sqrt(n) times the Kolmogorov-Smirnov distance of the squared projections to chi-square(1), per column (n, q): (q,).

    Labels without a preference have projections that are nearly independent standard normals. The factor sqrt(n) makes the
    statistic comparable across n: a sample of the law itself exceeds 1.36 once in twenty times, and has the mean 0.87.
    """
    projections = vectors.T @ (labels / labels.square().mean(0).sqrt())
    law = stats.chi2(1).cdf
    return np.array([stats.kstest(column.square().numpy(), law).statistic for column in projections.T]) * len(vectors) ** 0.5


def participation_ratio(v: Tensor) -> float:
    """(sum v_j^2)^2 / sum v_j^4: about how many entries of a vector (n,) are large; 1 for one, n for all alike."""
    return (v.square().sum() ** 2 / (v**4).sum()).item()
