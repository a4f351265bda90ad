"""Training until a share of the loss is left: the time that one kind of labels needs is the clock for the others."""

from typing import NamedTuple

import torch
from torch import Tensor

from hierlib.nets.two_layer import TwoLayer
from hierlib.train.checkpoint import Checkpoint
from hierlib.train.full_batch import gradient_descent
from hierlib.train.progress import bar


class Stopped(NamedTuple):
    """Loss per sample up to the step that was waited for (k + 1,), and the network at the end of the block with it."""

    loss: Tensor
    net: TwoLayer


def descend_until(
    net: TwoLayer,
    X: Tensor,
    y: Tensor,
    eta: float,
    share: float,
    most: int,
    block: int = 50,
    device: str = "cpu",
    progress: str | None = None,
) -> Stopped:
    """Full-batch descent (Arora et al. 2019, eq. 6) on X (n, d), y (n,) until at most `share` of the first loss is left.

    It runs in blocks of steps, and saves its state after a block. Where the share is not reached it ends after `most` steps;
    a share of zero makes that the number of steps.
    """
    saved = Checkpoint("descend until", net.W, net.a, X, y, eta, share, most, block, device)
    state = saved.load() or {"W": net.W, "loss": torch.empty(0, dtype=torch.float64)}
    loss: Tensor = state["loss"]
    now = TwoLayer(state["W"], net.a)
    for done in bar(progress, iterable=range(max(len(loss) - 1, 0), most, block)):
        if len(loss) and loss.min() <= share * loss[0]:
            break
        run = gradient_descent(now, X, y, eta, min(block, most - done), device=device)
        now = run.net
        loss = torch.cat([loss[:-1], run.loss(y) / len(y)])  # a block begins with the state that ended the last one
        saved.save({"W": now.W, "loss": loss}, last=done + block >= most)
    reached = (loss <= share * loss[0]).nonzero()
    return Stopped(loss[: int(reached[0]) + 1] if len(reached) else loss, now)
