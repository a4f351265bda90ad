"""Runs that are interrupted, killed or raced: nothing half-done is visible or keeps running, the next run continues."""

import os
import shutil
import signal
import subprocess
import sys
from unittest.mock import patch

import psutil
import pytest

from hierlib.lab.job import make_job
from hierlib.lab.record import RunFolder, read_record
from hierlib.lab.runner import Settings, local, run
from hierlib.lab.store import store

SLOW = "import os, pathlib, time\nif 'SLOW' in os.environ:\n    pathlib.Path('asleep').touch()\n    time.sleep(60)"


@pytest.fixture
def asleep(ran, eventually):
    """A run with a page that was finished before and one that is asleep now."""
    ran.add_page("sleeps", SLOW)
    ran.environment["SLOW"] = "1"
    driver = ran.start("run", "--jobs", "1")
    eventually(lambda: list(ran.working.glob("*/*/asleep")), "the page is asleep")
    del ran.environment["SLOW"]
    return ran, driver


def chain(driver):
    """The warm process below a driver, the process of its page below that, and the kernel below that."""
    (warm,) = psutil.Process(driver.pid).children()
    (page,) = warm.children()
    (kernel,) = page.children()
    return warm, page, kernel


def test_ctrl_c_stops_the_page_and_the_next_run_continues(asleep):
    toy, driver = asleep
    assert len(chain(driver)) == 3
    driver.send_signal(signal.SIGINT)
    _, complaint = driver.communicate(timeout=20)
    assert driver.returncode == 130
    assert complaint == "interrupted; what was finished is kept, the same command continues\n"
    assert toy.processes() == [] and list(toy.working.iterdir()) == [] and toy.records("sleeps") == []
    assert "1 run, 1 up to date" in toy.hier("run").stdout


def test_a_killed_run_takes_its_kernels_along_and_the_next_run_sweeps_and_continues(asleep, eventually):
    toy, driver = asleep
    driver.kill()
    driver.communicate(timeout=20)
    eventually(lambda: not toy.processes(), "the page and its kernel are gone", seconds=10)
    assert toy.records("sleeps") == [] and len(list(toy.working.iterdir())) == 1
    assert "1 run, 1 up to date" in toy.hier("run").stdout
    assert list(toy.working.iterdir()) == [] and read_record(toy.records("sleeps")[0])


@pytest.mark.parametrize(
    "victim, sentence",
    [(0, "the process that runs pages ended"), (1, "the process that ran the page was killed by signal 9")],
    ids=["the warm process", "the process of the page"],
)
def test_a_killed_process_is_a_failure_of_its_page_and_everything_below_goes_too(asleep, eventually, victim, sentence):
    toy, driver = asleep
    chain(driver)[victim].kill()
    said, complaint = driver.communicate(timeout=30)
    assert driver.returncode == 1 and "1 up to date, 1 failed" in said
    assert complaint.startswith(f"failed: toy/sleeps: {sentence}")
    eventually(lambda: not toy.processes(), "the page and its kernel are gone", seconds=10)
    assert list(toy.working.iterdir()) == []


def test_a_page_that_takes_too_long_is_stopped_with_everything_it_started(ran):
    child = "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)\n"
    ran.add_page("sleeps", child + SLOW)
    ran.environment["SLOW"] = "1"
    done = ran.hier("run", "--timeout", "4")
    assert done.returncode == 1 and "1 up to date, 1 failed" in done.stdout
    assert done.stderr.startswith("failed: toy/sleeps: stopped after 4 s (--timeout)")
    assert ran.processes() == [] and list(ran.working.iterdir()) == []


def test_two_runs_at_once_leave_one_valid_record_per_page(toy):
    toy.add_page("cubes")
    runs = [toy.start("run", "--jobs", "1") for _ in range(2)]
    for driver in runs:
        said, complaint = driver.communicate(timeout=90)
        assert (driver.returncode, complaint) == (0, ""), said
    for page in ("squares", "cubes"):
        (record,) = toy.records(page)
        assert read_record(record) is not None
    assert list(toy.working.iterdir()) == []


