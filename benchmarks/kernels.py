"""The Gram matrices against the matrix product they contain, against torch.func, and against neural-tangents."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.func import functional_call, jacrev, vmap

from benchmarks.timing import Result, side_by_side
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.relu import relu_gram
from hierlib.nets.two_layer import two_layer

PEER = "HIERLIB_NEURAL_TANGENTS"  # the python of an environment made as benchmarks/neural_tangents_peer.py says


def measure() -> Iterator[Result]:
    for dtype in (torch.float32, torch.float64):
        X = unit_sphere(4000, 784, seed=0, dtype=dtype)
        product, gram = side_by_side(lambda X=X: X @ X.T, lambda X=X: relu_gram(X))
        name = f"relu_gram, n = 4000, d = 784, {str(dtype).removeprefix('torch.')}"
        yield Result(name, f"{gram / product:.2f} x the time of X @ X.T ({gram:.2f} s)", "at most 2 x", gram <= 2 * product)
    yield against_torch_func()
    yield from against_neural_tangents()


def against_torch_func(n: int = 200, m: int = 4096, d: int = 784) -> Result:
    """The empirical Gram matrix of one network: ours against the per-sample Jacobian of torch.func."""
    X, net = unit_sphere(n, d, seed=0, dtype=torch.float32), two_layer(m, d, 1.0, seed=0)
    W, a = net.W.float(), net.a.float()
    hidden = torch.nn.Linear(d, m, bias=False)

    def output(weights: Tensor, x: Tensor) -> Tensor:
        return torch.relu(functional_call(hidden, {"weight": weights}, (x,))) @ a / m**0.5

    def by_jacobian() -> Tensor:
        # 20 samples at a time: the whole Jacobian would take 2.6 GB
        rows = [vmap(jacrev(output), (None, 0))(W, part).flatten(1) for part in X.split(20)]
        J = torch.cat(rows)
        return J @ J.T

    assert torch.allclose(finite_gram(W, X), by_jacobian(), atol=1e-4)
    ours, theirs = side_by_side(lambda: finite_gram(W, X), by_jacobian, rounds=3)
    name = f"empirical Gram matrix against torch.func vmap(jacrev), n = {n}, m = {m}, d = {d}"
    return Result(name, f"{theirs / ours:.0f} x as fast ({ours * 1e3:.0f} ms)", "at least 50 x", theirs >= 50 * ours)


def against_neural_tangents(n: int = 4000, d: int = 784) -> Iterator[Result]:
    """The analytic kernel; the peer lives in an environment of its own and is left out when there is none."""
    name = f"relu_gram against neural-tangents, n = {n}, d = {d}, float32"
    if PEER not in os.environ:
        return
    X = unit_sphere(n, d, seed=0, dtype=torch.float32)
    (ours,) = side_by_side(lambda: relu_gram(X))
    peer = [os.environ[PEER], Path(__file__).with_name("neural_tangents_peer.py"), str(n), str(d)]
    theirs = float(subprocess.run(peer, check=True, capture_output=True, text=True).stdout.split()[-1])
    (again,) = side_by_side(lambda: relu_gram(X))
    ours = max(ours, again)  # before and after the peer, the slower one: a machine that got busy must not flatter us
    yield Result(
        name, f"{theirs / ours:.1f} x as fast ({ours:.2f} s against {theirs:.2f} s)", "at least 1 x", theirs >= ours
    )
