"""The rivals of the residual network, each trained with one setting of its hyper-parameters on one sample of a task.

The methods of Figure 2 in Allen-Zhu and Li 2019 (appendix A): two- and three-layer networks and the residual network, with
trained hidden weights, and their linearisations "(NTK)". The "(last)" versions, which train the output weights only, are
ridge regressions on fixed features and need no training (`hierlib.kernels.ridge`). Ours is the residual network whose
second block stays as it was drawn: what it does not learn is learned by that block.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hierlib.data.cubes import hypercube
from hierlib.measures.signals import Shares, shares
from hierlib.nets import fully_connected, linearised, residual
from hierlib.targets.hierarchy import Hierarchy
from hierlib.train.grid import Outputs, Plan, Schedule, Trained, Trial, train_grid


class Method(NamedTuple):
    """How a network starts, (m, d, k, seed) -> net, what it computes, and which of its weights are trained."""

    start: Callable[[int, int, int, int], Any]
    outputs: Outputs
    trained: tuple[str, ...]


METHODS = {
    "3resnet": Method(residual.residual, residual.outputs, ("W", "V")),
    "3resnet, V frozen": Method(residual.residual, residual.outputs, ("W",)),
    "3layer": Method(fully_connected.deep, fully_connected.outputs, ("W", "V")),
    "2layer": Method(fully_connected.shallow, fully_connected.outputs, ("W",)),
    "3resnet (NTK)": Method(linearised.residual_tangent, linearised.outputs, ("W", "V")),
    "3layer (NTK)": Method(linearised.deep_tangent, linearised.outputs, ("W", "V")),
    "2layer (NTK)": Method(linearised.shallow_tangent, linearised.outputs, ("W",)),
}


class Setting(NamedTuple):
    """One network of width m, n samples, and the hyper-parameters of its training. The seed draws samples and start."""

    method: str
    m: int
    n: int
    seed: int
    rate: float
    decay: float
    alpha: float = 0.3
    beta: float = 1.0


class Task(NamedTuple):
    """Inputs uniform on {-1, +1}^d and what is to be learned from them: rows (n, d) -> the two signals."""

    d: int
    signal: Callable[[Tensor], Hierarchy]


def prepare(settings: Sequence[Setting], task: Task) -> list[Trial]:
    """The trials that the settings describe. Settings with equal seed and n share their samples, as a grid should."""
    drawn: dict[tuple[int, int], tuple[Tensor, Hierarchy]] = {}
    labels: dict[tuple[int, int, float, float], Tensor] = {}
    starts: dict[tuple[str, int, int], Any] = {}
    trials = []
    for s in settings:
        if (s.n, s.seed) not in drawn:
            X = hypercube(s.n, task.d, s.seed, "samples")
            drawn[s.n, s.seed] = X, task.signal(X)
        X, signal = drawn[s.n, s.seed]
        Y = labels.setdefault((s.n, s.seed, s.alpha, s.beta), signal.labels(s.alpha, s.beta))
        key = (s.method, s.m, s.seed)
        if key not in starts:
            starts[key] = METHODS[s.method].start(s.m, task.d, Y.shape[1], s.seed)
        trials.append(Trial(starts[key], X, Y, s.rate, s.decay, s.seed))
    return trials


def learn(
    settings: Sequence[Setting], task: Task, schedule: Schedule, device: str = "cpu", progress: str | None = None
) -> list[Trained]:
    """Train one network per setting, all that use the same method as one grid; results in the order of the settings."""
    found: dict[int, Trained] = {}
    trials = prepare(settings, task)
    for name in dict.fromkeys(s.method for s in settings):
        members = [i for i, s in enumerate(settings) if s.method == name]
        method, label = METHODS[name], f"{progress}, {name}" if progress else None
        plan = Plan(method.outputs, method.trained, schedule, device=device)
        results = train_grid([trials[i] for i in members], plan, label)
        found |= dict(zip(members, results, strict=True))
    return [found[i] for i in range(len(settings))]


def judge(settings: Sequence[Setting], results: Sequence[Trained], X: Tensor, task: Task) -> Shares:
    """What the trained networks have learned, on fresh inputs X (n, d): every entry (len(settings),).

    A network that diverged has infinite errors and no share in anything.
    """
    signal = Hierarchy(*(part.float() for part in task.signal(X)))
    rows, failed = [], Shares(*torch.tensor([0.0, 0.0, *[torch.inf] * 4]).unbind())
    for s, result in zip(settings, results, strict=True):
        if result.diverged is not None:
            rows.append(failed)
            continue
        net = type(result.net)(*(weights.float() for weights in result.net))
        outputs = torch.cat([METHODS[s.method].outputs(net, block) for block in X.float().split(4096)])
        rows.append(shares(outputs, signal, s.alpha, s.beta))
    return Shares(*(torch.stack(column).double() for column in zip(*rows, strict=True)))