def test_a_run_in_progress_is_not_swept_by_another(asleep):
    toy, driver = asleep
    assert toy.hier("run", "toy/squares").stdout == "1 up to date\n"
    assert psutil.pid_exists(driver.pid) and list(toy.working.glob("*/*/asleep"))
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=20)


def test_what_a_page_has_checkpointed_survives_a_failure_and_is_gone_after_success(ran):
    ran.add_page(
        "long",
        "import os, pathlib\n"
        "kept = pathlib.Path(os.environ['HIERLIB_CHECKPOINTS']) / 'state'\n"
        "if not kept.is_file():\n"
        "    kept.parent.mkdir(exist_ok=True)\n"
        "    kept.write_text('half')\n"
        "    raise RuntimeError('interrupted')",
    )
    assert ran.hier("run").returncode == 1
    (folder,) = (ran.root / "_build" / "checkpoints").iterdir()
    assert (folder / "state").read_text() == "half"
    assert "1 run, 1 up to date" in ran.hier("run").stdout, "the second run finds what the first one left"
    assert list(ran.working.iterdir()) == [] and not folder.exists()


DETACHED = {
    "a session of its own": "import subprocess\nsubprocess.Popen(['sleep', '613'], start_new_session=True)",
    "a double fork": (
        "import os\nif os.fork() == 0:\n    os.setsid()\n"
        "    if os.fork() == 0:\n        os.execvp('sleep', ['sleep', '613'])\n    os._exit(0)"
    ),
}


@pytest.mark.parametrize("code", DETACHED.values(), ids=DETACHED)
def test_what_a_page_leaves_running_is_stopped_even_if_it_detached_itself(toy, code):
    toy.add_page("forks", code)
    assert "1 run" in toy.hier("run", "toy/forks").stdout
    assert toy.processes() == []


def test_an_interrupted_runner_stops_what_it_started_and_nothing_else(toy):
    """As a library: the process that runs pages has other children, which are none of the runner's business."""
    toy.add_page("sleeps", SLOW)
    bystander = subprocess.Popen(["sleep", "600"])
    project, pages = toy.load()
    job = make_job(project, pages["toy/sleeps"], "quick", {})
    with patch.dict(os.environ, toy.environment | {"SLOW": "1"}):
        events = run(project, [job], local(1), Settings(timeout=60))
        assert next(events).status == "started"
        events.close()
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
    assert [process for process in toy.processes() if process.pid != os.getpid()] == []
    assert list(toy.working.iterdir()) == []


def test_a_kill_while_a_run_is_replaced_loses_nothing(ran, monkeypatch):
    project, _, job = ran.job()
    (path,) = ran.records()
    before = read_record(path)
    again = RunFolder(ran.working / "again")
    shutil.copytree(path.parent, again.path)
    os.replace(again.notebook_of(before), again.notebook)
    again.notebook.write_text("{}")
    after = again.seal(before)
    steps = []

    def replace(source, target, rename=os.replace):
        steps.append(read_record(path))  # what somebody finds who looks, or goes on, at this moment
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)
    store(project, job, again, replace=True)
    assert steps == [before, before] and read_record(path) == after
    assert sorted(file.name for file in path.parent.iterdir()) == [*after.files, "record.json"]


def test_the_folder_of_a_run_in_another_container_is_not_swept(ran):
    """The same host name and a process number that does not exist here: only the lock says that somebody works there."""
    foreign = ran.working / "0123456789ab"
    foreign.mkdir(parents=True)
    code = "import fcntl, sys, time\nlock = open(sys.argv[1], 'w')\nfcntl.flock(lock, fcntl.LOCK_EX)\n"
    code += "print(1, flush=True)\ntime.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", code, foreign / "lock"], stdout=subprocess.PIPE)
    other.stdout.readline()
    assert "1 run" in ran.hier("run", "--force").stdout and foreign.exists()
    other.kill()
    other.wait()
    assert "1 run" in ran.hier("run", "--force").stdout and not foreign.exists()
