"""Full-batch gradient descent on the hidden layer of a two-layer ReLU network.

    Phi(W) = 1/2 sum_i (y_i - f(x_i))^2,   w_r <- w_r - eta a_r/sqrt(m) sum_i (u_i - y_i) 1{<w_r, x_i> >= 0} x_i
                                                                        (Arora et al. 2019, eq. 2 and 6)

The loss is a sum, not a mean. There are two exact forms of the same step. With G = -eta/sqrt(m) diag(a) active diag(u - y),
an m x n array, and K = X X^T,

    on weights          W(k) = W(0) + D(k),             D <- D + G X,    4 n m d flop,
    on pre-activations  W(k) X^T = W(0) X^T + C(k) K,   C <- C + G,      2 n^2 m flop, independent of d.

What has moved (D or C) is kept apart from where it started, so that float32 loses no digits of a small movement in a
large weight. Neurons meet only in the sum u: they are taken in chunks that stay in the cache, where everything but the
matrix products is nearly free.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from hierlib.nets.two_layer import TwoLayer
from hierlib.train.progress import bar

Form = Literal["auto", "weights", "preactivations"]
ENTRIES, NEURONS = 2**20, 1024  # a chunk holds that many floats (4 MB), but neurons enough for a fast matrix product


class Trajectory(NamedTuple):
    """What training leaves behind: outputs u(k) (steps + 1, n) and the network after the last step.

    Descent has no memory: 300 steps are 100 steps and then 200 more from `net`. What a page measures on the way
    (distances, flips, Gram matrices, test outputs) is a function of networks, not of runs.
    """

    outputs: Tensor
    net: TwoLayer

    def residuals(self, y: Tensor) -> Tensor:
        """y - u(k) for every step: (steps + 1, n)."""
        return y - self.outputs

    def loss(self, y: Tensor) -> Tensor:
        """Phi at every step: (steps + 1,)."""
        return (y - self.outputs).square().sum(1) / 2


def cheaper_form(n: int, d: int) -> Form:
    """The form with fewer flop per step: 2 n^2 m on pre-activations against 4 n m d on weights."""
    return "preactivations" if n < 2 * d else "weights"


# The two forms, on a chunk of neurons. `active` is 1 or 0 per neuron and sample, `pull` (n,) is -eta a/sqrt(m) (u - y), so
# that G = active diag(pull); the pre-activations go to P, whose memory is free until then.


def move_weights(D: Tensor, active: Tensor, pull: Tensor, X: Tensor, P: Tensor) -> None:
    """D <- D + G X."""
    D.addmm_(torch.mul(active, pull, out=P), X)


def preactivations_of_weights(W: Tensor, D: Tensor, X: Tensor, P: Tensor) -> None:
    """P = (W(0) + D) X^T."""
    torch.mm(W + D, X.T, out=P)


def move_coefficients(C: Tensor, active: Tensor, pull: Tensor, K: Tensor, P: Tensor) -> None:
    """C <- C + G."""
    C.addcmul_(active, pull)


def preactivations_of_coefficients(Z: Tensor, C: Tensor, K: Tensor, P: Tensor) -> None:
    """P = Z + C K with Z = W(0) X^T."""
    torch.addmm(Z, C, K, out=P)


FORMS = {
    "weights": (move_weights, preactivations_of_weights),
    "preactivations": (move_coefficients, preactivations_of_coefficients),
}


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
) -> Trajectory:
    """Train `net` on X (n, d), y (n,) for `steps` steps of size eta and record every output vector, in float64.

    The computation runs in `dtype`; float32 follows float64 to about 1e-5 over thousands of steps. K and the initial
    pre-activations are formed in float64 first. `progress` names the bar that is shown while it runs.
    """
    n, m = len(X), len(net.a)
    on_weights = (cheaper_form(*X.shape) if form == "auto" else form) == "weights"
    move, preactivations = FORMS["weights" if on_weights else "preactivations"]

    def placed(tensor: Tensor) -> Tensor:
        return tensor.to(device=device, dtype=dtype)

    order = torch.argsort(net.a)  # neurons of equal sign side by side: a chunk then has one sign
    W, target = net.W[order], placed(y)
    inputs, start = (placed(X), placed(W)) if on_weights else (placed(X @ X.T), placed(W @ X.T))
    moved, active = torch.zeros_like(start), torch.empty(m, n, device=device, dtype=dtype)
    chunks = chunks_of_one_sign(net.a[order], max(NEURONS, ENTRIES // n))
    workspace = torch.empty(max(rows.stop - rows.start for rows, _ in chunks), n, device=device, dtype=dtype)

    recorded = torch.empty(steps + 1, n, dtype=torch.float64)
    residual = torch.zeros_like(target)
    for k in bar(progress, iterable=range(steps + 1)):
        u = torch.zeros_like(target)
        for rows, sign in chunks:
            P = workspace[: rows.stop - rows.start]
            if k > 0:
                move(moved[rows], active[rows], residual * (-eta * sign / m**0.5), inputs, P)
            preactivations(start[rows], moved[rows], inputs, P)
            torch.ge(P, 0, out=active[rows])
            u += P.clamp_(min=0).sum(0) * (sign / m**0.5)
        recorded[k] = u
        residual = u - target
    final = torch.empty_like(W)
    final[order] = W + (moved.to(W) if on_weights else moved.to(W) @ X)
    return Trajectory(recorded, TwoLayer(final, net.a))


def chunks_of_one_sign(signs: Tensor, rows: int) -> list[tuple[slice, float]]:
    """Cut sorted signs (m,) into slices of at most `rows` neurons that share a sign."""
    negative = int((signs < 0).sum())
    parts = [(0, negative, -1.0), (negative, len(signs), 1.0)]
    return [(slice(i, min(i + rows, end)), sign) for begin, end, sign in parts for i in range(begin, end, rows)]
