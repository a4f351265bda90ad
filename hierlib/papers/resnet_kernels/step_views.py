"""The three quantities of Claims D.6 and D.7 of Allen-Zhu and Li 2019 at one moment of training, beside their bounds."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs, gates, outputs
from hierlib.papers.resnet_kernels.gradient_step import (
    error_bound,
    error_terms,
    first_block_bound,
    least_norm_weights,
    root_mean_square,
    second_block_gain,
)
from hierlib.streams import stream

Signal = Callable[[Tensor], Tensor]
RIDGE, POINTS, REACH = 1e-3, 400, 1.3


class StepView(NamedTuple):
    """What the step sees: root mean squares over inputs, or the largest over inputs where it says so."""

    miss: float  # |H - out|
    err: float  # |Err|
    err_bound: float  # of Claim D.6
    remainder: float  # the part of the bound that the paper makes small by width
    err_max: float  # largest |Err|
    away: float  # largest |out_1 - F|
    away_ratio: float  # largest ratio of |out_1 - F| to the bound of Claim D.7
    gain: float  # largest gain of the second block
    distance: float  # |V - V^(0)|_F


def fitted_weights(start: Residual, X: Tensor, F: Tensor, alpha_G: Signal, seed: int) -> tuple[Tensor, Tensor]:
    """Stand-ins for the W*, V* of Lemma D.2, by ridge regression at the gates of the start instead of its construction.

    A D_{W0} W*(x, 1) = F(x) at the rows of X (n, d) and A D_{V0} V*(z, 1) = alpha G(z) at random points z of the cube
    [-1.3, 1.3]^k, which out_1 stays within.
    """
    W_star = least_norm_weights(start.A, gates(start, X)[0], with_one(X), F, RIDGE)
    unit = torch.rand(POINTS, F.shape[1], generator=stream(seed, "second block inputs"), dtype=torch.float64)
    lifted = with_one(REACH * (2 * unit - 1))
    return W_star, least_norm_weights(start.A, lifted @ start.V.mT >= 0, lifted, alpha_G(lifted[:, :-1]), RIDGE)


def step_views(
    run: Sequence[Residual],
    X: Tensor,
    F: Tensor,
    alpha_G: Signal,
    stars: tuple[Tensor, Tensor],
    tau_v: float,
    steepness: float,
) -> list[StepView]:
    """Along the snapshots of a run, of which the first is the start, with the constants of the proofs for |V| <= tau_v.

    Inputs (n, d), F (n, k) there. `steepness` times r is the Lipschitz constant of alpha G within radius r >= 1.
    """
    composite = alpha_G(F)
    base_size, composite_size = F.norm(dim=1).max().item(), composite.norm(dim=1).max().item()
    views = []
    for net in run:
        out1, miss = first_outputs(net, X), F + composite - outputs(net, X)
        parts = error_terms(net, run[0], X, *stars, F, alpha_G)
        err, away = torch.stack(parts).sum(0), (out1 - F).norm(dim=1)
        bounds = first_block_bound(miss.norm(dim=1), tau_v, base_size, composite_size)
        first = first_block_bound(torch.tensor(root_mean_square(miss)), tau_v, base_size, composite_size).item()
        lipschitz = steepness * max(1.0, out1.norm(dim=1).max().item())
        views.append(
            StepView(
                root_mean_square(miss),
                root_mean_square(err),
                *error_bound(parts, 2 * tau_v, lipschitz, first),
                err.norm(dim=1).max().item(),
                away.max().item(),
                (away / bounds).max().item(),
                second_block_gain(net, X).max().item(),
                (net.V - run[0].V).norm().item(),
            )
        )
    return views
