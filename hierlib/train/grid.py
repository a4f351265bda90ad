"""Many small networks trained as one: every learning rate, weight decay, seed and sample size of a grid at once.

SGD with momentum, mini-batches and one drop of the learning rate (Allen-Zhu and Li 2019, appendix A). For each network

    g <- grad of 1/(2b) sum_i |out(x_i) - y_i|^2 over the mini-batch + decay w,   v <- momentum v + g,   w <- w - rate v,

which is what `torch.optim.SGD` does. Networks of equal shape are put into a stack, along a leading axis: one batched matrix
product then serves all of them, and the gradient of the sum of their losses holds the gradient of each. No number passes
from one network to another, so a network that diverges is taken out, reported, and leaves its neighbours as they were.

A network is any NamedTuple of tensors, of whatever shapes, with a function outputs(net, X) that takes one network, or a
stack of them with samples for each (`hierlib.nets`; `torch.func.vmap` makes a stack out of any function of one network).
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hierlib.streams import stream
from hierlib.train.checkpoint import Checkpoint
from hierlib.train.progress import bar

Outputs = Callable[[Any, Tensor], Tensor]
ENTRIES = {"cpu": 2**18, "cuda": 2**26}  # hidden values of a stack per layer: on a CPU they should stay in the cache


class Trial(NamedTuple):
    """One network to be trained: its start, its samples X (N, ...) and Y (N, k), step size, weight decay, and the seed that
    shuffles the samples into mini-batches."""

    net: Any
    X: Tensor
    Y: Tensor
    rate: float
    decay: float
    batch_seed: int


class Schedule(NamedTuple):
    """How long training takes and in which steps. The rate is multiplied by `drop` after `drop_at` epochs."""

    epochs: int
    drop_at: int | None = None
    drop: float = 0.1
    batch: int = 50
    momentum: float = 0.9


class Plan(NamedTuple):
    """What all trials of a grid have in common: what a network computes, the names of the fields that are trained, the
    schedule, and in which precision and where it is computed."""

    outputs: Outputs
    trained: Sequence[str]
    schedule: Schedule
    dtype: torch.dtype = torch.float32
    device: str = "cpu"


class Trained(NamedTuple):
    """The network after training, in float64; its mean loss 1/2|out - y|^2 during every epoch (epochs,); and, if its loss
    stopped being a number, the epoch (from 1) in which that happened. Losses are infinite from then on."""

    net: Any
    losses: Tensor
    diverged: int | None


def train_grid(trials: Sequence[Trial], plan: Plan, progress: str | None = None) -> list[Trained]:
    """Carry out all `trials` and return one result for each, in their order.

    Long work can be interrupted: where the environment variable HIERLIB_CHECKPOINTS names a folder, the state is saved
    there twice a minute, and the same call goes on from it. `progress` names the bar that is shown while it runs.
    """
    parts, stopped = stacks(trials, plan), threading.Event()
    # One thread per stack and core: the operations of a stack are too small to be worth splitting among cores.
    workers = torch.get_num_threads() if torch.device(plan.device).type == "cpu" else 1
    with (
        bar(progress, total=plan.schedule.epochs * len(trials), unit="epoch") as shown,
        ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool,
    ):

        def advance(epochs: int) -> None:
            shown.update(epochs)
            if stopped.is_set():
                raise CancelledError

        try:
            futures = [pool.submit(train_stack, [trials[i] for i in members], plan, advance) for members in parts]
            for future in as_completed(futures):
                future.result()  # raises the first error as soon as there is one
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return in_order(parts, [future.result() for future in futures])


def stacks(trials: Sequence[Trial], plan: Plan) -> list[list[int]]:
    """Indices of the trials that are trained together: equal shapes and sample sizes, and no more than fit in the cache."""
    if isinstance(plan.trained, str):
        raise ValueError(f'`trained` is a tuple of names of fields such as ("W", "V"), not the string "{plan.trained}"')
    alike: dict[Any, list[int]] = {}
    for i, trial in enumerate(trials):
        kind, fields = type(trial.net).__name__, trial.net._fields
        if unknown := [name for name in plan.trained if name not in fields]:
            raise ValueError(f"there is nothing named {unknown[0]} in {kind}: {', '.join(fields)}")
        if len(trial.X) != len(trial.Y):
            raise ValueError(f"trial {i} has {len(trial.X)} inputs but {len(trial.Y)} labels")
        shapes = tuple(weights.shape for weights in trial.net)
        alike.setdefault((type(trial.net), shapes, trial.X.shape, trial.Y.shape), []).append(i)
    parts = []
    for (_, shapes, inputs, _), members in alike.items():
        width = max(inputs[1:].numel(), *(size for shape in shapes for size in shape))
        largest = max(1, ENTRIES[torch.device(plan.device).type] // (plan.schedule.batch * width))
        count = -(-len(members) // largest)
        # an even number, for two cores; the same on every machine, so that the numbers are the same
        count = min(count + (count % 2 if count > 1 else 0), len(members))
        parts += [members[j * len(members) // count : (j + 1) * len(members) // count] for j in range(count)]
    return parts


def in_order(parts: Sequence[Sequence[int]], results: Sequence[Sequence[Trained]]) -> list[Trained]:
    """The results of all `stacks`, in the order of the trials."""
    found: dict[int, Trained] = {}
    for members, answers in zip(parts, results, strict=True):
        found |= dict(zip(members, answers, strict=True))
    return [found[i] for i in range(len(found))]


class _Stack(NamedTuple):
    """R networks on their way, and what has become of the others. It is what a checkpoint holds."""

    epoch: int  # epochs done
    alive: list[int]  # the trials that are in the stack, i.e. have not diverged: R numbers
    weights: dict[str, Tensor]  # every field of the networks: (R, ...)
    velocity: dict[str, Tensor]  # every trained field: (R, ...)
    losses: Tensor  # (trials, epochs), infinite where there is none
    diverged: dict[int, tuple[int, dict[str, Tensor]]]  # trial: the epoch in which it diverged, its weights after it


class _Samples(NamedTuple):
    """All different samples of the trials below each other, and the row at which those of every trial start."""

    X: Tensor
    Y: Tensor
    first: list[int]


def train_stack(trials: Sequence[Trial], plan: Plan, advance: Callable[[int], None] = lambda epochs: None) -> list[Trained]:
    """Carry out trials of equal shapes as one stack of networks (see `train_grid`).

    `advance` is told how many epochs have been trained since it was last told, summed over the trials; it may raise.
    """
    kind, samples, saved = type(trials[0].net), _pooled(trials, plan), Checkpoint("grid", trials, plan)
    state = saved.load()
    stack = _on(plan.device, _Stack(**state)) if state else _start(trials, plan)
    advance(stack.epoch * len(trials))
    while stack.alive and stack.epoch < plan.schedule.epochs:
        means = _train_epoch(stack, trials, samples, plan)
        stack.losses[stack.alive, stack.epoch] = torch.where(means.isfinite(), means, torch.inf)
        stack = _without_diverged(stack._replace(epoch=stack.epoch + 1), means.isfinite())
        saved.save(stack._asdict(), last=stack.epoch == plan.schedule.epochs)
        advance(len(trials))

    ends = {i: (None, {f: w[j] for f, w in stack.weights.items()}) for j, i in enumerate(stack.alive)} | stack.diverged
    nets = [kind(**{f: w.cpu().double() for f, w in ends[i][1].items()}) for i in range(len(trials))]
    return [Trained(net, stack.losses[i], ends[i][0]) for i, net in enumerate(nets)]


def _start(trials: Sequence[Trial], plan: Plan) -> _Stack:
    weights = {
        field: _stacked([getattr(trial.net, field).to(plan.device, plan.dtype) for trial in trials])
        for field in trials[0].net._fields
    }
    velocity = {field: torch.zeros_like(weights[field]) for field in plan.trained}
    losses = torch.full((len(trials), plan.schedule.epochs), torch.inf, dtype=torch.float64)
    return _Stack(0, list(range(len(trials))), weights, velocity, losses, {})


def _train_epoch(stack: _Stack, trials: Sequence[Trial], samples: _Samples, plan: Plan) -> Tensor:
    """Show every network of the stack its samples once; returns its mean loss on the way, (R,) in float64 on the CPU."""
    schedule, device, alive = plan.schedule, plan.device, [trials[i] for i in stack.alive]
    dropped = schedule.drop_at is not None and stack.epoch >= schedule.drop_at
    rate = torch.tensor(
        [trial.rate * (schedule.drop if dropped else 1.0) for trial in alive], dtype=plan.dtype, device=device
    )
    decay = torch.tensor([trial.decay for trial in alive], dtype=plan.dtype, device=device)
    N, first = len(trials[0].X), torch.tensor([samples.first[i] for i in stack.alive])
    order = (_orders([trial.batch_seed for trial in alive], N, stack.epoch) + first[:, None]).to(device)
    total = torch.zeros(len(alive), dtype=plan.dtype, device=device)
    for rows in order.split(schedule.batch, dim=1):
        total += _step(stack, type(trials[0].net), plan, samples.X[rows], samples.Y[rows], rate, decay)
    return total.cpu().double() / N


def _step(stack: _Stack, kind: type, plan: Plan, x: Tensor, y: Tensor, rate: Tensor, decay: Tensor) -> Tensor:
    """One step of SGD on all networks, in place: x (R, b, ...), y (R, b, k), rate and decay (R,).

    Returns the summed loss of every network on its mini-batch, before the step (R,)."""
    moving = {field: stack.weights[field].detach().requires_grad_() for field in stack.velocity}
    loss = (plan.outputs(kind(**(stack.weights | moving)), x) - y).square().sum((1, 2)) / 2
    gradients = torch.autograd.grad(loss.sum() / x.shape[1], list(moving.values()))
    for field, gradient in zip(moving, gradients, strict=True):
        w, v = stack.weights[field], stack.velocity[field]
        per_network = (-1, *[1] * (w.ndim - 1))  # one number for each network, whatever the shape of its weights
        v.mul_(plan.schedule.momentum).add_(gradient).addcmul_(decay.view(per_network), w)
        w.addcmul_(rate.view(per_network), v, value=-1)
    return loss.detach()


def _without_diverged(stack: _Stack, finite: Tensor) -> _Stack:
    """The stack without the networks whose loss was not finite (R,); their weights are kept aside."""
    if finite.all():
        return stack
    diverged = dict(stack.diverged)
    for j, i in enumerate(stack.alive):
        if not finite[j]:
            diverged[i] = stack.epoch, {field: w[j].cpu() for field, w in stack.weights.items()}
    left = finite.nonzero()[:, 0].tolist()
    return stack._replace(
        alive=[stack.alive[j] for j in left],
        weights={field: _stacked([w[j] for j in left]) for field, w in stack.weights.items()} if len(left) else {},
        velocity={field: v[left] for field, v in stack.velocity.items()},
        diverged=diverged,
    )


def _stacked(weights: Sequence[Tensor]) -> Tensor:
    """(R, ...). Of matrices the rows stand beside each other in memory, as the products in forward and backward like it."""
    if weights[0].ndim == 2:
        return torch.stack([matrix.mT for matrix in weights]).mT
    return torch.stack(list(weights))


def _on(device: str, stack: _Stack) -> _Stack:
    weights, velocity = ({f: w.to(device) for f, w in part.items()} for part in (stack.weights, stack.velocity))
    return stack._replace(weights=weights, velocity=velocity)


def _pooled(trials: Sequence[Trial], plan: Plan) -> _Samples:
    """Trials may share a data set, which is then kept once."""
    different: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
    for trial in trials:
        different.setdefault((id(trial.X), id(trial.Y)), (trial.X, trial.Y))
    starts = {key: j * len(trials[0].X) for j, key in enumerate(different)}
    X, Y = (torch.cat(part).to(plan.device, plan.dtype) for part in zip(*different.values(), strict=True))
    return _Samples(X, Y, [starts[id(trial.X), id(trial.Y)] for trial in trials])


def _orders(seeds: Sequence[int], N: int, epoch: int) -> Tensor:
    """The order in which every network sees its N samples in this epoch: (R, N). It depends on seed and epoch alone."""
    drawn = {seed: torch.randperm(N, generator=stream(seed, "mini-batches", N, epoch)) for seed in dict.fromkeys(seeds)}
    return torch.stack([drawn[seed] for seed in seeds])
