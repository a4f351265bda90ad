"""The kernels of the recurrent network: the finite one against torch.func, the limit against the passes it consists of."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from benchmarks.timing import Result, estimate, in_turns
from hierlib.data.sequences import token_sequences
from hierlib.kernels.recurrent import finite_gram, limit_gram
from hierlib.nets.recurrent import recurrent


def measure() -> Iterator[Result]:
    yield against_torch_func()
    yield against_its_passes()
    yield against_length()


def against_torch_func(n: int = 200, L: int = 8, m: int = 1024, d: int = 3) -> Result:
    """The empirical Gram matrix of one network: ours against the per-sample Jacobian of torch.func."""
    X, net = token_sequences(n, L, d, seed=0).float(), recurrent(m, d, L**-3.0, seed=0, dtype=torch.float32)

    def output(W: Tensor, x: Tensor) -> Tensor:
        h = net.M.relu()
        for token in x.unbind(0):
            h = torch.relu(W @ h + net.A @ token)
        return net.B @ h

    def by_jacobian() -> Tensor:
        # 20 samples at a time; the whole Jacobian takes 0.8 GB, and is needed
        J = torch.cat([vmap(jacrev(output), (None, 0))(net.W, part).flatten(1) for part in X.split(20)])
        return J @ J.T / m

    assert torch.allclose(finite_gram(net, X), by_jacobian(), atol=1e-3)
    rows = in_turns(lambda: finite_gram(net, X), by_jacobian, turns=5)
    gain, ours = estimate(theirs / ours for ours, theirs in rows), estimate(ours for ours, _ in rows)
    name = f"tangent kernel of a recurrent network against torch.func vmap(jacrev), n = {n}, L = {L}, m = {m}"
    shown = f"{gain.median:.0f} x as fast ({ours.median * 1e3:.0f} ms)"
    return Result(name, shown, "at least 100 x", gain.median >= 100, gain.error)


def against_its_passes(n: int = 2000, L: int = 16, d: int = 3) -> Result:
    """The limit kernel against what it cannot do without: an arccos and a square root of n^2 numbers for every token."""
    X, z = token_sequences(n, L, d, seed=0), torch.rand(n, n, dtype=torch.float64)

    def passes() -> None:
        for _ in range(L):
            for block in z.split(64):
                block.arccos()
                block.sqrt()

    rows = in_turns(lambda: limit_gram(X, L**-3.0), passes, turns=7)
    ratio, ours = estimate(ours / theirs for ours, theirs in rows), estimate(ours for ours, _ in rows)
    name = f"limit kernel of a recurrent network, n = {n}, L = {L}"
    shown = f"{ratio.median:.2f} x the time of its {2 * L} elementwise passes ({ours.median:.2f} s)"
    return Result(name, shown, "at most 4 x", ratio.median <= 4, ratio.error)


def against_length(n: int = 1000, d: int = 3) -> Result:
    """Four times as many tokens."""
    short, long = (token_sequences(n, L, d, seed=0) for L in (8, 32))
    rows = in_turns(lambda: limit_gram(short, 1e-3), lambda: limit_gram(long, 1e-3), turns=7)
    ratio = estimate(b / a for a, b in rows)
    name = f"limit kernel of a recurrent network, n = {n}: L = 32 against L = 8"
    return Result(name, f"{ratio.median:.2f} x the time", "at most 4.4 x", ratio.median <= 4.4, ratio.error)
