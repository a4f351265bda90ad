"""Times that a busy machine cannot falsify unseen: sides in turns, pinned threads, medians, and how well they are known.

Two sides of a comparison are measured A B A B ..., so that a slow moment meets both. Every turn gives one ratio; the
result is their median, and the spread of the turns says how well it is known. A line whose median is not known well
enough is refused (benchmarks/report.py). On a virtual machine single turns spread by 10 to 20 % with nothing else
running, because its cores are not its own; more turns make up for it.
"""

import math
import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple

LIMIT = 0.10  # a median that is known less well than this is not believed
PATIENCE = 60.0  # seconds for which turns are added to the fewest, up to four times as many
clock = time.perf_counter


class Estimate(NamedTuple):
    """The median over the turns, and half of its 95 % interval relative to it."""

    median: float
    error: float


class Result(NamedTuple):
    """One line of the report: what was measured, against what it is held, and whether it is met.

    The error is that of the number which decides; None for what does not vary with the load (memory). `met` is None
    where nothing is wanted. `threads` only where they are not those of this process.
    """

    name: str
    measured: str
    wanted: str
    met: bool | None
    error: float | None
    threads: int | None = None

    @property
    def disturbed(self) -> bool:
        return self.error is not None and not self.error <= LIMIT  # not a number is no calm either


class LeftOut(NamedTuple):
    """A line that cannot be measured here, and why."""

    name: str
    why: str


def pin(threads: int) -> None:
    """Fix the number of threads of this process and its children; to be called before torch starts its pool."""
    for library in ("OMP", "MKL", "OPENBLAS", "NUMEXPR"):
        os.environ[f"{library}_NUM_THREADS"] = str(threads)
    os.environ["OMP_DYNAMIC"] = os.environ["MKL_DYNAMIC"] = "FALSE"


def seconds(action: Callable[[], object]) -> float:
    start = clock()
    action()
    return clock() - start


def peak_memory() -> float:
    """GB that this process has held at most; not of getrusage, which counts what the parent held when it started it."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(peak[1]) / 2**20 if peak else float("nan")


def in_turns(
    *actions: Callable[[], object], turns: int = 11, warm_up: int = 1, patience: float = PATIENCE
) -> list[tuple[float, ...]]:
    """Seconds of each action in each turn, in which they follow each other; the turns that warm up are not kept.

    At least `turns` of them, and up to four times as many while they have taken less than `patience` seconds.
    """
    start, rows = clock(), []
    while len(rows) < warm_up + turns or (len(rows) < warm_up + 4 * turns and clock() - start < patience):
        rows.append(tuple(seconds(action) for action in actions))
    return rows[warm_up:]


def estimate(values: Iterable[float]) -> Estimate:
    """Median of one value per turn, and how well it is known; one that is no positive number is not known at all.

    The interval lies between two of the values in their order, so many from either end that the true median is outside
    with probability 5 % at most, whatever the law of the values. With fewer than six values it is their whole range.
    """
    series = sorted(values)
    middle, count = median(series), len(series)
    if not middle > 0:
        return Estimate(middle, float("inf"))
    outside, dropped = 0.0, -1  # values that may be dropped from either end
    while (outside := outside + 2 * math.comb(count, dropped + 1) / 2**count) <= 0.05:
        dropped += 1
    first = max(dropped, 0)
    return Estimate(middle, (series[-1 - first] - series[first]) / 2 / middle)
