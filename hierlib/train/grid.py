"""Many small networks trained as one: every learning rate, weight decay, seed and sample size of a grid at once.

SGD with momentum, mini-batches and one drop of the learning rate (Allen-Zhu and Li 2019, appendix A). For each network

    g <- grad of 1/(2b) sum_i |out(x_i) - y_i|^2 over the mini-batch + decay w,   v <- momentum v + g,   w <- w - rate v,

which is what `torch.optim.SGD` does. Networks of equal shape are stacked along a leading axis: one batched matrix product
then serves all of them, and the gradient of the sum of their losses holds the gradient of each. No number passes from one
network to another, so a network that diverges is taken out, reported, and leaves its neighbours as they were.

A network is any NamedTuple of tensors with a function outputs(net, X) that accepts leading axes (`hierlib.nets`).
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import torch
from torch import Tensor
from tqdm import tqdm

from hierlib.files import arriving
from hierlib.streams import stream

Outputs = Callable[[Any, Tensor], Tensor]
ENTRIES = {"cpu": 2**18, "cuda": 2**26}  # hidden values of a block per layer: on a CPU they should stay in the cache
SAVE_EVERY = 30.0  # seconds between two checkpoints


class Run(NamedTuple):
    """One network to be trained: its start, its samples X (N, d) and Y (N, k), step size, weight decay, mini-batch seed."""

    net: Any
    X: Tensor
    Y: Tensor
    rate: float
    decay: float
    order: int


class Schedule(NamedTuple):
    """What all runs of a grid have in common. The rate is multiplied by `drop` after `drop_at` epochs."""

    epochs: int
    drop_at: int | None = None
    drop: float = 0.1
    batch: int = 50
    momentum: float = 0.9


class Trained(NamedTuple):
    """The network after training, in float64; its mean loss 1/2|out - y|^2 during every epoch (epochs,); and, if its loss
    stopped being a number, the epoch (from 1) in which that happened. Losses are infinite from then on."""

    net: Any
    losses: Tensor
    diverged: int | None


def train_grid(
    runs: Sequence[Run],
    outputs: Outputs,
    trained: Sequence[str],
    schedule: Schedule,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    progress: str | None = None,
) -> list[Trained]:
    """Train all `runs` and return one result per run, in their order. `trained` names the fields that move.

    Long work can be interrupted: where the environment variable HIERLIB_CHECKPOINTS names a folder, the state is saved
    there twice a minute, and the same call goes on from it. `progress` names the bar that is shown while it runs.
    """
    parts, stop = blocks(runs, schedule, device), threading.Event()
    found: dict[int, Trained] = {}
    # One thread per block and core: the operations of a block are too small to be worth splitting among cores.
    workers = torch.get_num_threads() if torch.device(device).type == "cpu" else 1
    epochs = schedule.epochs * len(runs)
    with (
        tqdm(total=epochs, desc=progress, unit="epoch", disable=None if progress else True, leave=False) as bar,
        ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool,
    ):
        try:
            common = (outputs, trained, schedule, dtype, device, bar, stop)
            waiting = [pool.submit(train_block, [runs[i] for i in members], *common) for members in parts]
            for members, future in zip(parts, waiting, strict=True):
                found |= dict(zip(members, future.result(), strict=True))
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[i] for i in range(len(runs))]


def blocks(runs: Sequence[Run], schedule: Schedule, device: str = "cpu") -> list[list[int]]:
    """Indices of the runs that are trained together: equal shapes and sample sizes, and no more than fit in the cache."""
    alike: dict[Any, list[int]] = {}
    for i, run in enumerate(runs):
        if len(run.X) != len(run.Y):
            raise ValueError(f"run {i} has {len(run.X)} inputs but {len(run.Y)} labels")
        shapes = tuple(tensor.shape for tensor in run.net)
        alike.setdefault((type(run.net), shapes, run.X.shape, run.Y.shape), []).append(i)
    parts = []
    for (_, shapes, *_), members in alike.items():
        width = max(max(shape) for shape in shapes)
        size = max(1, ENTRIES[torch.device(device).type] // (schedule.batch * width))
        count = -(-len(members) // size)
        count += count % 2 if count > 1 else 0  # even, for two cores; the same everywhere, so that numbers are the same
        parts += [members[j * len(members) // count : (j + 1) * len(members) // count] for j in range(count)]
    return parts


def train_block(
    runs: Sequence[Run],
    outputs: Outputs,
    trained: Sequence[str],
    schedule: Schedule,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    bar: Any = None,
    stop: threading.Event | None = None,
) -> list[Trained]:
    """Train runs of equal shapes as one stack of networks (see `train_grid`)."""
    fields, N = type(runs[0].net)._fields, len(runs[0].X)
    if unknown := [name for name in trained if name not in fields]:
        raise ValueError(f"there is nothing named {unknown[0]} in {type(runs[0].net).__name__}: {', '.join(fields)}")
    X, Y, offsets = _pooled(runs, dtype, device)
    saved = _Checkpoint(runs, outputs.__module__, outputs.__qualname__, tuple(trained), schedule, dtype)
    state = saved.load() or {
        "epoch": 0,
        "alive": torch.arange(len(runs)),
        "weights": {f: _stacked([getattr(run.net, f) for run in runs]).to(dtype) for f in fields},
        "velocity": {},
        "losses": torch.full((len(runs), schedule.epochs), torch.inf, dtype=torch.float64),
        "diverged": {},
    }
    weights = {f: _stacked(list(w)).to(device) for f, w in state["weights"].items()}
    velocity = {f: v.to(device) for f, v in state["velocity"].items()} or {f: torch.zeros_like(weights[f]) for f in trained}
    alive, losses, diverged = state["alive"], state["losses"], state["diverged"]
    if bar is not None:
        bar.update(state["epoch"] * len(runs))

    for epoch in range(state["epoch"], schedule.epochs):
        dropped = schedule.drop_at is not None and epoch >= schedule.drop_at
        rate = _column([-runs[i].rate * (schedule.drop if dropped else 1.0) for i in alive], weights[fields[0]])
        decay = _column([runs[i].decay for i in alive], weights[fields[0]])
        index = _shuffled([runs[i].order for i in alive], N, epoch).to(device) + offsets[alive, None].to(device)
        total = torch.zeros(len(alive), dtype=dtype, device=device)
        for rows in index.split(schedule.batch, dim=1):
            total += _step(weights, velocity, outputs, runs[0].net, X[rows], Y[rows], rate, decay, schedule.momentum)
        total = total.cpu().double() / N
        losses[alive, epoch] = torch.where(total.isfinite(), total, torch.inf)
        keep = total.isfinite()
        if not keep.all():
            diverged |= {int(i): (epoch + 1, {f: w[j].cpu() for f, w in weights.items()})
                         for j, i in enumerate(alive) if not keep[j]}  # fmt: skip
            alive, chosen = alive[keep], keep.to(device)
            weights = {f: _stacked(list(w[chosen])) for f, w in weights.items()} if len(alive) else {}
            velocity = {f: v[chosen] for f, v in velocity.items()}
        if bar is not None:
            bar.update(len(runs))
        saved.keep({"epoch": epoch + 1, "alive": alive, "weights": weights, "velocity": velocity,
                    "losses": losses, "diverged": diverged}, last=epoch + 1 == schedule.epochs)  # fmt: skip
        if not len(alive) or (stop is not None and stop.is_set()):
            break

    kind = type(runs[0].net)
    final = {int(i): kind(*(weights[f][j].detach().cpu().double() for f in fields)) for j, i in enumerate(alive)}
    final |= {i: kind(*(w[f].double() for f in fields)) for i, (_, w) in diverged.items()}
    return [Trained(final[i], losses[i], diverged[i][0] if i in diverged else None) for i in range(len(runs))]


def _step(
    weights: dict[str, Tensor], velocity: dict[str, Tensor], outputs: Outputs, like: Any, x: Tensor, y: Tensor,
    rate: Tensor, decay: Tensor, momentum: float,
) -> Tensor:  # fmt: skip
    """One step of SGD on all networks, in place: x (R, b, d), y (R, b, k), rate and decay (R, 1, 1), rate negative.

    Returns the summed loss of every network on its mini-batch, before the step (R,)."""
    moving = [weights[f].requires_grad_() for f in velocity]
    loss = (outputs(type(like)(**weights), x) - y).square().sum((1, 2)) / 2
    gradients = torch.autograd.grad(loss.sum() / x.shape[1], moving)
    with torch.no_grad():
        for w, v, g in zip(moving, velocity.values(), gradients, strict=True):
            v.mul_(momentum).add_(g).addcmul_(decay, w)
            w.addcmul_(rate, v)
    for w in moving:
        w.requires_grad_(False)
    return loss.detach()


def _stacked(matrices: list[Tensor]) -> Tensor:
    """(R, rows, columns) with the rows beside each other in memory, as the products in forward and backward like it."""
    return torch.stack([matrix.mT for matrix in matrices]).contiguous().mT


def _column(values: Iterable[float], like: Tensor) -> Tensor:
    return torch.tensor(list(values), dtype=like.dtype, device=like.device)[:, None, None]


def _pooled(runs: Sequence[Run], dtype: torch.dtype, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """All different samples below each other, and where those of every run start. Runs may share a data set."""
    first: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
    for run in runs:
        first.setdefault((id(run.X), id(run.Y)), (run.X, run.Y))
    starts = {key: j * len(runs[0].X) for j, key in enumerate(first)}
    X = torch.cat([x for x, _ in first.values()]).to(dtype=dtype, device=device)
    Y = torch.cat([y for _, y in first.values()]).to(dtype=dtype, device=device)
    return X, Y, torch.tensor([starts[id(run.X), id(run.Y)] for run in runs])


def _shuffled(orders: list[int], N: int, epoch: int) -> Tensor:
    """The order in which every run sees its N samples in this epoch: (R, N). It depends on seed and epoch alone."""
    drawn = {seed: torch.randperm(N, generator=stream(seed, "mini-batches", N, epoch)) for seed in dict.fromkeys(orders)}
    return torch.stack([drawn[seed] for seed in orders])


class _Checkpoint:
    """The state of one block in a file whose name depends on everything that decides its result."""

    def __init__(self, runs: Sequence[Run], *settings: Any):
        folder = os.environ.get("HIERLIB_CHECKPOINTS")
        self.path: Path | None = None
        self.saved = time.monotonic()
        if not folder:
            return
        digest = hashlib.sha256(repr(settings).encode())
        for run in runs:
            digest.update(repr((run.rate, run.decay, run.order)).encode())
            for tensor in (*run.net, run.X, run.Y):
                digest.update(tensor.cpu().contiguous().numpy().tobytes())
        self.path = Path(folder) / f"{digest.hexdigest()[:32]}.pt"

    def load(self) -> dict[str, Any] | None:
        if self.path is None or not self.path.is_file():
            return None
        try:
            state: dict[str, Any] = torch.load(self.path, weights_only=True, map_location="cpu")
        except (OSError, RuntimeError, EOFError, UnpicklingError):
            return None  # damaged: the block starts anew
        return state

    def keep(self, state: dict[str, Any], last: bool) -> None:
        """Save if the last time was long ago, or the block is complete and took long enough to be worth a file."""
        if self.path is None or time.monotonic() - self.saved < SAVE_EVERY * (0.1 if last else 1):
            return
        with arriving(self.path) as file:
            torch.save(state, file)
        self.saved = time.monotonic()
