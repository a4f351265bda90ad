import random
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

import benchmarks.__main__ as command
from benchmarks.report import read
from benchmarks.timing import LeftOut, Result, estimate, in_turns

OLD = """\
## toy

| what | measured | error | wanted | met | date | torch | threads |
| --- | --- | --- | --- | --- | --- | --- | --- |
| gain | 7.0 x | 2.0% | at least 3 x | yes | 2026-11-16 | 2.12.0 | 1 |
"""


@pytest.fixture
def toy(machine, tmp_path, monkeypatch):
    """A part `toy` that compares 0.1 s with 0.4 s on the made-up machine, and a report with an older line of it."""

    def measure():
        gain = estimate(slow / fast for fast, slow in in_turns(machine.work(0.1), machine.work(0.4)))
        yield Result("gain", f"{gain.median:.1f} x", "at least 3 x", gain.median >= 3, gain.error)

    part = SimpleNamespace(measure=measure)
    monkeypatch.setitem(sys.modules, "benchmarks.toy", part)
    monkeypatch.setattr(command, "PARTS", ["toy"])
    monkeypatch.setattr(command, "RESULTS", tmp_path / "RESULTS.md")
    monkeypatch.setattr(command, "pin", lambda threads: None)
    (tmp_path / "RESULTS.md").write_text(OLD)
    threads = torch.get_num_threads()
    yield part
    torch.set_num_threads(threads)


def test_a_calm_machine_renews_the_line(toy, capsys):
    assert command.main(["toy"]) == 0
    (line,) = read(command.RESULTS.read_text())["toy"]
    assert line[:5] == ("gain", "4.0 x", "± 0.0%", "at least 3 x", "yes")
    assert line.torch == torch.__version__ and line.threads == "1" and line.date > "2026"
    assert capsys.readouterr().out == "ok        gain: 4.0 x, ± 0.0% (wanted: at least 3 x)\n"


def test_a_disturbed_machine_leaves_the_report_alone_and_says_why(toy, machine, capsys):
    draws = random.Random(0)
    machine.slowness = lambda now: draws.choice([1.0, 20.0])
    assert command.main([]) == 3
    assert command.RESULTS.read_text() == OLD
    said = capsys.readouterr()
    assert said.out.startswith("refused   gain: ") and "the line of 2026-11-16 in RESULTS.md stays" in said.out
    assert said.err == "lines were refused; when the machine is idle: python -m benchmarks toy\n"


def test_what_is_not_met_is_written_and_is_exit_code_1(toy, machine):
    toy.measure = lambda: iter([Result("gain", "2.0 x", "at least 3 x", False, 0.01), Result("other", "1", "", None, 0.9)])
    assert command.main(["toy"]) == 1
    (line,) = read(command.RESULTS.read_text())["toy"]
    assert (line.measured, line.met) == ("2.0 x", "**no**")


def test_a_missing_peer_is_no_failure(toy):
    toy.measure = lambda: iter([LeftOut("gain", "the peer is not installed")])
    assert command.main(["toy"]) == 0
    assert command.RESULTS.read_text() == OLD


def test_a_part_that_fails_is_one_sentence_and_its_lines_stay(toy, capsys):
    def measure():
        yield Result("gain", "4.0 x", "at least 3 x", True, 0.01)
        subprocess.run([sys.executable, "-c", "raise SystemExit('no such page')"], check=True, capture_output=True)

    toy.measure = measure
    assert command.main(["toy"]) == 1
    assert command.RESULTS.read_text() == OLD
    assert capsys.readouterr().err == "failed    toy: no such page; its lines stay\n"


def test_an_unknown_part_is_one_sentence_and_exit_code_2(toy, capsys):
    assert command.main(["gird"]) == 2
    assert capsys.readouterr().err == "there is no benchmark 'gird'; the parts are toy\n"


def test_no_threads_are_too_few(toy, capsys):
    assert command.main(["toy", "--threads", "0"]) == 2
    assert capsys.readouterr().err == "--threads 0: at least one is needed\n"
