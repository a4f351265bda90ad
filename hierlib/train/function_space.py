"""One-pass SGD with the logistic loss, followed in the space of functions: what a network of infinite width does.

Sample t moves the function by its kernel: with l(z) = log(1 + exp(-z)),

    f(x) <- f(x) - eta y_t l'(y_t f(x_t)) K(x_t, x).

Every sample is used once, so the mistakes made on the way are those on new data (Wang et al. 2021, eq. 17 and Lemma 14).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Online(NamedTuple):
    """Mistakes (steps, n): whether sample t was classified wrongly before it was used; values (steps, p) in the end."""

    mistakes: Tensor
    values: Tensor


def online_logistic(
    K: Tensor, y: Tensor, etas: Sequence[float], start: Tensor | None = None, rows: Tensor | None = None
) -> Online:
    """Pass once over the samples with every step size: K (n, n), labels y (n,) of -1 and 1, etas -> (len(etas), ...).

    `start` are the outputs (n,) before training, zero if omitted; an output of zero or nan is a mistake. `rows` (p, n) is
    the kernel between further points and the samples: their values in the end are returned, else those of the samples.
    """
    steps = torch.tensor(etas, dtype=K.dtype)
    f = torch.zeros(len(etas), len(y), dtype=K.dtype)
    if start is not None:
        f += start
    moves = torch.empty_like(f)
    mistakes = torch.empty(len(etas), len(y), dtype=torch.bool)
    for t, label in enumerate(y):
        margin = label * f[:, t]
        mistakes[:, t] = ~(margin > 0)  # also where it is nan
        moves[:, t] = steps * label * torch.sigmoid(-margin)
        f[:, t + 1 :].addr_(moves[:, t], K[t, t + 1 :])
    # Only samples to come matter on the way; what the function is in the end follows from all moves at once.
    return Online(mistakes, moves @ (K if rows is None else rows.T) + (0 if start is None or rows is not None else start))
