"""Algorithm 1 of Wang et al. 2021: one-pass SGD on the recurrent matrix of the Elman network, logistic loss.

    W <- W + eta y / (1 + exp(y f)) sum_l b_l h_(l-1)^T       (one fresh sequence per step)

The gradient is of rank L and never formed: a step is 2 L products with W and one update of rank L.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.recurrent import Recurrent
from hierlib.train.progress import bar


class Trained(NamedTuple):
    """The network in the end, the outputs (n,) at each sample before it was used, and |W - W(0)|_F."""

    net: Recurrent
    outputs: Tensor
    moved: float


def one_pass(net: Recurrent, X: Tensor, y: Tensor, eta: float, progress: str | None = None) -> Trained:
    """Pass once over sequences X (n, L, d) with labels y (n,) of -1 and 1; `eta` is c / m in the paper."""
    W = net.W.clone()
    inputs = torch.einsum("nld,md->nlm", X.to(W.dtype), net.A)
    L, m = inputs.shape[1:]
    hidden, signals = torch.empty(L + 1, m, dtype=W.dtype), torch.empty(L, m, dtype=W.dtype)
    hidden[0] = net.M.relu()
    found = torch.empty(len(X), dtype=W.dtype)
    for i in bar(progress, iterable=range(len(X))):
        for t in range(L):
            torch.addmv(inputs[i, t], W, hidden[t], out=hidden[t + 1]).relu_()
        f, label = net.B @ hidden[L], y[i].to(W.dtype)
        found[i] = f
        signals[L - 1] = torch.where(hidden[L] > 0, net.B, 0)
        for t in range(L - 2, -1, -1):
            torch.mv(W.T, signals[t + 1], out=signals[t]).mul_(hidden[t + 1] > 0)
        W.addmm_(signals.T, hidden[:L], alpha=(eta * label * torch.sigmoid(-label * f)).item())
    return Trained(net._replace(W=W), found, (W - net.W).norm().item())
