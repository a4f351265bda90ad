"""Residual networks whose two blocks are trained together or one after the other, with a weight decay for each.

SGD with momentum on mini-batches (Allen-Zhu and Li 2019, appendix A), for many networks of equal shape at once, as in
`hierlib.train.grid`. That one takes any network and one weight decay for all of it. This one knows the residual network,

    out_1(x) = A relu(W (x, 1)),   out(x) = out_1(x) + A relu(V (out_1(x), 1)),

so it writes the gradients of its loss 1/(2b) sum_i |out(x_i) - y_i|^2 down, and needs less than half of the time:

    e = (out - y)/b,  p = (A^T e) 1{second block on},  dV = p (out_1, 1)^T,
                      q = (A^T (e + V^T p)) 1{first block on},  dW = q (x, 1)^T.

A block that is trained alone is fitted to the labels as if the other were not there (first block), or sees the outputs
of a first one that does not change (second block).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.affine import with_one
from hierlib.nets.residual import Residual, first_outputs
from hierlib.streams import stream

gated = torch.ops.aten.threshold_backward  # gated(g, z, 0) is g * (z > 0): behind a ReLU, whose values are z


class Samples(NamedTuple):
    """For each of R networks its samples X (R, n, d) and Y (R, n, k), and the seed that shuffles them into mini-batches."""

    X: Tensor
    Y: Tensor
    seeds: Sequence[int]


class Course(NamedTuple):
    """How long and in which steps. The rate is divided by ten after half of the epochs."""

    epochs: int
    rate: float
    batch: int = 50
    momentum: float = 0.9
    dtype: torch.dtype = torch.float32


def train_together(
    nets: Residual, samples: Samples, course: Course, decay_w: Sequence[float], decay_v: Sequence[float]
) -> Residual:
    """Both blocks of R networks at the same time, each with the decays of its own: decay_w and decay_v have R numbers."""
    A, x, y = nets.A.to(course.dtype), *_flat(with_one(samples.X), samples.Y, course)
    W, V = _Block(nets.W, decay_w, course), _Block(nets.V, decay_v, course)
    k = A.shape[-2]
    lifted = torch.ones(len(A), course.batch, k + 1, dtype=course.dtype)  # (out_1, 1)
    for rate, rows in _batches(samples, course):
        x_now = x[rows]
        first = torch.bmm(x_now, W.columns).relu_()
        out1 = lifted[..., :k].copy_(torch.bmm(first, A.mT))
        second = torch.bmm(lifted, V.columns).relu_()
        e = torch.baddbmm(out1 - y[rows], second, A.mT).div_(course.batch)
        p = gated(torch.bmm(e, A), second, 0)
        q = gated(torch.bmm(torch.baddbmm(e, p, V.columns[:, :k].mT), A), first, 0)
        V.step(lifted, p, rate)
        W.step(x_now, q, rate)
    return Residual(nets.A, W.weights(nets.W), V.weights(nets.V))


def train_first(nets: Residual, samples: Samples, course: Course, decay: float) -> Residual:
    """The first block of R networks, fitted to the labels as if there were no second one."""
    W = _alone(nets.A, nets.W, samples.X, samples.Y, samples, course, decay)
    return Residual(nets.A, W, nets.V)


def train_second(nets: Residual, samples: Samples, course: Course, decay: float) -> Residual:
    """The second block of R networks on top of the first, which stays as it is."""
    out1 = first_outputs(nets, samples.X)
    V = _alone(nets.A, nets.V, out1, samples.Y - out1, samples, course, decay)
    return Residual(nets.A, nets.W, V)


def _alone(
    A: Tensor, start: Tensor, inputs: Tensor, labels: Tensor, samples: Samples, course: Course, decay: float
) -> Tensor:
    """The weights B of A relu(B (z, 1)) after training on inputs z (R, n, .) and labels (R, n, k)."""
    A, z, y = A.to(course.dtype), *_flat(with_one(inputs), labels, course)
    block = _Block(start, [decay] * len(A), course)
    for rate, rows in _batches(samples, course):
        z_now = z[rows]
        active = torch.bmm(z_now, block.columns).relu_()
        e = torch.bmm(active, A.mT).sub_(y[rows]).div_(course.batch)
        block.step(z_now, gated(torch.bmm(e, A), active, 0), rate)
    return block.weights(start)


class _Block:
    """Weights of one block of R networks, transposed, (R, inputs + 1, m), and their velocity."""

    def __init__(self, start: Tensor, decay: Sequence[float], course: Course):
        self.columns = start.mT.to(course.dtype, copy=True).contiguous()
        self.velocity = torch.zeros_like(self.columns)
        self.decay = torch.tensor(decay, dtype=course.dtype)[:, None, None]
        self.momentum = course.momentum

    def step(self, inputs: Tensor, errors: Tensor, rate: float) -> None:
        """One step along the gradient inputs^T errors, with weight decay and momentum."""
        self.velocity.mul_(self.momentum).baddbmm_(inputs.mT, errors).addcmul_(self.decay, self.columns)
        self.columns.add_(self.velocity, alpha=-rate)

    def weights(self, like: Tensor) -> Tensor:
        return self.columns.mT.to(like.dtype).contiguous()


def _flat(inputs: Tensor, labels: Tensor, course: Course) -> tuple[Tensor, Tensor]:
    """The samples of all networks below each other."""
    if inputs.shape[1] % course.batch:
        raise ValueError(f"{inputs.shape[1]} samples cannot be cut into batches of {course.batch}")
    return inputs.flatten(0, 1).to(course.dtype), labels.flatten(0, 1).to(course.dtype)


def _batches(samples: Samples, course: Course) -> Iterator[tuple[float, Tensor]]:
    """The rate of every step, and the rows (R, batch) that the networks see; the order is that of `hierlib.train.grid`."""
    R, n = samples.X.shape[:2]
    for epoch in range(course.epochs):
        rate = course.rate * (0.1 if epoch >= course.epochs // 2 else 1.0)
        drawn = {seed: torch.randperm(n, generator=stream(seed, "mini-batches", n, epoch)) for seed in samples.seeds}
        order = torch.stack([drawn[seed] for seed in samples.seeds]) + n * torch.arange(R)[:, None]
        for rows in order.split(course.batch, 1):
            yield rate, rows
