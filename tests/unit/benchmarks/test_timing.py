import os
import random
import subprocess
import sys

import pytest

from benchmarks.timing import LIMIT, Estimate, Result, estimate, in_turns, pin
from tests.unit.benchmarks.conftest import ROOT


def ratio_of(machine, turns: int = 11, patience: float = 0.0) -> Estimate:
    """A side of 0.1 s against one of 0.4 s."""
    rows = in_turns(machine.work(0.1), machine.work(0.4), turns=turns, patience=patience)
    return estimate(slow / fast for fast, slow in rows)


def is_refused(value: Estimate) -> bool:
    return Result("a line", "", "", None, value.error).disturbed


def test_the_sides_take_turns_and_the_turn_that_warms_up_is_dropped(machine):
    machine.slowness = lambda now: 50.0 if now == 0 else 1.0
    rows = in_turns(machine.work(1), machine.work(2), turns=3, patience=0)
    assert machine.done == [1, 2] * 4
    assert rows == [(1, 2)] * 3


def test_there_are_more_turns_while_there_is_time_for_them(machine):
    machine.work(1)  # each turn takes a second
    assert [len(in_turns(machine.work(1), turns=3, patience=patience)) for patience in (0, 6, 1000)] == [3, 5, 12]


def test_the_interval_of_the_median_needs_no_law():
    # of eleven values the second and the last but one, of five the whole range
    assert estimate(range(1, 12)).error == pytest.approx((10 - 2) / 2 / 6)
    assert estimate([1, 2, 3, 4, 5]).error == pytest.approx((5 - 1) / 2 / 3)


def test_a_calm_machine_is_believed(machine):
    value = ratio_of(machine)
    assert value == (pytest.approx(4), pytest.approx(0, abs=1e-9)) and not is_refused(value)


def test_a_machine_that_grows_slower_and_slower_slows_both_sides(machine):
    machine.slowness = lambda now: 1 + now / 5
    value = ratio_of(machine)
    assert value.median == pytest.approx(4, rel=0.1) and not is_refused(value)
    # where one side is measured after the other, the same machine gives a number that is far off
    machine.now = 0
    (first,), (second,) = ([estimate(r[0] for r in in_turns(machine.work(s))).median] for s in (0.1, 0.4))
    assert second / first > 6


def test_one_hiccup_moves_nothing(machine):
    machine.slowness = lambda now: 100.0 if 2.0 < now < 2.2 else 1.0
    value = ratio_of(machine)
    assert value.median == pytest.approx(4) and not is_refused(value)


BUSY = {
    "every time a little": lambda draws: draws.uniform(1.0, 1.5),
    "every time a lot": lambda draws: draws.uniform(1.0, 3.0),
    "half of the times twice": lambda draws: draws.choice([1.0, 2.0]),
    "two programs that fight for a core": lambda draws: draws.choice([1.0, 20.0]),
}


@pytest.mark.parametrize("busy", BUSY)
@pytest.mark.parametrize(("turns", "wrong"), [(7, 0.025), (11, 0.01)])
def test_a_wrong_number_of_a_busy_machine_is_seldom_believed(machine, busy, turns, wrong):
    draws = random.Random(0)
    machine.slowness = lambda now: BUSY[busy](draws)
    values = [ratio_of(machine, turns) for _ in range(600)]
    believed = [value.median for value in values if not is_refused(value)]
    assert len(believed) < 0.3 * len(values)
    assert sum(abs(value / 4 - 1) > 0.1 for value in believed) <= wrong * len(values)


def test_with_more_turns_a_noisy_machine_gives_the_right_number(machine):
    draws = random.Random(0)
    machine.slowness = lambda now: draws.uniform(1.0, 1.3)
    values = [ratio_of(machine, patience=60) for _ in range(300)]
    believed = [value.median for value in values if not is_refused(value)]
    assert len(believed) > 0.9 * len(values)
    assert sum(abs(value / 4 - 1) > 0.1 for value in believed) <= 0.01 * len(values)


@pytest.mark.parametrize("turns", [7, 11])
def test_ordinary_noise_is_never_refused(machine, turns):
    draws = random.Random(0)
    machine.slowness = lambda now: draws.uniform(0.98, 1.03)
    assert not any(is_refused(ratio_of(machine, turns)) for _ in range(600))


@pytest.mark.parametrize(
    "series", [[-1.0, -1.0, -1.0], [0.0, 0.0, 1.0], [float("nan")] * 3], ids=["negative", "zero", "not a number"]
)
def test_a_time_that_cannot_be_is_refused(series):
    # the set-up that is taken off a run may have been slower than the run
    assert is_refused(estimate(series))


def test_the_limit_itself_is_allowed():
    assert not is_refused(Estimate(1.0, LIMIT)) and is_refused(Estimate(1.0, LIMIT * 1.001))
    assert is_refused(Estimate(1.0, float("nan")))


def test_what_does_not_vary_with_the_load_is_never_refused():
    assert not Result("memory", "1 GB", "under 3 GB", True, None).disturbed


def test_threads_are_pinned_for_this_process_and_its_children(monkeypatch):
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        monkeypatch.setenv(name, "7")
    monkeypatch.setenv("OMP_DYNAMIC", "TRUE")
    monkeypatch.setenv("MKL_DYNAMIC", "TRUE")
    pin(3)
    assert os.environ["MKL_NUM_THREADS"] == "3"
    script = "import torch; print(torch.get_num_threads())"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "3\n"


def test_the_command_line_pins_threads_before_torch_is_there():
    script = "import sys, benchmarks.__main__; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True).stdout == "False\n"
