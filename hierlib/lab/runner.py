"""Run pages: skip what is up to date, run the rest in parallel, keep every success.

Each page runs in a process of its own, here or on a Dask cluster. A run that fails leaves the last good one in place;
an interrupted run leaves nothing behind, and the next one continues where it stopped.
"""

import json
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from hierlib.data.catalogue import damaged
from hierlib.files import write_text
from hierlib.lab.execute import Outcome, run_isolated, stop
from hierlib.lab.job import Job
from hierlib.lab.project import Project
from hierlib.lab.record import damage, run_folder, store, stored_record

Backend = Callable[[Project, list[Job], float, bool], Iterator[tuple[Job, Outcome | None]]]


class Event(NamedTuple):
    """What happened to one job: skipped, started, done, failed or unavailable, with a sentence where there is one."""

    job: Job
    kind: str
    message: str = ""
    seconds: float = 0.0


def run(project: Project, jobs: Iterable[Job], backend: Backend, timeout: float, force: bool = False) -> Iterator[Event]:
    """Bring every job up to date and report as it goes. Successes are stored at once."""
    sweep(project)
    due = []
    for job in jobs:
        if (broken := damage(project, job)) is not None:
            yield Event(job, "damaged", f"{project.relative(broken)} does not match its digest; running the page again")
        if not force and stored_record(project, job) is not None:
            yield Event(job, "skipped")
        else:
            due.append(job)
    with closing(backend(project, due, timeout, force)) as progress:  # type: ignore[type-var]
        for job, outcome in progress:
            yield Event(job, "started") if outcome is None else Event(job, *outcome)


def local(count: int) -> Backend:
    """A backend that runs `count` pages at a time on this machine and shares its cores among them."""

    def backend(project: Project, jobs: list[Job], timeout: float, force: bool) -> Iterator[tuple[Job, Outcome | None]]:
        threads = max(1, (os.cpu_count() or 1) // max(1, min(count, len(jobs))))
        commit, waiting = commit_of(project), list(jobs)
        running: dict[Future[Outcome], tuple[Job, Path]] = {}
        pool = ThreadPoolExecutor(count)
        try:
            for job, message in absent_data(jobs):
                yield job, Outcome("damaged", message, 0.0)
            while waiting or running:
                while waiting and len(running) < count:
                    job = waiting.pop(0)
                    folder = working_folder(project)
                    running[pool.submit(run_isolated, job, folder, threads, timeout, commit)] = (job, folder)
                    yield job, None
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job, folder = running.pop(future)
                    yield job, settle(project, job, folder, future.result(), force)
        finally:
            while not all(future.done() for future in running):  # one may be about to start its process
                for child in psutil.Process().children():
                    stop(child.pid)
                wait(running, timeout=0.1)
            pool.shutdown()
            for _, folder in running.values():
                shutil.rmtree(folder, ignore_errors=True)

    return backend


def absent_data(jobs: list[Job]) -> Iterator[tuple[Job, str]]:
    """Data sets that the jobs need and that will have to be fetched first, each with the files that are wrong."""
    first = {name: job for job in reversed(jobs) for name in job.data}
    for name, job in first.items():
        if files := damaged(name):
            yield job, f"data set {name}: {', '.join(files)} absent or damaged; fetching it"


def settle(project: Project, job: Job, folder: Path, outcome: Outcome, force: bool) -> Outcome:
    """Store a success; keep the partial notebook of a failure for inspection, and nothing else of it."""
    if outcome.status == "done":
        try:
            for name in ("job.json", "claim.json", "stderr.txt"):
                (folder / name).unlink(missing_ok=True)
            store(project, job, folder, replace=force)
            if job.standard and job.profile == "paper":
                keep(project, job)
            return outcome
        except OSError as error:
            outcome = Outcome("failed", f"{job.page}: {error.strerror or error}", outcome.seconds)
    partial, message = folder / "executed.ipynb", outcome.message
    try:
        json.loads(partial.read_bytes())
        target = project.failed / f"{job.page}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(partial, target)
        message += f" (partial notebook: {project.relative(target)})"
    except (OSError, ValueError):  # it was not reached, or the disk is full and it breaks off in the middle
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return outcome._replace(message=message)


def keep(project: Project, job: Job) -> None:
    """Records of full-size runs are worth committing: copy them out of the build folder."""
    text = (run_folder(project, job) / "record.json").read_text()
    write_text(project.kept / "paper" / f"{job.page}.json", text)


def working_folder(project: Project) -> Path:
    """A folder for one attempt; its name says which process of which machine owns it."""
    return project.runs / ".working" / f"{socket.gethostname()}.{os.getpid()}.{uuid.uuid4().hex[:8]}"


def sweep(project: Project) -> None:
    """Remove what processes of this machine that no longer exist left behind (kill -9, power cut)."""
    for folder in (project.runs / ".working").glob(f"{socket.gethostname()}.*.*"):
        if not psutil.pid_exists(int(folder.name.split(".")[-2])):
            shutil.rmtree(folder, ignore_errors=True)


def commit_of(project: Project) -> str:
    """The git commit the numbers belong to, with `+` when there are uncommitted changes; empty outside git."""
    answers: list[Any] = [
        subprocess.run(["git", *words], cwd=project.root, capture_output=True, text=True)
        for words in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
    ]
    return answers[0].stdout.strip() + ("+" if answers[1].stdout.strip() else "") if answers[0].returncode == 0 else ""
