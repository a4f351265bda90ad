"""Run pages on a Dask cluster. A job travels with its notebook, its result travels back: workers share no disk.

Dask runs a page again elsewhere when the worker that had it dies.
"""

import asyncio
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from hierlib.lab.execute import Outcome, run_isolated
from hierlib.lab.job import Job
from hierlib.lab.page import module_digest
from hierlib.lab.project import Project, UserError
from hierlib.lab.runner import Backend, commit_of, settle, working_folder

PATIENCE = 10  # seconds that a first worker may take to appear


def cluster(address: str) -> Backend:
    """A backend that sends pages to the scheduler at `address`."""
    client = connect(address)

    def backend(project: Project, jobs: list[Job], timeout: float, force: bool) -> Iterator[tuple[Job, Outcome | None]]:
        from distributed import as_completed

        commit = commit_of(project)
        waiting = {client.submit(remote, job, timeout, commit, pure=False, key=f"{job.page}-{job.key}"): job for job in jobs}
        try:
            for job in jobs:
                yield job, None
            for future in as_completed(list(waiting), loop=client.loop):
                job = waiting.pop(future)
                yield job, receive(project, job, future, force)
        finally:
            client.cancel(list(waiting))
            client.close()

    return backend


def connect(address: str) -> Any:
    """A client of the scheduler, or a sentence when nothing answers there or nobody works for it."""
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # what goes wrong is said in our own words
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Asked first: a Client waits forever for a server that is no scheduler, and leaves a traceback for a wrong address.
        asyncio.run(asyncio.wait_for(identity(address), timeout=5))
        client = Client(address, timeout=5, set_as_default=False)
    except (OSError, TimeoutError, ValueError):
        hint = "start one with `dask scheduler` and `dask worker ADDRESS --nthreads 1`"
        raise UserError(f"no Dask scheduler answers at {address}; {hint}") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        hint = f"start one with `dask worker {address} --nthreads 1`"
        raise UserError(f"the Dask scheduler at {address} has no workers; {hint}") from None
    return client


async def identity(address: str) -> Any:
    """What the server at `address` says it is."""
    from distributed import rpc

    async with rpc(address) as server:
        return await server.identity()


def remote(job: Job, timeout: float, commit: str) -> tuple[Outcome, dict[str, bytes]]:
    """On the worker: run one page in a temporary folder and return every file it left."""
    job = Job(*job)
    notebook = nbformat.reads(job.notebook, as_version=4)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    if module_digest(code) != job.modules:
        return Outcome("failed", f"{job.page}: the worker has another version of hierlib than the driver", 0.0), {}
    with tempfile.TemporaryDirectory() as folder:
        outcome = run_isolated(job, Path(folder), threads=1, timeout=timeout, commit=commit)
        files = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    return outcome, files


def receive(project: Project, job: Job, future: Any, force: bool) -> Outcome:
    """On the driver: lay the files of a finished page down and store them like those of a local run."""
    from distributed import KilledWorker

    if future.status != "finished":
        error = future.exception() if future.status == "error" else "the scheduler is gone; what was finished is kept"
        reason = "every worker that took it died (out of memory?)" if isinstance(error, KilledWorker) else error
        return Outcome("failed", f"{job.page}: {reason}", 0.0)
    outcome, files = future.result()
    folder = working_folder(project)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return settle(project, job, folder, Outcome(*outcome), force)
