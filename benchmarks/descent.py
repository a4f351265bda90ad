"""A step of full-batch gradient descent against the machine's matrix product and against a plain autograd loop."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks.timing import Result, side_by_side
from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.nets.two_layer import TwoLayer, two_layer
from hierlib.train.gradient_descent import Form, cheaper_form, gradient_descent

N, M, D, STEPS, ETA = 1000, 4096, 784, 12, 0.01


def autograd_loop(net: TwoLayer, X: Tensor, y: Tensor) -> Callable[[], None]:
    """What one would write without thinking: forward, backward, update."""
    W0, a, X, y = net.W.float(), net.a.float(), X.float(), y.float()

    def run() -> None:
        W = W0.clone().requires_grad_()
        for _ in range(STEPS):
            loss = (y - torch.relu(X @ W.T) @ a / M**0.5).square().sum() / 2
            (gradient,) = torch.autograd.grad(loss, W)
            with torch.no_grad():
                W -= ETA * gradient

    return run


def measure() -> Iterator[Result]:
    X, y, net = unit_sphere(N, D, seed=0), random_signs(N, seed=0), two_layer(M, D, 1.0, seed=0)
    A, B, C = torch.randn(N, N), torch.randn(N, M), torch.empty(N, M)

    def train(form: Form, steps: int) -> Callable[[], object]:
        return lambda: gradient_descent(net, X, y, ETA, steps, form=form)

    forms: list[Form] = ["preactivations", "weights"]
    # The set-up of a run (float64 products) is not part of a step: time a run without steps and take it off.
    actions = [lambda: torch.mm(A, B, out=C), autograd_loop(net, X, y)]
    actions += [train(form, steps) for form in forms for steps in (STEPS, 0)]
    product, autograd, *runs = side_by_side(*actions)
    sgemm = 2 * N * N * M / product
    for form, whole, setup in zip(forms, runs[::2], runs[1::2], strict=True):
        step, work = (whole - setup) / STEPS, 2 * N * N * M if form == "preactivations" else 4 * N * M * D
        share = work / step / sgemm
        name = f"descent step on {form}, n = {N}, m = {M}, d = {D}"
        chosen = form == cheaper_form(N, D)
        rate = f"{share:.0%} of sgemm ({work / step / 1e9:.0f} of {sgemm / 1e9:.0f} GFLOP/s)"
        yield Result(f"{name}{' (chosen)' if chosen else ''}", rate, "at least 75 %", share >= 0.75)
        speed = autograd / STEPS / step
        yield Result(f"{name}, against autograd", f"{speed:.2f} x as fast", "at least 1 x", speed >= 1)
