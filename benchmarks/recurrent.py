"""The kernels of the recurrent network: the finite one against its peers, the limit against the passes it consists of.

Also their memory, and how their times grow with the number of sequences, the length and the width against the growth of
the operations that they count: the numbers go to the report, the curves to `recurrent.svg`.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import torch
from torch import Tensor
from torch.func import jacrev, vmap

from benchmarks import peer
from benchmarks.timing import LeftOut, Result, estimate, in_turns, peak_memory
from hierlib.data.sequences import token_sequences
from hierlib.kernels.recurrent import finite_gram, limit_gram
from hierlib.nets.recurrent import Recurrent, recurrent

D = 3  # numbers in a token; they are few beside the neurons
FINITE, LIMIT = {"n": 200, "L": 8, "m": 1024}, {"n": 2000, "L": 16}
AXES = [
    ("finite", "n", [50, 100, 200, 400]),
    ("finite", "L", [2, 4, 8, 16]),
    ("finite", "m", [256, 512, 1024, 2048]),
    ("limit", "n", [250, 500, 1000, 2000]),
    ("limit", "L", [4, 8, 16, 32]),
]
WORDS = {"n": "sequences", "L": "tokens", "m": "neurons"}


def measure() -> Iterator[Result | LeftOut]:
    yield against_torch_func(**FINITE)
    yield against_neural_tangents(**FINITE)
    yield against_its_passes(**LIMIT)
    for kernel, sizes in (("finite", FINITE), ("limit", LIMIT)):
        # in a process of its own, so that the peak is that of this call alone
        command = [sys.executable, "-m", "benchmarks.recurrent", kernel]
        held = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        promised = memory(kernel, **sizes)
        name = f"{kernel} kernel of a recurrent network, {named(sizes)}, peak memory"
        shown = f"{held * 1e3:.0f} MB (matrices that its docstring counts: {promised * 1e3:.0f} MB)"
        yield Result(name, shown, "at most 2 x + 50 MB", held <= 2 * promised + 0.05, None)
    yield from growth()


def named(sizes: dict[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def problem(n: int, L: int, m: int) -> tuple[Recurrent, Tensor]:
    return recurrent(m, D, L**-3.0, seed=0, dtype=torch.float32), token_sequences(n, L, D, seed=0).float()


def against_torch_func(n: int, L: int, m: int) -> Result:
    """The empirical Gram matrix of one network: ours against the per-sample Jacobian of torch.func."""
    net, X = problem(n, L, m)

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
    A = torch.randn(1024, 1024)
    rows = in_turns(lambda: finite_gram(net, X), by_jacobian, lambda: A @ A, turns=5)
    gain, ours = estimate(theirs / ours for ours, theirs, _ in rows), estimate(ours for ours, *_ in rows)
    share = estimate(operations("finite", n, L, m) / ours * product / (2 * 1024**3) for ours, _, product in rows)
    name = f"tangent kernel of a recurrent network against torch.func vmap(jacrev), n = {n}, L = {L}, m = {m}"
    shown = f"{gain.median:.0f} x as fast ({ours.median * 1e3:.0f} ms, {share.median:.0%} of sgemm)"
    return Result(name, shown, "at least 100 x", gain.median >= 100, gain.error)


def against_neural_tangents(n: int, L: int, m: int) -> Result | LeftOut:
    name = f"tangent kernel of a recurrent network against neural-tangents, n = {n}, L = {L}, m = {m}"
    if not peer.installed():
        return LeftOut(name, peer.ABSENT)
    net, X = problem(n, L, m)
    with peer.neural_tangents("recurrent", n, L, m, D) as its_turn:
        rows = in_turns(lambda: finite_gram(net, X), its_turn, turns=5)
    gain = estimate(theirs / ours for ours, theirs in rows)
    ours, theirs = (estimate(column).median for column in zip(*rows, strict=True))
    shown = f"{gain.median:.0f} x as fast ({ours * 1e3:.0f} ms against {theirs:.0f} s)"
    return Result(name, shown, "at least 100 x", gain.median >= 100, gain.error)


def against_its_passes(n: int, L: int) -> Result:
    """The limit kernel against what it cannot do without: an arccos and a square root of n^2 numbers for every token."""
    X, z = token_sequences(n, L, D, seed=0), torch.rand(n, n, dtype=torch.float64)

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


def operations(kernel: str, n: int, L: int, m: int = 0) -> float:
    """Multiplications and additions of matrix products (finite), elements of the passes (limit)."""
    return 4 * (L - 1) * n * m * m + 2 * L * (L + 1) * n * n * m if kernel == "finite" else 2 * L * n * n


def memory(kernel: str, n: int, L: int, m: int = 0) -> float:
    """GB of the matrices that have to be there at the same time: single precision (finite), double (limit)."""
    return 4 * (3 * L * n * m + 2 * L * n * n) / 1e9 if kernel == "finite" else 8 * n * n / 1e9


def ready(kernel: str, n: int, L: int, m: int = 0) -> Callable[[], Tensor]:
    """The computation of a kernel, its input made."""
    if kernel == "finite":
        net, X = problem(n, L, m)
        return lambda: finite_gram(net, X)
    X = token_sequences(n, L, D, seed=0)
    return lambda: limit_gram(X, L**-3.0)


def growth() -> Iterator[Result]:
    """Every size by itself, the others as above; the last doubling is held against the operations that it adds."""
    curves, disturbed = [], False
    for kernel, size, values in AXES:
        places = [{**(FINITE if kernel == "finite" else LIMIT), size: value} for value in values]
        rows = in_turns(*(ready(kernel, **place) for place in places), turns=5, patience=20)
        ratio = estimate(row[-1] / row[-2] for row in rows)
        *_, before, last = (operations(kernel, **place) for place in places)
        name = f"{kernel} kernel of a recurrent network, {values[-1]} {WORDS[size]} against {values[-2]}"
        shown = f"{ratio.median:.2f} x the time, {last / before:.2f} x the operations (curves in benchmarks/recurrent.svg)"
        result = Result(name, shown, "at most 1.25 x as counted", ratio.median <= 1.25 * last / before, ratio.error)
        disturbed |= result.disturbed
        curves.append([estimate(column).median for column in zip(*rows, strict=True)])
        yield result
    if not disturbed:  # the curves stay with the lines that they belong to
        plot(curves)


def plot(curves: list[list[float]]) -> None:
    fig, axes = plt.subplots(1, len(AXES), figsize=(13, 3), layout="constrained")
    for ax, (kernel, size, values), times in zip(axes, AXES, curves, strict=True):
        fixed = FINITE if kernel == "finite" else LIMIT
        counted = [operations(kernel, **{**fixed, size: value}) for value in values]
        ax.loglog(values, times, "o-", color="#0072B2", label="measured")
        ax.loglog(values, [times[-1] * count / counted[-1] for count in counted], "--", color="#D55E00", label="counted")
        ax.set_xticks(values, labels=values)
        ax.minorticks_off()
        others = {name: value for name, value in fixed.items() if name != size}
        ax.set(xlabel=f"{WORDS[size]} {size}", title=f"{kernel}, {named(others)}")
    axes[0].set_ylabel("seconds")
    axes[0].legend()
    fig.savefig(Path(__file__).with_name("recurrent.svg"), metadata={"Date": None})
    plt.close(fig)


if __name__ == "__main__":
    compute, held = ready(sys.argv[1], **(FINITE if sys.argv[1] == "finite" else LIMIT)), peak_memory()
    compute()
    print(peak_memory() - held)
