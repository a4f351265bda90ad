"""The Gram matrices against the matrix product they contain, against torch.func, and against neural-tangents."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import functional_call, jacrev, vmap

from benchmarks import peer
from benchmarks.timing import LeftOut, Result, estimate, in_turns
from hierlib.data.spheres import unit_sphere
from hierlib.kernels.empirical import finite_gram
from hierlib.kernels.relu import relu_gram
from hierlib.nets.two_layer import two_layer


def measure() -> Iterator[Result | LeftOut]:
    for dtype in (torch.float32, torch.float64):
        X = unit_sphere(4000, 784, seed=0, dtype=dtype)
        rows = in_turns(lambda X=X: X @ X.T, lambda X=X: relu_gram(X))
        ratio, gram = estimate(gram / product for product, gram in rows), estimate(gram for _, gram in rows)
        name = f"relu_gram, n = 4000, d = 784, {str(dtype).removeprefix('torch.')}"
        shown = f"{ratio.median:.2f} x the time of X @ X.T ({gram.median:.2f} s)"
        yield Result(name, shown, "at most 2 x", ratio.median <= 2, ratio.error)
    yield against_torch_func()
    yield against_neural_tangents()


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
    few = 10  # calls of ours in a turn: one alone is over before the clock has a say
    rows = in_turns(lambda: [finite_gram(W, X) for _ in range(few)], by_jacobian, turns=7)
    gain, ours = estimate(few * theirs / ours for ours, theirs in rows), estimate(ours / few for ours, _ in rows)
    name = f"empirical Gram matrix against torch.func vmap(jacrev), n = {n}, m = {m}, d = {d}"
    shown = f"{gain.median:.0f} x as fast ({ours.median * 1e3:.0f} ms)"
    return Result(name, shown, "at least 50 x", gain.median >= 50, gain.error)


def against_neural_tangents(n: int = 4000, d: int = 784) -> Result | LeftOut:
    """The analytic kernel."""
    name = f"relu_gram against neural-tangents, n = {n}, d = {d}, float32"
    if not peer.installed():
        return LeftOut(name, peer.ABSENT)
    X = unit_sphere(n, d, seed=0, dtype=torch.float32)
    with peer.neural_tangents("relu", n, d) as its_turn:
        rows = in_turns(lambda: relu_gram(X), its_turn)
    gain = estimate(theirs / ours for ours, theirs in rows)
    ours, theirs = (estimate(column).median for column in zip(*rows, strict=True))
    shown = f"{gain.median:.1f} x as fast ({ours:.2f} s against {theirs:.2f} s)"
    return Result(name, shown, "at least 1 x", gain.median >= 1, gain.error)
