"""Pages on a Dask cluster of real processes: a scheduler and two workers that share no folder with the driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hierlib.lab import cluster
from hierlib.lab.project import UserError
from hierlib.lab.record import read_record

DASK = str(Path(sys.executable).parent / "dask")

# Asleep only the first time: whoever takes the page over finishes it.
SLEEPS_ONCE = """
import os, pathlib, time
seen = pathlib.Path(os.environ["SEEN"])
if not seen.exists():
    seen.touch()
    pathlib.Path("asleep").touch()
    time.sleep(120)
"""
ASLEEP = "*/tmp*/asleep"


class Machines:
    """A scheduler, and workers with a home each: their working, scratch and temporary folder."""

    def __init__(self, root):
        self.root, self.processes, self.address = root, {}, ""

    def start(self, name, *words, **environment):
        home = self.root / name
        home.mkdir()
        with (home / "log.txt").open("w") as log:
            self.processes[name] = subprocess.Popen(
                [DASK, *words, "--no-dashboard"], cwd=home, env=os.environ | environment, stdout=log, stderr=log
            )

    def start_scheduler(self, eventually):
        card = self.root / "scheduler.json"
        self.start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(card))
        eventually(lambda: card.exists() and card.read_text().rstrip().endswith("}"), "the scheduler listens", seconds=40)
        self.address = json.loads(card.read_text())["address"]

    def start_worker(self, name):
        home = str(self.root / name)
        words = ("worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", home)
        self.start(name, *words, TMPDIR=home, SEEN=str(self.root / "seen"))

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path, eventually):
    made = Machines(tmp_path)
    try:
        made.start_scheduler(eventually)
        yield made
    finally:
        made.stop()


def test_a_killed_worker_costs_time_but_no_page_and_results_live_only_at_the_driver(toy, machines, eventually):
    for name in ("one", "two"):
        machines.start_worker(name)
    toy.add_page("sleeps", SLEEPS_ONCE)
    run = toy.start("run", "--scheduler", machines.address)
    eventually(lambda: list(machines.root.glob(ASLEEP)), "a worker has the page", seconds=60)
    (mark,) = machines.root.glob(ASLEEP)
    victim = mark.relative_to(machines.root).parts[0]
    machines.processes[victim].kill()
    said, complaint = run.communicate(timeout=60)
    assert (run.returncode, complaint) == (0, ""), said
    assert "2 run" in said
    for page in ("squares", "sleeps"):
        (record,) = toy.records(page)
        assert read_record(record)["verdicts"]
    (survivor,) = {"one", "two"} - {victim}
    assert list(toy.working.iterdir()) == []
    left = [path.name for path in (machines.root / survivor).rglob("*") if path.suffix in (".json", ".ipynb")]
    assert left == [], "a worker keeps nothing of a page"
    assert toy.hier("run").stdout == "2 up to date\n"


def test_a_scheduler_that_dies_fails_the_page_with_one_sentence(toy, machines, eventually):
    machines.start_worker("one")
    toy.add_page("sleeps", SLEEPS_ONCE)
    run = toy.start("run", "toy/sleeps", "--scheduler", machines.address)
    eventually(lambda: list(machines.root.glob(ASLEEP)), "a worker has the page", seconds=60)
    machines.processes["scheduler"].kill()
    _, complaint = run.communicate(timeout=60)
    assert (run.returncode, complaint) == (1, "failed: toy/sleeps: the scheduler is gone; what was finished is kept\n")


def test_a_scheduler_without_workers_is_named(machines, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with pytest.raises(UserError, match=f"the Dask scheduler at {machines.address} has no workers; start one with"):
        cluster.connect(machines.address)


def test_a_worker_with_another_version_of_the_code_refuses_the_page(toy):
    _, _, job = toy.job()
    outcome, files = cluster.remote(job._replace(modules="another"), timeout=10, commit="")
    assert outcome.status == "failed" and files == {}
    assert outcome.message == "toy/squares: the worker has another version of hierlib than the driver"
