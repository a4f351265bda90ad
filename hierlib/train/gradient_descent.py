"""Full-batch gradient descent on the hidden layer of a two-layer ReLU network.

    Phi(W) = 1/2 sum_i (y_i - f(x_i))^2,   w_r <- w_r - eta a_r/sqrt(m) sum_i (u_i - y_i) 1{<w_r, x_i> >= 0} x_i
                                                                        (Arora et al. 2019, eq. 2 and 6)

The loss is a sum, not a mean. Two exact forms of the same step: on the weights (4 n m d flop), or on the n x m
pre-activations X W^T with K = X X^T (2 n^2 m flop, independent of d). Both are one or two matrix products and two
passes over an n x m array, because the frozen signs are absorbed beforehand: with rows v_r = a_r w_r and a_r^2 = 1

    V <- V - eta/sqrt(m) active^T diag(u - y) X,        Q <- Q - eta/sqrt(m) K diag(u - y) active,    Q = X V^T.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from hierlib.nets.two_layer import TwoLayer

Form = Literal["auto", "weights", "preactivations"]


class Run(NamedTuple):
    """What training leaves behind: outputs u(k) (steps + 1, n) and the on/off patterns (n, m) before and after."""

    outputs: Tensor
    active_before: Tensor
    active_after: Tensor

    def residuals(self, y: Tensor) -> Tensor:
        """y - u(k) for every step: (steps + 1, n)."""
        return y - self.outputs

    def loss(self, y: Tensor) -> Tensor:
        """Phi at every step: (steps + 1,)."""
        return (y - self.outputs).square().sum(1) / 2

    def flipped(self) -> float:
        """Share of the n m activations whose sign changed during training."""
        return (self.active_before != self.active_after).double().mean().item()


def cheaper_form(n: int, d: int) -> Form:
    """The form with fewer flop per step: 2 n^2 m on pre-activations against 4 n m d on weights."""
    return "preactivations" if n < 2 * d else "weights"


def gradient_descent(
    net: TwoLayer,
    X: Tensor,
    y: Tensor,
    eta: float,
    steps: int,
    form: Form = "auto",
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    progress: str | None = None,
) -> Run:
    """Train `net` on X (n, d), y (n,) for `steps` steps of size eta and record every output vector, in float64.

    The computation runs in `dtype`; float32 follows float64 to about 1e-5 over thousands of steps. K and the initial
    pre-activations are formed in float64 first. `progress` names the bar that is shown while it runs.
    """
    n, d = X.shape
    if form == "auto":
        form = cheaper_form(n, d)
    order = torch.argsort(net.a, descending=True)  # neurons with a = +1 first: two contiguous halves, no mask by sign
    positive = int((net.a > 0).sum())
    signed_W = (net.W * net.a[:, None])[order]

    def placed(tensor: Tensor) -> Tensor:
        return tensor.to(device=device, dtype=dtype)

    rate, target = eta / len(net.a) ** 0.5, placed(y)
    Q, V = placed(X @ signed_W.T), placed(signed_W)
    inputs = placed(X if form == "weights" else X @ X.T)
    active = torch.empty_like(Q)
    switch_on(Q, positive, active)
    before = active.bool().cpu()

    recorded = torch.empty(steps + 1, n, dtype=torch.float64)
    for k in tqdm(range(steps + 1), desc=progress, disable=None if progress else True, leave=False):
        u = torch.linalg.vecdot(Q, active) / len(net.a) ** 0.5
        recorded[k] = u
        if k == steps:
            break
        residual = u - target
        if form == "weights":
            V.addmm_(active.T, inputs * residual[:, None], alpha=-rate)
            torch.mm(inputs, V.T, out=Q)
        else:
            Q.addmm_(inputs * residual, active, alpha=-rate)
        switch_on(Q, positive, active)
    own_order = torch.argsort(order)
    return Run(recorded, before[:, own_order], active.bool().cpu()[:, own_order])


def switch_on(Q: Tensor, positive: int, active: Tensor) -> None:
    """Write 1{<w_r, x_i> >= 0} into `active`, given Q = a_r <w_r, x_i> with the a_r = +1 columns first."""
    torch.ge(Q[:, :positive], 0, out=active[:, :positive])
    torch.le(Q[:, positive:], 0, out=active[:, positive:])
