"""The bound of Arora et al. 2019 (theorem 5.1, corollary 5.2) put to a test: samples, starts, and what passes by mistake."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from scipy import stats
from torch import Tensor

from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import extreme_eigenvalues
from hierlib.nets.two_layer import TwoLayer, two_layer
from hierlib.papers.fine_grained.label_complexity import second_term
from hierlib.streams import signs, stream


class Judged(NamedTuple):
    """n samples with q sets of labels, p new points, and what is known about them before training."""

    X: Tensor  # (n, d)
    Y: Tensor  # (n, q)
    new: Tensor  # (p, d)
    answers: Tensor  # (p, q)
    smallest: float  # eigenvalues of H_inf
    largest: float
    measure: Tensor  # the first term of the bound: (q,)
    bound: Tensor  # both terms, with the constants of the proof: (q,)
    limit: Tensor  # the infinitely wide network, trained to the end, at the new points: (p, q)
    dealt: Tensor  # the same after a share of the labels was dealt out anew: (p, q)
    wild: Tensor  # a function that fits the samples as exactly, but starts from random signs instead of zero: (p, q)

    @property
    def neighbour(self) -> Tensor:
        """The label of the nearest sample: (p, q)."""
        return self.Y[(self.new @ self.X.T).argmax(1)]


def judged(
    X: Tensor, Y: Tensor, new: Tensor, answers: Tensor, delta: float, share: float, seed: int, name: str, swing: float = 1.0
) -> Judged:
    """Bound and opponents of a sample: labels Y (n, q), a `share` of them dealt out anew, a start of +-swing.

    One factorisation serves the labels, the labels dealt out anew, and what is left of them after the wild start. The
    smallest eigenvalue, of which the bound takes the logarithm, is good to about one in a hundred: all its digits would
    cost more than everything else.
    """
    start, between = (swing * signs((len(x), 1), seed, "wild", name, kind) for x, kind in ((X, "old"), (new, "new")))
    columns = torch.cat([Y, dealt_anew(Y, share, seed, name), Y - start], dim=1)
    H, q = relu_gram(X), Y.shape[1]
    lower = torch.linalg.cholesky(H)
    half = torch.linalg.solve_triangular(lower, columns, upper=False)
    guesses = relu_gram(new, X) @ torch.linalg.solve_triangular(lower.T, half, upper=True)
    limit, dealt, rest = guesses.split(q, dim=1)
    smallest, largest = extreme_eigenvalues(H, lower, tolerance=0.05)
    measure = half[:, :q].norm(dim=0) * (2 / len(X)) ** 0.5
    bound = measure + second_term(len(X), smallest, delta)
    return Judged(X, Y, new, answers, smallest, largest, measure, bound, limit, dealt, rest + between)


def dealt_anew(Y: Tensor, share: float, seed: int, name: str) -> Tensor:
    """Labels Y (n, ...) of which a share, chosen at random, is exchanged at random among its members."""
    generator = stream(seed, "dealt anew", name, len(Y))
    chosen = torch.randperm(len(Y), generator=generator)[: round(share * len(Y))]
    return Y.index_copy(0, chosen, Y[chosen[torch.randperm(len(chosen), generator=generator)]])


def printed_start(at: Judged, m: int, delta: float, seed: int, kappa: float | None = None) -> TwoLayer:
    """The network before training, at the scale kappa = lambda_0 delta / n of theorem 5.1 unless another is given."""
    return two_layer(m, at.X.shape[1], at.smallest * delta / len(at.X) if kappa is None else kappa, seed)


def printed_steps(at: Judged, delta: float) -> float:
    """The number of steps that theorem 5.1 asks for at eta = 1 / lambda_max: log(n / delta) / (eta lambda_0), constant 1."""
    return at.largest / at.smallest * float(torch.log(torch.tensor(len(at.X) / delta)))


def failure_rate(ratios: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """Share of the draws with a loss above its bound (ratio above 1), and its upper limit (Clopper and Pearson 1934)."""
    failed, draws = sum(ratio > 1 for ratio in ratios), len(ratios)
    return failed / draws, float(stats.beta.ppf(confidence, failed + 1, draws - failed)) if failed < draws else 1.0


def weakest_passing(ladder: dict[float, float]) -> float:
    """The last rung before the first that exceeds its bound; rung -> loss over bound, the strongest learner first.

    Not-a-number where already the strongest fails. Where no rung fails it is the last one: nothing here is too weak.
    """
    weakest = float("nan")
    for rung, ratio in ladder.items():
        if not ratio <= 1:
            break
        weakest = rung
    return weakest


def ladders(
    at: Judged,
    y: Tensor,
    rungs: Mapping[str, Sequence[float]],
    over_bound: Callable[[Judged, Tensor, int | None], float],
    seed: int,
) -> dict[str, dict[float, float]]:
    """Loss over bound of learners that get less and less: what is taken away -> rung -> ratio.

    `rungs` has three ladders: "labels" (shares dealt out anew), "samples" (how many of the first are seen) and "steps".
    `over_bound` trains on a sample with labels (n,) for so many steps (None: as usual). The bound stays that of all samples.
    """

    def first(count: int) -> Judged:
        X = at.X[:count]
        return at._replace(X=X, Y=at.Y[:count], largest=torch.linalg.eigvalsh(relu_gram(X))[-1].item())

    return {
        "labels": {share: over_bound(at, dealt_anew(y, share, seed, "ladder"), None) for share in rungs["labels"]},
        "samples": {count: over_bound(first(int(count)), y[: int(count)], None) for count in rungs["samples"]},
        "steps": {k: over_bound(at, y, int(k)) for k in rungs["steps"]},
    }
