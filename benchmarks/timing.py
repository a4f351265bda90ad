"""Times as ratios: two things measured in turns, so that a busy machine slows both."""

import time
from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    """One line of the report: what was measured, against what it is held, and whether it is met."""

    name: str
    measured: str
    wanted: str
    met: bool


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def side_by_side(*actions: Callable[[], object], rounds: int = 7) -> list[float]:
    """The best time of each action over several rounds in which they take turns, after one round to warm up."""
    rows = [[seconds(action) for action in actions] for _ in range(rounds + 1)][1:]
    return [min(column) for column in zip(*rows, strict=True)]
