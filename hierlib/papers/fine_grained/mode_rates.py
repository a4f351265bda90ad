"""How fast a network forgets its error along each eigenvector of a kernel.

With a fixed matrix H the residual obeys v_i' (y - u(k)) = (1 - eta lambda_i)^k v_i' (y - u(0)): every eigenvector has a rate
of its own (Arora et al. 2019, section 4). A network has no fixed matrix, so its rates have to be measured.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.kernels.spectrum import Spectrum
from hierlib.streams import stream

FLOOR = 1e-3  # what is left along an eigenvector counts as this much at least: a logarithm follows


class ModeRates(NamedTuple):
    """Rates per step along the eigenvectors, -log of the factor by which the residual shrinks: (q,) each."""

    predicted: Tensor  # -log(1 - eta lambda_i)
    measured: Tensor


def kept(residuals: Tensor, vectors: Tensor) -> Tensor:
    """What is left of the residual along each vector at step k: (networks, steps + 1, n), (n, q) -> (steps + 1, q).

    The least-squares coefficient of v_i' (y - u(k)) on v_i' (y - u(0)) over networks, each with labels of its own; with one
    network it is the quotient of the two. For a fixed matrix it is (1 - eta lambda_i)^k.
    """
    parts = residuals @ vectors
    return (parts * parts[:, :1]).sum(0) / parts[:, :1].square().sum(0)


def mode_rates(residuals: Tensor, eigen: Spectrum, eta: float) -> ModeRates:
    """Rates along the eigenvectors, each read off at the step at which a share 1/e is predicted to be left.

    Only eigenvectors for which that step lies in the run (networks, steps + 1, n) are returned, fastest first.
    """
    predicted = -torch.log1p(-eta * eigen.values)
    at = (1 / predicted).round().long().clamp(min=1)
    inside = at < residuals.shape[1]
    left = kept(residuals, eigen.vectors[:, inside])[at[inside], torch.arange(int(inside.sum()))]
    return ModeRates(predicted[inside], -left.clamp(min=FLOOR).log() / at[inside])


def rate_miss(rates: ModeRates) -> float:
    """Root mean square over the eigenvectors of log(measured / predicted rate): 0.1 is a miss of a tenth."""
    return (rates.measured / rates.predicted).log().square().mean().sqrt().item()


def at_one_rate(rates: ModeRates) -> ModeRates:
    """The same measured rates, predicted to be all alike: the best single number, their geometric mean."""
    return rates._replace(predicted=rates.measured.log().mean().exp().expand_as(rates.measured))


def dealt_within(rates: ModeRates, groups: int, seed: int) -> ModeRates:
    """The predicted rates dealt out anew within groups of neighbours: the order of the groups stays, that inside goes."""
    generator = stream(seed, "rates dealt out", groups)
    places = torch.arange(len(rates.predicted)).tensor_split(groups)
    order = torch.cat([place[torch.randperm(len(place), generator=generator)] for place in places])
    return rates._replace(predicted=rates.predicted[order])


def gaussian_gram(X: Tensor, sharpness: float) -> Tensor:
    """exp(-b |x_i - x_j|^2) for unit inputs X (n, d), scaled to the trace n/2 of H_inf: another kernel of the same kind."""
    return torch.exp(-2 * sharpness * (1 - X @ X.T)) / 2
