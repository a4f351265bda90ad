"""Run one page in a process of its own: `python -m hierlib.lab.execute FOLDER PARENT` with a job in FOLDER/job.json.

papermill runs the text notebook with every parameter injected. On success the folder holds the executed notebook and
a sealed record; on failure it holds the partial notebook and `failure.json` with cell and error. The same module is
used by the runner on this machine and by the workers of a cluster.
"""

import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from hierlib.data.catalogue import DataError, damaged
from hierlib.lab.job import Job

MEGABYTE_UNITS = 1024 if sys.platform != "darwin" else 1024 * 1024  # ru_maxrss counts KiB on Linux, bytes on macOS


class Outcome(NamedTuple):
    """How a run ended: `done`, or with one sentence `failed`, or `unavailable` when its data cannot be had."""

    status: str
    message: str
    seconds: float


def run_isolated(job: Job, folder: Path, threads: int, timeout: float, commit: str) -> Outcome:
    """Run a job in a fresh process with its output in `folder`, and stop it and its kernel when time is up."""
    try:
        for name in filter(damaged, job.data):
            fetch_quietly(name)
        return _run_isolated(job, folder, threads, timeout, commit)
    except DataError as error:
        return Outcome("unavailable", f"{job.page}: skipped: {error}", 0.0)
    except OSError as error:  # most likely a full disk
        return Outcome("failed", f"{job.page}: {error.strerror or error}", 0.0)


def fetch_quietly(name: str) -> None:
    from hierlib.data.fetch import fetch

    fetch(name, say=lambda line: None)


def _run_isolated(job: Job, folder: Path, threads: int, timeout: float, commit: str) -> Outcome:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps(job._asdict() | {"commit": commit, "threads": threads}))
    count = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    # Keep freed memory: giving it back and asking for it again costs a grid of small networks a fifth of its time.
    keep = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000"}
    checkpoints = folder.parent / f"checkpoints.{job.key}"  # survives an interruption; the same job goes on from it
    quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1", "JUPYTER_PLATFORM_DIRS": "1", "TQDM_DISABLE": "1"}
    started = time.monotonic()
    with (folder / "stderr.txt").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "hierlib.lab.execute", str(folder), str(os.getpid())],
            env=os.environ | count | keep | quiet | {"HIERLIB_CHECKPOINTS": str(checkpoints)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,  # Ctrl-C reaches the driver, which decides; not every kernel at once
        )
    try:
        process.wait(timeout)
        message = _failure(job.page, folder, process.returncode)
    except subprocess.TimeoutExpired:
        message = f"{job.page}: stopped after {timeout:.0f} s (--timeout)"
    finally:
        if process.poll() is None:
            stop(process.pid)
            process.wait()
    if not message:
        shutil.rmtree(checkpoints, ignore_errors=True)
    return Outcome("failed" if message else "done", message, time.monotonic() - started)


def stop(pid: int) -> None:
    """Kill a process and everything below it: a kernel sits in a session of its own."""
    try:
        family = [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]
    except psutil.NoSuchProcess:
        return
    for member in family:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            pass


def _failure(page: str, folder: Path, code: int) -> str:
    """Empty when the run ended well."""
    if code == 0 and (folder / "record.json").is_file():
        return ""
    try:
        return str(json.loads((folder / "failure.json").read_text())["message"])
    except (OSError, ValueError):  # it had no chance to say why
        pass
    last = (folder / "stderr.txt").read_text(errors="replace").strip().splitlines()[-1:]
    ended = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
    return f"{page}: the process that ran the page {ended}{': ' + last[0] if last else ''}"


def main(folder: Path) -> int:
    """The body of the process: run, then seal the record or describe the failure."""
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError

    from hierlib.lab.record import seal

    logging.getLogger("papermill").setLevel(logging.ERROR)
    settled = json.loads((folder / "job.json").read_text())
    run = {name: settled[name] for name in ("page", "profile", "parameters", "claims")} | {"folder": str(folder)}
    os.environ["HIERLIB_RUN"] = json.dumps(run)
    notebook = nbformat.reads(settled["notebook"], as_version=4)
    started, clock = datetime.now(UTC), time.monotonic()
    try:
        papermill.execute_notebook(
            notebook,
            str(folder / "executed.ipynb"),
            parameters=settled["parameters"],
            cwd=str(folder),
            kernel_name="python3",
            progress_bar=False,
            start_timeout=120,
        )
        seal(folder, _record(folder, settled, started, time.monotonic() - clock))
    except papermill.PapermillExecutionError as error:
        # papermill counts from zero and has put its cell of parameters in front: this is the count in the text.
        number = sum(cell.cell_type == "code" for cell in notebook.cells[: error.cell_index])
        return _fail(folder, f"{settled['page']}, code cell {number}: {error.ename}: {error.evalue}")
    except DeadKernelError:
        return _fail(folder, f"{settled['page']}: the kernel died (out of memory, or killed from outside)")
    except _Incomplete as error:
        return _fail(folder, f"{settled['page']}: {error}")
    except OSError as error:
        return _fail(folder, f"{settled['page']}: {error.strerror or error}")
    return 0


class _Incomplete(Exception):
    """The page ran, but did not do what a page must do."""


def _record(folder: Path, settled: dict[str, Any], started: datetime, seconds: float) -> dict[str, Any]:
    if not (folder / "claim.json").is_file():
        raise _Incomplete("the page never called claim.close()")
    found = json.loads((folder / "claim.json").read_text())
    if undeclared := sorted(set(found.pop("loaded")) - set(settled["data"])):
        raise _Incomplete(f"it loads {', '.join(undeclared)}, which its front matter does not list under data")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / MEGABYTE_UNITS
    kept = ("page", "profile", "standard", "parameters", "data", "claims", "key", "modules", "commit", "threads")
    return {name: settled[name] for name in kept} | found | {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "peak_mb": round(peak),
    }  # fmt: skip


def _fail(folder: Path, message: str) -> int:
    (folder / "failure.json").write_text(json.dumps({"message": " ".join(message.split())}))
    return 1


def _die_with(parent: int) -> None:
    """When the driver or the cluster worker is gone, this process goes too; its kernel watches it in turn."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        stop(os.getpid())

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _die_with(int(sys.argv[2]))
    sys.exit(main(Path(sys.argv[1]).resolve()))
