"""A grid of small networks trained as one against the same networks one after another in plain PyTorch.

Also how the cost grows with the number of runs and with the width: the numbers go to the report, the curves to `grid.svg`.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import torch
from torch import nn

from benchmarks.timing import Result, estimate, in_turns
from hierlib.nets.residual import Residual
from hierlib.papers.resnet_kernels.methods import METHODS, Setting, Task, prepare
from hierlib.targets.hierarchy import paired_parities
from hierlib.train.grid import Plan, Schedule, Trial, train_grid

TASK = Task(30, paired_parities)
RATES, DECAYS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5], [1e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2]
N, M, BATCH, EPOCHS = 1000, 200, 50, 2
STEPS = EPOCHS * N // BATCH


class Module(nn.Module):
    """The residual network as one would write it without thinking of a grid."""

    def __init__(self, net: Residual):
        super().__init__()
        (m, d), (k, _), (_, below) = net.W.shape, net.A.shape, net.V.shape
        self.first, self.second, self.out = nn.Linear(d - 1, m), nn.Linear(below - 1, m), nn.Linear(m, k, bias=False)
        with torch.no_grad():
            self.out.weight.copy_(net.A)
            for layer, weights in ((self.first, net.W), (self.second, net.V)):
                layer.weight.copy_(weights[:, :-1])
                layer.bias.copy_(weights[:, -1])
        self.out.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out1 = self.out(torch.relu(self.first(x)))
        return out1 + self.out(torch.relu(self.second(out1)))


def one_by_one(runs: list[Trial]) -> None:
    """nn.Module, autograd, torch.optim.SGD, one network after another; mini-batches by index, which beats a DataLoader."""
    for run in runs:
        model, X, Y = Module(run.net), run.X.float(), run.Y.float()
        trained = [p for p in model.parameters() if p.requires_grad]
        optimiser = torch.optim.SGD(trained, lr=run.rate, momentum=0.9, weight_decay=run.decay)
        for _ in range(EPOCHS):
            for rows in torch.randperm(N).split(BATCH):
                optimiser.zero_grad()
                ((model(X[rows]) - Y[rows]).square().sum(1).mean() / 2).backward()
                optimiser.step()


def grid(count: int, m: int, method: str = "3resnet") -> list[Trial]:
    settings = [Setting(method, m, N, 0, rate, decay) for rate in RATES for decay in DECAYS]
    return prepare([settings[i % 64] for i in range(count)], TASK)


def together(runs: list[Trial], method: str = "3resnet") -> Callable[[], object]:
    plan = Plan(METHODS[method].outputs, METHODS[method].trained, Schedule(EPOCHS, batch=BATCH))
    return lambda: train_grid(runs, plan)


def measure() -> Iterator[Result]:
    runs = grid(64, M)
    A = torch.randn(1024, 1024)
    # 8 of 64 are enough to time one after another
    rows = in_turns(together(runs), lambda: one_by_one(runs[::8]), lambda: A @ A, turns=15, warm_up=2)
    gain = estimate(8 * plain / batched for batched, plain, _ in rows)
    share = estimate(242 * M * BATCH * 64 * STEPS / batched * product / (2 * 1024**3) for batched, _, product in rows)
    batched = estimate(row[0] / STEPS / 64 * 1e6 for row in rows).median
    plain = estimate(row[1] / STEPS / 8 * 1e6 for row in rows).median
    yield Result(
        f"grid of 64 residual networks, N = {N}, m = {M}, batch {BATCH}, against one after another",
        f"{gain.median:.1f}x ({batched:.0f} against {plain:.0f} us per step and network; {share.median:.0%} of sgemm)",
        "at least 4x",
        gain.median >= 4,
        gain.error,
    )
    counts, widths = [1, 4, 16, 64, 256], [20, 50, 100, 200, 400, 800]
    rows = in_turns(*(together(grid(count, M)) for count in counts))
    ratio = estimate(64 * row[-1] / (256 * row[-2]) for row in rows)
    by_count = [microseconds(column, count) for column, count in zip(zip(*rows, strict=True), counts, strict=True)]
    result = Result(
        "cost per network, 256 runs against 64 (curves in benchmarks/grid.svg)",
        f"{ratio.median:.2f}x ({', '.join(f'{c}: {t:.0f} us' for c, t in zip(counts, by_count, strict=True))})",
        "at most 1.25x",
        ratio.median <= 1.25,
        ratio.error,
    )
    if not result.disturbed:  # the curves stay with the line that they belong to
        sizes = {"3resnet": widths, "2layer": widths, "3layer": widths[:-1]}
        cases = [(name, m) for name in sizes for m in sizes[name]]
        columns = zip(*in_turns(*(together(grid(16, m, name), name) for name, m in cases), turns=3), strict=True)
        times = dict(zip(cases, (microseconds(column, 16) for column in columns), strict=True))
        plot(counts, by_count, plain, widths, {name: [times[name, m] for m in sizes[name]] for name in sizes})
    yield result


def microseconds(column: Sequence[float], count: int) -> float:
    """Per step and network, of a grid of `count` networks."""
    return estimate(column).median / STEPS / count * 1e6


def plot(
    counts: list[int], by_count: list[float], plain: float, widths: list[int], by_width: dict[str, list[float]]
) -> None:
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    left.loglog(counts, by_count, "o-", color="#0072B2", label="as one grid")
    left.axhline(plain, color="#D55E00", label="one after another, plain PyTorch")
    left.set(xlabel="networks in the grid", ylabel="microseconds per step and network", title=f"residual network, m = {M}")
    left.legend()
    for (name, times), colour in zip(by_width.items(), ("#0072B2", "#009E73", "#CC79A7"), strict=True):
        right.loglog(widths[: len(times)], times, "o-", color=colour, label=name)
    right.set(xlabel="width m", ylabel="microseconds per step and network", title="16 networks in the grid")
    right.legend()
    fig.savefig(Path(__file__).with_name("grid.svg"), metadata={"Date": None})
    plt.close(fig)
