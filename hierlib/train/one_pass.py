"""Stochastic gradient descent on fresh samples for the residual network: Algorithm 1 of Allen-Zhu and Li 2019, section 6.

    W <- W - eta_w grad_W Obj,   V <- V - eta_v grad_V Obj,   Obj = 1/2 |y - out(x)|^2     (eq. 6.1; both from the old point)

Each step sees samples that no step has seen before, one of them in the paper; here a step may take the mean over a small
batch. Many runs (seeds, targets, step sizes) are trained as one computation along a leading axis: the matrices are so
small that one run alone mostly waits for function calls. The gradient is written out (Fact D.4 of the paper): with
e = out - y, gates D1, D2 of the two blocks and V' = V without its bias column,

    p = A^T e on D2,   grad_V = p (out_1, 1)^T,   q = A^T (e + V'^T p) on D1,   grad_W = q (x, 1)^T.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual
from hierlib.train.progress import bar

Sample = Callable[[int], tuple[Tensor, Tensor]]


class OnePass(NamedTuple):
    """What training leaves behind. Every entry keeps the leading axis of the runs, if there was one.

    errors (..., steps) is |out(x) - y|^2 at the samples of each step, before the step: fresh samples make it an unbiased
    estimate of the population error, so its mean is the left side of Theorem 1. `nets` are the networks after as many
    steps as were asked for.
    """

    errors: Tensor
    nets: list[Residual]

    def mean_errors(self) -> Tensor:
        """1/T sum_{t < T} error_t for T = 1, ..., steps: (..., steps)."""
        return self.errors.cumsum(-1) / torch.arange(1, self.errors.shape[-1] + 1)


def side_by_side(nets: Sequence[Residual]) -> Residual:
    """Networks of equal shape as one, with a leading axis: A (runs, k, m), W (runs, m, d + 1), V (runs, m, k + 1)."""
    return Residual(*(torch.stack(weights) for weights in zip(*nets, strict=True)))


def online_sgd(
    net: Residual,
    sample: Sample,
    eta_w: float | Sequence[float],
    eta_v: float | Sequence[float],
    steps: int,
    batch: int = 1,
    snapshots: Sequence[int] = (),
    dtype: torch.dtype = torch.float32,
    progress: str | None = None,
) -> OnePass:
    """Train `net`, or the runs along its leading axis, for `steps` steps on the samples of chunk 0, 1, 2, ...

    `sample(i)` draws chunk i at once: inputs X (n, d) and labels Y (n, k), with a leading axis where runs differ. n must be
    a multiple of `batch`. Step sizes are numbers or one per run; 0 freezes W or V. `snapshots` are ascending numbers
    of steps in [0, steps]. The computation runs in `dtype`; networks are returned in the type they came in.
    """
    A, W, V = (weights.to(dtype, copy=True).reshape(-1, *weights.shape[-2:]) for weights in net)
    runs, k = A.shape[:2]
    step_w, step_v = (_per_run(eta, runs, dtype) / batch for eta in (eta_w, eta_v))
    # Two views share memory with what they are cut from, so that no step copies it: V_base is V without its bias column
    # and follows V as it is trained; what is written to out1 stands in `lifted` = (out_1, 1), whose last row stays one.
    A_t, V_base = A.mT.contiguous(), V[:, :, :k]
    lifted = torch.ones(runs, k + 1, batch, dtype=dtype)
    out1 = lifted[:, :k]
    errors, nets = torch.empty(runs, steps, dtype=dtype), []

    def snapshot(done: int) -> None:
        if done in snapshots:
            nets.append(Residual(net.A, W.to(net.W, copy=True).view_as(net.W), V.to(net.V, copy=True).view_as(net.V)))

    snapshot(0)
    done, chunk, threads = 0, 0, torch.get_num_threads()
    torch.set_num_threads(1)  # matrices of this size are not worth sharing: on a busy machine threads only wait
    shown = bar(progress, total=steps)
    try:
        while done < steps:
            inputs, labels = _cut(*sample(chunk), batch, runs, dtype)
            chunk += 1
            for x, y in zip(inputs[: steps - done], labels[: steps - done], strict=True):
                first = (W @ x.mT).relu_()
                torch.bmm(A, first, out=out1)
                second = torch.bmm(V, lifted).relu_()
                e = torch.baddbmm(out1, A, second) - y
                errors[:, done] = e.square().sum((1, 2))
                # Gates are open where the activation is positive; a pre-activation of exactly zero has no probability.
                # threshold_backward(g, z, 0), what autograd calls behind a ReLU, is g * (z > 0) in one pass and no mask.
                p = torch.ops.aten.threshold_backward(A_t @ e, second, 0)
                q = torch.ops.aten.threshold_backward(A_t @ torch.baddbmm(e, V_base.mT, p).mul_(step_w), first, 0)
                V.baddbmm_(p, lifted.mT * step_v, alpha=-1)
                W.baddbmm_(q, x, alpha=-1)
                done += 1
                snapshot(done)
            shown.update(done - shown.n)
    finally:
        shown.close()
        torch.set_num_threads(threads)
    return OnePass((errors.to(net.W.dtype) / batch).reshape(*net.A.shape[:-2], steps), nets)


def _per_run(eta: float | Sequence[float], runs: int, dtype: torch.dtype) -> Tensor:
    """Step sizes as (runs, 1, 1)."""
    return torch.as_tensor(eta, dtype=dtype).expand(runs).reshape(runs, 1, 1)


def _cut(X: Tensor, Y: Tensor, batch: int, runs: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cut n samples into steps: (x, 1) as (steps, runs, batch, d + 1) and y as (steps, runs, k, batch)."""
    n = X.shape[-2]
    if n % batch:
        raise ValueError(f"a chunk of {n} samples cannot be cut into batches of {batch}")
    x, y = (
        Z.to(dtype).expand(runs, n, -1).reshape(runs, n // batch, batch, -1).transpose(0, 1).contiguous()
        for Z in (with_one(X), Y)
    )
    return x, y.mT.contiguous()
