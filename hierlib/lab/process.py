"""The driver half of a page's process: start it, wait for it, stop it with everything it started.

A `Slot` keeps one warm process (`hierlib.lab.worker`) and runs one page at a time in it, each in a fork of its own. The
runner on this machine and the workers of a cluster use it alike.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import psutil

from hierlib.data.catalogue import DataError, damaged
from hierlib.files import write_text
from hierlib.lab.job import Job
from hierlib.lab.record import RunFolder
from hierlib.lab.worker import stop_below

POLL = 0.2  # seconds between two looks at the clock and at whether anybody still wants the page


class Outcome(NamedTuple):
    """How a run ended; a sentence where it did not end well. `unavailable`: its data cannot be had."""

    status: Literal["done", "failed", "unavailable"]
    message: str
    seconds: float


class Attempt(NamedTuple):
    """One try at a job: where it runs and what the record is to say besides."""

    job: Job
    folder: RunFolder
    checkpoints: Path  # survives an interruption; the same job goes on from it
    numbers_key: str
    commit: str
    timeout: float


class Slot:
    """Room for one page at a time, with a given number of threads; `warm` pays when several pages will come."""

    def __init__(self, threads: int, warm: bool):
        self.threads = threads
        self.words = ["warm"] if warm else []
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, attempt: Attempt, cancelled: Callable[[], bool]) -> Outcome:
        """Run a page in its folder. When time is up or nobody wants it any more, stop it and all it started."""
        page, started = attempt.job.page, time.monotonic()
        try:
            _fetch(attempt.job.data)  # on the machine of a cluster; here the driver has seen to it
            attempt.folder.path.mkdir(parents=True, exist_ok=True)
            extra = {"commit": attempt.commit, "threads": self.threads, "numbers_key": attempt.numbers_key}
            order = attempt.job._asdict() | extra | {"checkpoints": str(attempt.checkpoints)}
            attempt.folder.job.write_text(json.dumps(order))
            _note_checkpoints(attempt)
            message = self._wait(attempt, cancelled)
        except DataError as error:
            return Outcome("unavailable", f"{page}: skipped: {error}", 0.0)
        except OSError as error:  # most likely a full disk
            message = error.strerror or str(error)
        seconds = time.monotonic() - started
        if message:
            _forget_empty(attempt.checkpoints)
            return Outcome("failed", f"{page}{',' if message.startswith('code cell') else ':'} {message}", seconds)
        shutil.rmtree(attempt.checkpoints, ignore_errors=True)
        return Outcome("done", "", seconds)

    def _wait(self, attempt: Attempt, cancelled: Callable[[], bool]) -> str:
        """The sentence of a failure; empty when the run ended well."""
        process = self._warm()
        assert process.stdin and process.stdout
        process.stdin.write(os.fsencode(attempt.folder.path) + b"\n")
        process.stdin.flush()
        deadline = time.monotonic() + attempt.timeout
        while not select.select([process.stdout], [], [], POLL)[0]:
            if time.monotonic() > deadline or cancelled():
                self.close()
                return "interrupted" if cancelled() else f"stopped after {attempt.timeout:.0f} s (--timeout)"
        answer = process.stdout.readline()
        if not answer:
            self.close()
            return f"the process that runs pages ended{_last_line(attempt.folder.errors)}"
        found = json.loads(answer)
        if found["code"] == 0 and attempt.folder.record.is_file():
            return ""
        code = found["code"]
        ended = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return found["message"] or f"the process that ran the page {ended}{_last_line(attempt.folder.errors)}"

    def _warm(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            count = {name: str(self.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
            # Keep freed memory: giving it back and asking for it again costs a grid of small networks a fifth of its time.
            keep = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000"}
            quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", "JUPYTER_PLATFORM_DIRS": "1", "TQDM_DISABLE": "1"}
            self.process = subprocess.Popen(
                [sys.executable, "-m", "hierlib.lab.worker", *self.words],
                env=os.environ | count | keep | quiet | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches the driver, which decides; not every kernel at once
            )
        return self.process

    def close(self) -> None:
        """Stop the warm process and everything below it; the next page starts another."""
        process, self.process = self.process, None
        if process is None:
            return
        try:
            psutil.Process(process.pid).suspend()  # it must not fork while its children are being stopped
            stop_below(process.pid)
        except psutil.NoSuchProcess:
            pass
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()


def _note_checkpoints(attempt: Attempt) -> None:
    """Say beside the checkpoints whose they are: `hier clean` asks whether anybody would go on from them."""
    order = {"page": attempt.job.page, "profile": attempt.job.profile, "parameters": attempt.job.parameters}
    write_text(RunFolder(attempt.checkpoints).job, json.dumps(order))


def _forget_empty(checkpoints: Path) -> None:
    """A page that saved nothing leaves no folder for checkpoints behind."""
    if [path.name for path in checkpoints.glob("*")] == [RunFolder(checkpoints).job.name]:
        shutil.rmtree(checkpoints, ignore_errors=True)


def _fetch(names: list[str]) -> None:
    for name in filter(damaged, names):
        from hierlib.data.fetch import fetch

        fetch(name, say=lambda line: None)


def _last_line(errors: Path) -> str:
    try:
        lines = errors.read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return f": {lines[-1]}" if lines else ""
