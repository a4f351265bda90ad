"""The Elman network: one matrix for all times, ReLU, an output that is read from a hidden state.

    h_0 = relu(M),   h_l = relu(W h_(l-1) + A x_l)  for l = 1, ..., L,   f = <B, h_L>       (Wang et al. 2021, eq. 14)

    W ~ N(0, 2 gain / m),   A ~ N(0, 2 s2 / m),   M ~ N(0, 2 / m),   B ~ N(0, output_variance)

W alone is trained. The paper has gain 1 and s2 = L^-3. It prints the variance 1/m for B, while its proofs need 1.
The gradient is a sum of L matrices of rank one and is never formed: with the gates D_l = 1{W h_(l-1) + A x_l > 0},

    grad_W f = sum_l b_l h_(l-1)^T,   b_L = D_L B,   b_l = D_l W^T b_(l+1)              (eq. 21-23; the index l-1 is ours)
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.streams import normals


class Recurrent(NamedTuple):
    """W (m, m), A (m, d), M (m,), B (m,)."""

    W: Tensor
    A: Tensor
    M: Tensor
    B: Tensor


class States(NamedTuple):
    """Hidden states h_0, ..., h_L as (L + 1, n, m) and gates D_1, ..., D_L as (L, n, m), of 0 and 1."""

    hidden: Tensor
    gates: Tensor


def recurrent(
    m: int, d: int, s2: float, seed: int, gain: float = 1.0, output_variance: float = 1.0, dtype: torch.dtype = torch.float64
) -> Recurrent:
    """Draw a network of m neurons for tokens in R^d. Its draws do not depend on s2, gain and output_variance."""
    W = normals((m, m), seed, "recurrent weights", scale=(2 * gain / m) ** 0.5)
    A = normals((m, d), seed, "input weights", scale=(2 * s2 / m) ** 0.5)
    M = normals((m,), seed, "first state", scale=(2 / m) ** 0.5)
    B = normals((m,), seed, "output weights", scale=output_variance**0.5)
    return Recurrent(*(weights.to(dtype) for weights in (W, A, M, B)))


def states(net: Recurrent, X: Tensor) -> States:
    """All hidden states of sequences X (n, L, d), and their gates."""
    first = net.M.relu()
    found = [first.expand(len(X), -1)]
    for i, tokens in enumerate(X.unbind(1)):
        carried = found[-1] @ net.W.T if i else net.W @ first  # at first the same for all sequences
        found.append((carried + tokens @ net.A.T).relu())
    hidden = torch.stack(found)
    # A pre-activation of exactly zero has no probability, so that the sign of the state is the gate.
    return States(hidden, (hidden[1:] > 0).to(hidden.dtype))


def outputs(net: Recurrent, X: Tensor) -> Tensor:
    """f(x_i) for sequences X (n, L, d) -> (n,)."""
    return states(net, X).hidden[-1] @ net.B


def backward(net: Recurrent, gates: Tensor) -> Tensor:
    """b_1, ..., b_L of the output that is read after the last of the gates (L, n, m): (L, n, m).

    For the output <B, h_a> at an earlier time hand over the first a gates.
    """
    signals = torch.empty_like(gates)
    signals[-1] = gates[-1] * net.B
    for t in range(len(gates) - 2, -1, -1):
        torch.mm(signals[t + 1], net.W, out=signals[t]).mul_(gates[t])
    return signals


def gradient(net: Recurrent, x: Tensor) -> Tensor:
    """grad_W f for one sequence x (L, d), formed: (m, m). For comparisons; everything else uses its factors."""
    found = states(net, x[None])
    return torch.einsum("lni,lnj->ij", backward(net, found.gates), found.hidden[:-1])
