"""The plain loop: any `nn.Module`, any optimiser of `torch.optim`, epoch after epoch.

    model = make_model().to(device)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    history = train_epochs(model, Shuffled(X, Y, 128), classification, optimiser, epochs, seed, scheduler)

The caller decides on the device, by where the model is, and makes the optimiser; the model is trained in place. Everything
random depends on the seed and the number of the epoch alone: the order of the samples and what `augment` draws come from
named streams on the CPU, so that all devices see the same; what happens inside the model (dropout) is drawn on its device
after seeding that anew for every epoch. An interrupted run that is started again therefore ends as if nothing had happened;
on a GPU bit by bit only if its operations are deterministic (`torch.use_deterministic_algorithms`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from hierlib.streams import stream
from hierlib.train.checkpoint import Checkpoint
from hierlib.train.progress import bar

Numbers = dict[str, float]
Batches = Callable[[int, int], Iterable[tuple[Tensor, Tensor]]]  # (seed, epoch) -> mini-batches (x, y)
Objective = Callable[[nn.Module, Tensor, Tensor], dict[str, Tensor]]  # (model, x, y) -> means over the mini-batch
Callback = Callable[[int, nn.Module, Numbers], Numbers | None]  # (epochs done, model, means of the epoch) -> what to record


class Shuffled(NamedTuple):
    """Samples X (N, ...) and labels Y (N, ...) in mini-batches, in another order in every epoch; the last may be smaller.

    X and Y may lie on the device, or elsewhere if they are too large for it. `augment(x, generator)` changes the inputs of a
    mini-batch; what it draws from the generator, which is on the CPU, it moves to where x is.
    """

    X: Tensor
    Y: Tensor
    batch: int
    augment: Callable[[Tensor, torch.Generator], Tensor] | None = None

    def __call__(self, seed: int, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        N, draws = len(self.X), stream(seed, "augmentation", epoch)
        order = torch.randperm(N, generator=stream(seed, "mini-batches", N, epoch)).to(self.X.device)
        for rows in order.split(self.batch):
            x = self.X[rows]
            yield self.augment(x, draws) if self.augment else x, self.Y[rows.to(self.Y.device)]


def classification(model: nn.Module, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """Cross-entropy of the outputs (b, classes) for labels y (b,), and the share of wrong answers."""
    outputs = model(x)
    return {"loss": F.cross_entropy(outputs, y), "error": (outputs.argmax(1) != y).double().mean()}


def half_squares(model: nn.Module, x: Tensor, y: Tensor) -> dict[str, Tensor]:
    """1/2 |out - y|^2 for y (b, k), the loss of `hierlib.train.grid`."""
    return {"loss": (model(x) - y).square().sum(1).mean() / 2}


def train_epochs(
    model: nn.Module,
    batches: Batches,
    objective: Objective,
    optimiser: Optimizer,
    epochs: int,
    seed: int,
    scheduler: LRScheduler | None = None,
    callbacks: Sequence[Callback] = (),
    progress: str | None = None,
) -> list[Numbers]:
    """Train `model`; returns, for every epoch, the means that the objective measured on the way and what callbacks returned.

    The entry "loss" of the objective is minimised. `batches(seed, epoch)` gives the mini-batches of an epoch (from 0), as
    `Shuffled` does. The scheduler takes a step per epoch. Callbacks find the model in evaluation mode, after the epoch, and
    should leave it as it is; after an interruption they are not called again for epochs that had been saved, whose numbers
    are in the history. At the end the model is in evaluation mode.
    """
    device = next(model.parameters()).device
    parts: dict[str, Any] = {"model": model, "optimiser": optimiser} | ({"scheduler": scheduler} if scheduler else {})
    # Callbacks are told apart by name, not by content: they may hold whatever they like.
    watched = [getattr(callback, "__qualname__", type(callback).__qualname__) for callback in callbacks]
    rule = _rule(model, optimiser, scheduler)
    saved = Checkpoint("epochs", model, batches, objective, rule, epochs, seed, device.type, watched)
    history: list[Numbers] = []
    if state := saved.load():
        history = state["history"]
        for name, part in parts.items():
            part.load_state_dict(state[name])

    every_gpu = range(torch.cuda.device_count())
    with bar(progress, total=epochs, initial=len(history), unit="epoch") as shown, torch.random.fork_rng(every_gpu):
        for epoch in range(len(history), epochs):
            torch.manual_seed(stream(seed, "inside the model", epoch).initial_seed())
            model.train()
            numbers = _train_epoch(model, batches(seed, epoch), objective, optimiser, device)
            if scheduler:
                scheduler.step()
            model.eval()
            for callback in callbacks:
                numbers |= {name: float(value) for name, value in (callback(epoch + 1, model, dict(numbers)) or {}).items()}
            history.append(numbers)
            states = {name: part.state_dict() for name, part in parts.items()}
            saved.save({"history": history} | states, last=epoch + 1 == epochs)
            shown.set_postfix(numbers, refresh=False)
            shown.update()
    model.eval()  # also where nothing was left to be done
    return history


def _train_epoch(
    model: nn.Module,
    batches: Iterable[tuple[Tensor, Tensor]],
    objective: Objective,
    optimiser: Optimizer,
    device: torch.device,
) -> Numbers:
    """One step per mini-batch; returns the means over the samples of what the objective measured before each step."""
    totals: dict[str, Tensor] = {}
    seen = 0
    for x, y in batches:
        measured = objective(model, x.to(device, non_blocking=True), y.to(device, non_blocking=True))
        optimiser.zero_grad()
        measured["loss"].backward()
        optimiser.step()
        seen += len(x)
        for name, mean in measured.items():  # stays on the device: asking for a number would make it wait
            totals[name] = totals.get(name, 0.0) + mean.detach().double() * len(x)
    return {name: total.item() / seen for name, total in totals.items()}


def _rule(model: nn.Module, optimiser: Optimizer, scheduler: LRScheduler | None) -> list[Any]:
    """What tells one training rule from another: kind and settings of optimiser and scheduler, and whom they train."""
    names = {id(weights): name for name, weights in model.named_parameters()}
    groups = [[names.get(id(weights)) for weights in group["params"]] for group in optimiser.param_groups]
    rule = [type(optimiser), optimiser.state_dict(), groups]
    if scheduler:
        rule += [type(scheduler), scheduler.state_dict(), getattr(scheduler, "lr_lambdas", None)]
    return rule
