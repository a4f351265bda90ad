"""Run pages on a Dask cluster. A job travels with its text, its result travels back: workers share no disk.

Dask runs a page again elsewhere when the worker that had it dies. A worker whose code or packages differ from the
driver's is refused. A page that nobody waits for any more (the driver was interrupted or killed, the scheduler is gone)
is stopped where it runs.

Whoever reaches the port of a Dask scheduler runs code as the user who started it, and the driver unpickles what comes
back: use a network you trust, or TLS (`tls://` addresses; certificates from Dask's own configuration).
"""

import asyncio
import logging
import tempfile
import uuid
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from hierlib.lab.imports import package_digest
from hierlib.lab.job import COMPUTE, DRAW, PACKAGE, Job, numbers_key
from hierlib.lab.process import Attempt, Outcome, Slot
from hierlib.lab.project import Project, UserError
from hierlib.lab.record import RunFolder
from hierlib.lab.runner import Backend, Event, Settings, commit_of, store_or_report

PATIENCE = 10  # seconds that a first worker may take to appear
Files = dict[str, bytes]


class Setup(NamedTuple):
    """What must be the same on the driver and on a worker: all code of the package, and the packages that compute."""

    code: str
    packages: dict[str, str]

    def differs_from(self, other: "Setup") -> str:
        """What is not the same, for a sentence; empty when nothing is."""
        names = [f"{name} {self.packages[name]} instead of {other.packages.get(name)}"
                 for name in self.packages if self.packages[name] != other.packages.get(name)]  # fmt: skip
        return ", ".join((["another hierlib than the driver"] if self.code != other.code else []) + names)


def setup_here() -> Setup:
    return Setup(package_digest(PACKAGE), {name: _version(name) for name in COMPUTE + DRAW})


def _version(name: str) -> str:
    try:
        return version(name).partition("+")[0]  # the local part names the build, for a CPU or a GPU
    except PackageNotFoundError:
        return "none"


def cluster(address: str) -> Backend:
    """A backend that sends pages to the scheduler at `address`."""
    client = connect(address)

    def backend(project: Project, working: Path, jobs: list[Job], settings: Settings) -> Iterator[Event]:
        from distributed import as_completed

        commit, setup = commit_of(project), setup_here()
        waiting = {
            client.submit(
                remote, job, numbers_key(project, job), settings.timeout, commit, setup,
                pure=False, key=f"{job.page}-{job.key}-{uuid.uuid4().hex[:8]}",
            ): job
            for job in jobs
        }  # fmt: skip
        try:
            for job in jobs:
                yield Event(job, "started")
            for future in as_completed(list(waiting), loop=client.loop):
                job = waiting.pop(future)
                yield Event(job, *receive(project, working, job, future, settings.force))
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
    except TypeError:
        hint = "Dask's configuration names no certificates (distributed.comm.tls)"
        raise UserError(f"{address} wants an encrypted connection, but {hint}") from None
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
    from distributed.security import Security

    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        return await server.identity()


def remote(job: Job, key: str, timeout: float, commit: str, driver: Setup) -> tuple[Outcome, Files]:
    """On the worker: run one page in a temporary folder and return every file it left."""
    job, driver = Job(*job), Setup(*driver)
    if difference := setup_here().differs_from(driver):
        return Outcome("failed", f"{job.page}: refused by a worker that has {difference}", 0.0), {}
    slot = Slot(threads=1, warm=False)
    with tempfile.TemporaryDirectory() as folder:
        run, checkpoints = RunFolder(Path(folder) / "run"), Path(folder) / "checkpoints"
        try:
            outcome = slot.run(Attempt(job, run, checkpoints, key, commit, timeout), unwanted())
        finally:
            slot.close()
        return outcome, {path.name: path.read_bytes() for path in run.path.glob("*") if path.is_file()}


def unwanted() -> Any:
    """On the worker: a function that says whether the task that calls this has been cancelled, or its scheduler is gone."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:  # called by hand, outside a worker
        return lambda: False
    task = worker.get_current_task()

    def gone() -> bool:
        state = worker.state.tasks.get(task)
        return state is None or state.state == "cancelled" or worker.status.name in ("closing", "closed")

    return gone


def receive(project: Project, working: Path, job: Job, future: Any, force: bool) -> Outcome:
    """On the driver: lay the files of a finished page down and store them like those of a local run."""
    from distributed import KilledWorker

    if future.status != "finished":
        error = future.exception() if future.status == "error" else "the scheduler is gone; what was finished is kept"
        reason = "every worker that took it died (out of memory?)" if isinstance(error, KilledWorker) else error
        return Outcome("failed", f"{job.page}: {reason}", 0.0)
    outcome, files = future.result()
    folder = RunFolder(working / uuid.uuid4().hex[:8])
    folder.path.mkdir()
    for name, content in files.items():
        (folder.path / Path(name).name).write_bytes(content)
    return store_or_report(project, job, folder, Outcome(*outcome), force)
