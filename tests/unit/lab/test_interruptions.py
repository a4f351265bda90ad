"""Runs that are interrupted, killed or raced: nothing half-done is visible or keeps running, the next run continues."""

import signal

import psutil
import pytest

from hierlib.lab.record import read_record

SLOW = "import os, pathlib, time\nif 'SLOW' in os.environ:\n    pathlib.Path('asleep').touch()\n    time.sleep(60)"


@pytest.fixture
def asleep(ran, eventually):
    """A run with a page that was finished before and one that is asleep now."""
    ran.add_page("sleeps", SLOW)
    ran.environment["SLOW"] = "1"
    run = ran.start("run", "--jobs", "1")
    eventually(lambda: list(ran.working.glob("*/asleep")), "the page is asleep")
    del ran.environment["SLOW"]
    return ran, run


def kernels(toy):
    return [process for process in toy.processes() if "ipykernel_launcher" in process.cmdline()]


def test_ctrl_c_stops_the_page_and_the_next_run_continues(asleep):
    toy, run = asleep
    assert kernels(toy)
    run.send_signal(signal.SIGINT)
    _, complaint = run.communicate(timeout=20)
    assert run.returncode == 130
    assert complaint == "interrupted; what was finished is kept, the same command continues\n"
    assert toy.processes() == [] and list(toy.working.iterdir()) == [] and toy.records("sleeps") == []
    assert "1 run, 1 up to date" in toy.hier("run").stdout


def test_a_killed_run_takes_its_kernels_along_and_the_next_run_sweeps_and_continues(asleep, eventually):
    toy, run = asleep
    run.kill()
    run.communicate(timeout=20)
    eventually(lambda: not toy.processes(), "the page and its kernel are gone", seconds=10)
    assert toy.records("sleeps") == [] and len(list(toy.working.iterdir())) == 1
    assert "1 run, 1 up to date" in toy.hier("run").stdout
    assert list(toy.working.iterdir()) == [] and read_record(toy.records("sleeps")[0])


def test_a_killed_page_process_is_a_failure_and_its_kernel_goes_too(asleep, eventually):
    toy, run = asleep
    (page,) = [process for process in toy.processes() if "hierlib.lab.execute" in process.cmdline()]
    page.kill()
    said, complaint = run.communicate(timeout=20)
    assert run.returncode == 1 and "1 up to date, 1 failed" in said
    assert complaint.startswith("failed: toy/sleeps: the process that ran the page was killed by signal 9")
    eventually(lambda: not toy.processes(), "the kernel is gone", seconds=10)
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
    for run in runs:
        said, complaint = run.communicate(timeout=90)
        assert (run.returncode, complaint) == (0, ""), said
    for page in ("squares", "cubes"):
        (record,) = toy.records(page)
        assert read_record(record) is not None
    assert list(toy.working.iterdir()) == []


def test_a_run_in_progress_is_not_swept_by_another(asleep):
    toy, run = asleep
    assert toy.hier("run", "toy/squares").stdout == "1 up to date\n"
    assert psutil.pid_exists(run.pid) and list(toy.working.glob("*/asleep"))
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)


def test_what_a_page_has_checkpointed_survives_a_failure_and_is_gone_after_success(ran):
    ran.add_page(
        "long",
        "import os, pathlib\n"
        "kept = pathlib.Path(os.environ['HIERLIB_CHECKPOINTS']) / 'state'\n"
        "if not kept.is_file():\n"
        "    kept.parent.mkdir()\n"
        "    kept.write_text('half')\n"
        "    raise RuntimeError('interrupted')",
    )
    assert ran.hier("run").returncode == 1
    (folder,) = ran.working.iterdir()
    assert (folder / "state").read_text() == "half"
    assert "1 run, 1 up to date" in ran.hier("run").stdout, "the second run finds what the first one left"
    assert list(ran.working.iterdir()) == []
