"""Run pages: skip what is up to date, run the rest in parallel, keep every success.

Each page runs in a process of its own, here or on a Dask cluster. A run that fails leaves the last good one in place;
an interrupted run leaves nothing behind, and the next one continues where it stopped.
"""

import fcntl
import json
import os
import queue
import shutil
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from hierlib.data.catalogue import DataError, damaged
from hierlib.files import write_text
from hierlib.lab import imports
from hierlib.lab.job import Job, numbers_key
from hierlib.lab.parameters import KEPT
from hierlib.lab.process import Attempt, Outcome, Slot
from hierlib.lab.project import Project
from hierlib.lab.record import RunFolder
from hierlib.lab.store import broken_run, run_folder, store, stored_record

Status = Literal["skipped", "damaged", "fetching", "started", "done", "failed", "unavailable"]


class Event(NamedTuple):
    """What happened to one job, with a sentence where there is one."""

    job: Job
    status: Status
    message: str = ""
    seconds: float = 0.0


class Settings(NamedTuple):
    """What holds for all jobs of one run. `force`: a run that is up to date is made again and replaced."""

    timeout: float
    force: bool = False


Backend = Callable[[Project, Path, list[Job], Settings], Iterator[Event]]


def run(project: Project, jobs: Iterable[Job], backend: Backend, settings: Settings) -> Iterator[Event]:
    """Bring every job up to date and report as it goes. Successes are stored at once."""
    imports.keep(project.meanings)
    due = []
    for job in jobs:
        if not settings.force and stored_record(project, job) is not None:
            yield Event(job, "skipped")
            continue
        if (broken := broken_run(project, job)) is not None:
            yield Event(job, "damaged", f"{project.relative(broken)} does not match its digest; running the page again")
        due.append(job)
    if due:
        with working_folder(project) as working, closing(backend(project, working, due, settings)) as events:  # type: ignore[type-var]
            yield from events


def pages_at_once(device: str, asked: int | None) -> int:
    """One page per core, but one at a time on a GPU, where two kernels would fight for the memory of one card."""
    return asked or (1 if device == "cuda" else os.cpu_count() or 1)


def threads_of_a_page(at_once: int) -> int:
    """An even share of the cores, or what OMP_NUM_THREADS says: on a busy machine threads that wait for each other crawl."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else max(1, (os.cpu_count() or 1) // at_once)


def local(count: int) -> Backend:
    """A backend that runs `count` pages at a time on this machine and shares its cores among them."""

    def backend(project: Project, working: Path, jobs: list[Job], settings: Settings) -> Iterator[Event]:
        yield from absent_data(jobs)
        unavailable = fetch_data(jobs)
        waiting = [job for job in jobs if not unavailable.keys() & set(job.data)]
        for job in jobs:
            if reasons := [unavailable[name] for name in job.data if name in unavailable]:
                yield Event(job, "unavailable", f"{job.page}: skipped: {reasons[0]}")
        if not waiting:
            return
        at_once = min(count, len(waiting))
        threads = threads_of_a_page(at_once)
        slots: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for _ in range(at_once):
            slots.put(Slot(threads, warm=len(waiting) > at_once))
        stopped, commit = threading.Event(), commit_of(project)
        running: dict[Future[Outcome], tuple[Job, RunFolder]] = {}

        def attempt(job: Job, folder: RunFolder) -> Outcome:
            slot = slots.get()
            try:
                checkpoints = project.checkpoints / job.key
                key = numbers_key(project, job)
                return slot.run(Attempt(job, folder, checkpoints, key, commit, settings.timeout), stopped.is_set)
            finally:
                slots.put(slot)

        pool = ThreadPoolExecutor(at_once)
        try:
            while waiting or running:
                while waiting and len(running) < at_once:
                    job, folder = waiting.pop(0), RunFolder(working / uuid.uuid4().hex[:8])
                    running[pool.submit(attempt, job, folder)] = job, folder
                    yield Event(job, "started")
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job, folder = running.pop(future)
                    yield Event(job, *store_or_report(project, job, folder, future.result(), settings.force))
        finally:
            stopped.set()
            pool.shutdown()  # each slot stops its own page
            for _ in range(at_once):
                slots.get().close()

    return backend


def absent_data(jobs: list[Job]) -> Iterator[Event]:
    """Data sets that the jobs need and that will have to be fetched first, each with the files that are wrong."""
    first = {name: job for job in reversed(jobs) for name in job.data}
    for name, job in first.items():
        if files := damaged(name):
            yield Event(job, "fetching", f"data set {name}: {', '.join(files)} absent or damaged; fetching it")


def fetch_data(jobs: list[Job]) -> dict[str, str]:
    """Fetch what the jobs need and is not there, each set once; returns the sentence of every set that cannot be had."""
    from hierlib.data.fetch import fetch  # brings numpy along, which `hier` does without when nothing is to be run

    unavailable = {}
    for name in dict.fromkeys(name for job in jobs for name in job.data if damaged(name)):
        try:
            fetch(name, say=lambda line: None)
        except DataError as error:
            unavailable[name] = str(error)
    return unavailable


def store_or_report(project: Project, job: Job, folder: RunFolder, outcome: Outcome, force: bool) -> Outcome:
    """Store a success; keep the partial notebook of a failure for inspection, and nothing else of it."""
    if outcome.status == "done":
        try:
            folder.clear()
            store(project, job, folder, replace=force)
            if job.standard and job.profile in KEPT:
                keep_record(project, job)
            return outcome
        except OSError as error:
            outcome = Outcome("failed", f"{job.page}: {error.strerror or error}", outcome.seconds)
    message = outcome.message
    try:
        json.loads(folder.notebook.read_bytes())
        target = project.failed / f"{job.page}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(folder.notebook, target)
        message += f" (partial notebook: {project.relative(target)})"
    except (OSError, ValueError):  # it was not reached, or the disk is full and it breaks off in the middle
        pass
    shutil.rmtree(folder.path, ignore_errors=True)
    return outcome._replace(message=message)


def keep_record(project: Project, job: Job) -> None:
    """Records of full-size runs are worth committing: copy them out of the build folder."""
    write_text(project.kept / job.profile / f"{job.page}.json", run_folder(project, job).record.read_text())


@contextmanager
def working_folder(project: Project) -> Iterator[Path]:
    """A folder for the attempts of one driver, which others recognise as in use by the lock on a file in it.

    The system gives the lock back when its process ends, however it ends, on whatever machine or in whatever container:
    that is how the next run knows what was abandoned (kill -9, power cut), and removes it.
    """
    parent = project.runs / ".working"
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    new = parent / f".{uuid.uuid4().hex[:12]}"
    new.mkdir()
    folder = parent / new.name[1:]
    with (new / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(new, folder)  # it is locked before anybody can see it
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob("[0-9a-f]*"):
        try:
            with (folder / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass  # somebody works there
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)  # not one of ours, or half removed


def commit_of(project: Project) -> str:
    """The git commit the numbers belong to, with `+` when there are uncommitted changes; empty outside git."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *words], cwd=project.root, capture_output=True, text=True)

    try:
        head = git("rev-parse", "--short=12", "HEAD")
    except FileNotFoundError:  # no git on this machine
        return ""
    changed = git("status", "--porcelain", "--untracked-files=no").stdout.strip()
    return head.stdout.strip() + ("+" if changed else "") if head.returncode == 0 else ""
