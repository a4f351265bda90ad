"""Times that a busy machine cannot falsify unseen: sides in turns, pinned threads, medians, and the spread beside them.

Two sides of a comparison are measured A B A B ..., so that a slow moment meets both. Every turn gives one ratio; the
result is their median, and their spread tells whether the machine was left alone. A line whose spread is too large
is refused (benchmarks/report.py).
"""

import os
import time
from collections.abc import Callable, Iterable
from statistics import median, quantiles
from typing import NamedTuple

LIMIT = 0.10  # the largest spread that is believed: on an idle machine it is one to five percent
clock = time.perf_counter


class Estimate(NamedTuple):
    """The median over the turns, and the range of their middle half relative to it."""

    median: float
    spread: float


class Result(NamedTuple):
    """One line of the report: what was measured, against what it is held, and whether it is met.

    The spread is that of the number which decides; None for what does not vary with the load (memory). `met` is None
    where nothing is wanted. `threads` only where they are not those of this process.
    """

    name: str
    measured: str
    wanted: str
    met: bool | None
    spread: float | None
    threads: int | None = None

    @property
    def disturbed(self) -> bool:
        return self.spread is not None and not self.spread <= LIMIT  # not a number is no calm either


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


def in_turns(*actions: Callable[[], object], turns: int = 11, warm_up: int = 1) -> list[tuple[float, ...]]:
    """Seconds of each action in each turn, in which they follow each other; the turns that warm up are not kept.

    Eleven turns are needed for the spread to be worth something. On a machine that slows every single time by a random
    factor up to 1.5, one series in 20 passes with that many, and one in 300 passes and is wrong by more than a tenth;
    with seven, which is for what takes long, one in 9 and one in 60.
    """
    rows = [tuple(seconds(action) for action in actions) for _ in range(warm_up + turns)]
    return rows[warm_up:]


def estimate(values: Iterable[float]) -> Estimate:
    """Median and spread of one value per turn; a median that is no positive number has no end of spread."""
    series = list(values)
    middle = median(series)
    if not middle > 0:
        return Estimate(middle, float("inf"))
    low, _, high = quantiles(series, n=4, method="inclusive")
    return Estimate(middle, (high - low) / middle)
