"""The third step of the proof of Theorem 1 along a run: Allen-Zhu and Li 2019, section 6.1 with footnote 11, appendix D.4.

One step of SGD at a sample (x, y) and any comparator (W*, V*), all as movements from the start:

    Xi_t = <grad Obj, (W_t - W*, V_t - V*)>
         = eta_w/2 |grad_W|^2 + eta_v/2 |grad_V|^2 + Phi_t - Phi_{t+1},
    Phi_t = |W_t - W*|^2 / (2 eta_w) + |V_t - V*|^2 / (2 eta_v),

and by Fact D.4 Xi_t = <y - out, H - out + Err_t>, which defines Err_t. The gradient at one sample has rank one, so inner
products with it need no matrix of its size.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual


class Ledger(NamedTuple):
    """What every step of R runs books. T steps, C comparators, k outputs; W and V are movements from the start."""

    out: Tensor  # out(x_t) before the step (R, T, k)
    toward: Tensor  # f(W* - W_t) + g(V* - V_t) at x_t, which is H - out + Err_t: (R, T, C, k)
    grad_w: Tensor  # |grad_W Obj|_F^2 (R, T)
    grad_v: Tensor  # |grad_V Obj|_F^2 (R, T)
    distance_w: Tensor  # |W_t - W*|_F^2 for t = 0, ..., T: (R, T + 1, C)
    distance_v: Tensor  # |V_t - V*|_F^2 (R, T + 1, C)
    end: Residual  # the networks after the last step, with a leading axis R

    def xi(self, labels: Tensor) -> Tensor:
        """Xi_t for every comparator: labels (R, T, k) -> (R, T, C)."""
        return ((labels - self.out)[:, :, None] * self.toward).sum(-1)


def book_steps(
    starts: Residual, X: Tensor, Y: Tensor, eta_w: Tensor, eta_v: Tensor, stars_w: Tensor, stars_v: Tensor
) -> Ledger:
    """Run Algorithm 1 on X (R, T, d), Y (R, T, k), one sample at a time, and book every step, in float64.

    `starts` are R networks side by side, step sizes (R,). Comparators W* (R, C, m, d + 1), V* (R, C, m, k + 1) are
    movements from the start.
    """
    A, A_t = starts.A, starts.A.mT
    W, V, k = starts.W.clone(), starts.V.clone(), starts.A.shape[-2]
    step_w, step_v = eta_w[:, None, None], eta_v[:, None, None]
    outs, towards, norms, far = [], [], [], [_distances(W - starts.W, V - starts.V, stars_w, stars_v)]
    for x, y in zip(with_one(X).unbind(1), Y.unbind(1), strict=True):
        x, y = x[:, :, None], y[:, :, None]  # columns, one per run
        first = W @ x
        on = (first > 0).double()
        lifted = with_one((A @ (first * on)).mT).mT
        second = V @ lifted
        open_ = (second > 0).double()
        out = lifted[:, :k] + A @ (second * open_)
        p = (A_t @ (out - y)) * open_
        q = (A_t @ (out - y + V[:, :, :k].mT @ p)) * on
        # How out moves with W and V, at the gates of now: f and g of Fact D.4, for all comparators at once.
        moved = A[:, None] @ ((stars_w - (W - starts.W)[:, None]) @ x[:, None] * on[:, None])
        through = (V[:, None, :, :k] @ moved + (stars_v - (V - starts.V)[:, None]) @ lifted[:, None]) * open_[:, None]
        outs.append(out[:, :, 0])
        towards.append((moved + A[:, None] @ through)[..., 0])
        norms.append(torch.stack([_square(q) * _square(x), _square(p) * _square(lifted)]))
        W = W - step_w * q @ x.mT
        V = V - step_v * p @ lifted.mT
        far.append(_distances(W - starts.W, V - starts.V, stars_w, stars_v))
    grad_w, grad_v = torch.stack(norms, 2)
    far_w, far_v = torch.stack(far, 2)
    return Ledger(torch.stack(outs, 1), torch.stack(towards, 1), grad_w, grad_v, far_w, far_v, Residual(A, W, V))


def _square(columns: Tensor) -> Tensor:
    """|column|^2: (R, n, 1) -> (R,)."""
    return columns.square().sum((1, 2))


def _distances(W: Tensor, V: Tensor, stars_w: Tensor, stars_v: Tensor) -> Tensor:
    """|W - W*|^2 and |V - V*|^2 for every comparator: (2, R, C)."""
    return torch.stack([(M[:, None] - stars).square().sum((2, 3)) for M, stars in ((W, stars_w), (V, stars_v))])


def least_eigenvalue(left: float, err: float, noise: float, absorbed: float = 0.0) -> float:
    """The smallest eigenvalue of <a + n, a + e> - absorbed (|a|^2 + |n|^2) - left |a|^2 + err |e|^2 + noise |n|^2.

    Here a = H - out, e = Err, n = y - H, and <a + n, a + e> = Xi_t. The form is nonnegative for all vectors a, e, n if and
    only if this number is (each coordinate has the same 3 x 3 form): then Xi_t - absorbed (|a|^2 + |n|^2) is at least
    left |a|^2 - err |e|^2 - noise |n|^2.
    """
    form = torch.full((3, 3), 0.5, dtype=torch.float64)
    form[0, 0], form[1, 1], form[2, 2] = 1 - left - absorbed, err, noise - absorbed
    return torch.linalg.eigvalsh(form)[0].item()
