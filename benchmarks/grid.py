"""A grid of small networks trained as one against the same networks one after another in plain PyTorch.

Also how the cost grows with the number of runs and with the width: the numbers go to the report, the curves to `grid.svg`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import torch
from torch import nn

from benchmarks.timing import Result, seconds, side_by_side
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
    batched, plain = side_by_side(together(runs), lambda: one_by_one(runs[::8]), rounds=4)  # 8 of 64 are enough to time
    gain, flop = 8 * plain / batched, 242 * M * BATCH * 64 * STEPS
    A = torch.randn(1024, 1024)
    product = min(seconds(lambda: A @ A) for _ in range(20))
    share = flop / batched / (2 * 1024**3 / product)
    yield Result(
        f"grid of 64 residual networks, N = {N}, m = {M}, batch {BATCH}, against one after another",
        f"{gain:.1f}x ({batched / STEPS / 64 * 1e6:.0f} against {plain / STEPS / 8 * 1e6:.0f} us per step and network; "
        f"{share:.0%} of sgemm)",
        "at least 4x",
        gain >= 4,
    )
    counts, widths = [1, 4, 16, 64, 256], [20, 50, 100, 200, 400, 800]
    by_count = [min(seconds(together(grid(c, M))) for _ in range(2)) / STEPS / c * 1e6 for c in counts]
    by_width = {name: [min(seconds(together(grid(16, m, name), name)) for _ in range(2)) / STEPS / 16 * 1e6 for m in sizes]
                for name, sizes in {"3resnet": widths, "2layer": widths, "3layer": widths[:-1]}.items()}  # fmt: skip
    plot(counts, by_count, plain / STEPS / 8 * 1e6, widths, by_width)
    ratio = by_count[-1] / by_count[-2]
    yield Result(
        "cost per network, 256 runs against 64 (curves in benchmarks/grid.svg)",
        f"{ratio:.2f}x ({', '.join(f'{c}: {t:.0f} us' for c, t in zip(counts, by_count, strict=True))})",
        "at most 1.25x",
        ratio <= 1.25,
    )


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
