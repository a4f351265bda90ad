"""A made-up machine, whose clock moves only while it works, and slower work when it is busy with something else."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
if str(ROOT) not in sys.path:  # `benchmarks` stands beside the package and is not installed
    sys.path.insert(0, str(ROOT))


class Machine:
    """Work takes its seconds times `slowness(now)`; `done` remembers the order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slowness: Callable[[float], float] = lambda now: 1.0
        self.done: list[float] = []

    def work(self, seconds: float) -> Callable[[], None]:
        def action() -> None:
            self.done.append(seconds)
            self.now += seconds * self.slowness(self.now)

        return action


@pytest.fixture
def machine(monkeypatch) -> Machine:
    made_up = Machine()
    monkeypatch.setattr("benchmarks.timing.clock", lambda: made_up.now)
    return made_up
