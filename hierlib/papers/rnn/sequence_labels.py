"""One label for every time step (Wang et al. 2021, Remarks 3.2 and G.1): the kernel of all outputs, and a chain of probes.

The outputs f_a = <B, h_a>, a = 1, ..., L, have one tangent kernel of (n L, n L) entries, whose blocks are those of
`kernels.recurrent.cross_time`. The remark takes the blocks with a != b for zero; with a vector B_a for each output they are.
"""

import torch
from torch import Tensor

from hierlib.kernels.recurrent import cross_time, squares
from hierlib.nets.recurrent import Recurrent, backward, states


def output_blocks(X: Tensor, s2: float, Y: Tensor | None = None) -> Tensor:
    """Limit of <grad f_a(x), grad f_b(y)> / m for all outputs: X (n, L, d), Y (p, L, d) -> (L, L, n, p)."""
    T = cross_time(X, s2, Y).tangents[1:, 1:]
    if Y is None:  # arccos has infinite slope at one, where every sequence meets itself
        own = squares(X, s2)[:-1].cumsum(0) / 2
        for a in range(len(T)):
            T[a, a].diagonal().copy_(own[a])
    return T


def as_matrix(blocks: Tensor) -> Tensor:
    """Blocks (L, L, n, p) as one matrix between the outputs of n and of p sequences, time fastest: (n L, p L)."""
    L, _, n, p = blocks.shape
    return blocks.permute(2, 0, 3, 1).reshape(n * L, p * L)


def features(net: Recurrent, x: Tensor, output_weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """What the gradients of all outputs of one sequence x (L, d) consist of: backward vectors (L, L, m) and states (L, m).

    grad f_a = sum_l b_l^(a) h_(l-1)^T; row a, column l of the first, zero for l > a. `output_weights` (L, m), one for each
    output, in place of the shared B.
    """
    found = states(net, x[None])
    L = len(x)
    signals = torch.zeros(L, L, len(net.B), dtype=net.W.dtype)
    for a in range(L):
        one = net if output_weights is None else net._replace(B=output_weights[a])
        signals[a, : a + 1] = backward(one, found.gates[: a + 1])[:, 0]
    return signals, found.hidden[:L, 0]


def linear_chain(net: Recurrent, steps: int) -> Tensor:
    """g_0 = M, g_l = W g_(l-1): (steps + 1, m). In the limit <g_l, h_l'> is one for l = l' and zero otherwise."""
    found = [net.M]
    for _ in range(steps):
        found.append(net.W @ found[-1])
    return torch.stack(found)
