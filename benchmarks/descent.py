"""A step of full-batch gradient descent against the machine's matrix product and against a plain PyTorch loop."""

import subprocess
import sys
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from benchmarks.timing import Result, estimate, in_turns, peak_memory
from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.nets.two_layer import TwoLayer, two_layer
from hierlib.train.full_batch import Form, cheaper_form, gradient_descent

N, M, D, STEPS, ETA = 1000, 4096, 784, 6, 0.01
LARGE = 10_000  # samples and neurons of the paper


def module_loop(net: TwoLayer, X: Tensor, y: Tensor) -> Callable[[], None]:
    """What one would write without thinking: a module, autograd and torch.optim.SGD."""
    X, y = X.float(), y.float()

    def run() -> None:
        hidden, out = nn.Linear(D, M, bias=False), nn.Linear(M, 1, bias=False).requires_grad_(False)
        with torch.no_grad():
            hidden.weight.copy_(net.W)
            out.weight.copy_(net.a / M**0.5)
        model = nn.Sequential(hidden, nn.ReLU(), out)
        optimiser = torch.optim.SGD(hidden.parameters(), lr=ETA)
        for _ in range(STEPS):
            optimiser.zero_grad()
            ((y - model(X).squeeze(1)).square().sum() / 2).backward()
            optimiser.step()

    return run


def measure() -> Iterator[Result]:
    X, y, net = unit_sphere(N, D, seed=0), random_signs(N, seed=0), two_layer(M, D, 1.0, seed=0)
    A, B, C = torch.randn(N, N), torch.randn(N, M), torch.empty(N, M)

    def train(form: Form, steps: int) -> Callable[[], object]:
        return lambda: gradient_descent(net, X, y, ETA, steps, form=form)

    forms: list[Form] = ["preactivations", "weights"]
    # The set-up of a run (float64 products) is not part of a step: time a run without steps, and take it off in each turn.
    actions = [lambda: torch.mm(A, B, out=C), module_loop(net, X, y)]
    actions += [train(form, steps) for form in forms for steps in (STEPS, 0)]
    rows = in_turns(*actions)
    sgemm = 2 * N * N * M / estimate(row[0] for row in rows).median
    for place, form in enumerate(forms):
        work = 2 * N * N * M if form == "preactivations" else 4 * N * M * D
        steps = [(row[2 + 2 * place] - row[3 + 2 * place]) / STEPS for row in rows]
        share = estimate(work / step / (2 * N * N * M / row[0]) for step, row in zip(steps, rows, strict=True))
        speed = estimate(row[1] / STEPS / step for step, row in zip(steps, rows, strict=True))
        chosen = form == cheaper_form(N, D)
        name = f"descent step on {form}, n = {N}, m = {M}, d = {D}{' (chosen)' if chosen else ''}"
        rate = f"{share.median:.0%} of sgemm ({work / estimate(steps).median / 1e9:.0f} of {sgemm / 1e9:.0f} GFLOP/s)"
        yield Result(name, rate, "at least 75 %", share.median >= 0.75, share.error)
        wanted = 1.5 if chosen else 1.0
        name = f"{name}, against nn.Module, autograd and SGD"
        yield Result(name, f"{speed.median:.2f} x as fast", f"at least {wanted} x", speed.median >= wanted, speed.error)
    # The paper's size in a process of its own, so that the peak is that of this run alone.
    printed = subprocess.run([sys.executable, "-m", "benchmarks.descent"], check=True, capture_output=True, text=True)
    share, error, rate, peak = map(float, printed.stdout.split())
    name = f"descent step at n = m = {LARGE}, d = {D}"
    yield Result(name, f"{share:.0%} of sgemm ({rate:.0f} GFLOP/s)", "at least 75 %", share >= 0.75, error)
    yield Result(f"{name}, peak memory", f"{peak:.2f} GB", "under 3 GB", peak < 3, None)


def at_full_size(steps: int = 1) -> tuple[float, float, float, float]:
    """Share of the sgemm rate with its error, GFLOP/s and peak memory in GB, for 10 000 samples and 10 000 neurons."""
    X, y, net = unit_sphere(LARGE, D, seed=0), random_signs(LARGE, seed=0), two_layer(LARGE, D, 1.0, seed=0)
    A, B, C = torch.randn(2000, D), torch.randn(D, LARGE), torch.empty(2000, LARGE)
    rows = in_turns(
        lambda: torch.mm(A, B, out=C),
        lambda: gradient_descent(net, X, y, 1e-3, steps),
        lambda: gradient_descent(net, X, y, 1e-3, 0),
        turns=7,
    )
    work, product = 4 * LARGE * LARGE * D * steps, 2 * 2000 * D * LARGE
    share = estimate(work / (whole - setup) * sgemm / product for sgemm, whole, setup in rows)
    rate = estimate(work / (whole - setup) for _, whole, setup in rows)
    return *share, rate.median / 1e9, peak_memory()


if __name__ == "__main__":
    print(*at_full_size())
