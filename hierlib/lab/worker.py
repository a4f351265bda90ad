"""The child half of a page's process: `python -m hierlib.lab.worker`, a process that forks one process per page.

When several pages are to come it imports once what nearly every page imports (seconds of CPU). Then it reads from its
standard input one folder per line, each with a job. For each it forks: the child runs the page with papermill, in a kernel
that is forked before anything else happens, and leaves the executed notebook and a sealed record in the folder. The parent
never imports `hierlib`'s mathematics, draws nothing and runs no page itself, so every page starts from the same clean state,
in a process and a kernel of its own. For each page it answers one line of JSON: the exit code and, after a failure, one
sentence. It stops everything below it when a page is done, and itself too when its own parent is gone.

Fork after import is safe here because importing starts no thread that computes; where it may not be (macOS), nothing is
imported before the fork, and a page costs what it costs.
"""

import ctypes
import importlib
import json
import logging
import multiprocessing
import os
import resource
import select
import signal
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from hierlib.lab.record import Finding, Record, RunFolder

LINUX = sys.platform == "linux"
WARM = [
    *("torch", "torch.func", "scipy.stats", "scipy.special", "scipy.optimize", "scipy.integrate", "PIL.PngImagePlugin"),
    *("matplotlib.figure", "matplotlib.backends.backend_agg", "IPython.core.interactiveshell"),
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "jupyter_client.manager"),
    *("papermill", "nbclient", "nbformat", "jupytext"),
]
MEGABYTE_UNITS = 1024 if sys.platform != "darwin" else 1024 * 1024  # ru_maxrss counts KiB on Linux, bytes on macOS
SUBREAPER = 36  # Linux: orphans below this process become its children, however they detached themselves


class PageFailed(Exception):
    """One sentence that says why a page has no result."""


def serve(warm: bool) -> None:
    """Run the pages whose folders come in, one after the other, until there is nobody to send more.

    `warm`: there will be several, so what most of them import is imported here, once. A single page imports what it needs.
    """
    if LINUX:
        ctypes.CDLL(None).prctl(SUBREAPER, 1)
    if LINUX and warm:
        for name in WARM:
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 1)  # what a page prints is no answer
    requests = os.fdopen(0, "rb", buffering=0)
    while folder := requests.readline():
        code, message = attend(Path(os.fsdecode(folder[:-1])), requests)
        answers.write(json.dumps({"code": code, "message": message}) + "\n")


def attend(folder: Path, requests: Any) -> tuple[int, str]:
    """Fork a process for one page and wait for its end, or for the end of those who asked for it."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        os._exit(page_process(folder, tell))
    os.close(tell)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if select.select([requests], [], [], 0.05)[0] and not requests.read(1):
            stop_below(os.getpid())
            sys.exit(1)
    stop_below(os.getpid())  # what the page left running, even if it detached itself
    with os.fdopen(told, "rb") as pipe:
        message = pipe.read().decode(errors="replace")
    return os.waitstatus_to_exitcode(status), message


def page_process(folder: Path, tell: int) -> int:
    """The body of a page's process: everything it needs to say about a failure goes through the pipe `tell`."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(RunFolder(folder).errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    try:
        run_page(RunFolder(folder))
    except PageFailed as error:
        message = str(error)
    except OSError as error:  # most likely a full disk
        message = error.strerror or str(error)
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
    else:
        return 0
    os.write(tell, " ".join(message.split()).encode()[:4000])
    return 1


def run_page(folder: RunFolder) -> None:
    """Run the job in the folder, then seal the record or raise what went wrong."""
    job = json.loads(folder.job.read_text())
    kernel = Kernel()  # before anything that starts a thread
    threading.Thread(target=die_with, args=(os.getppid(),), daemon=True).start()
    import jupytext
    import papermill
    from nbclient.exceptions import DeadKernelError

    logging.getLogger("papermill").setLevel(logging.ERROR)
    run = {name: job[name] for name in ("page", "profile", "parameters")}
    os.environ["HIERLIB_RUN"] = json.dumps(run | {"claims": list(job["claims"]), "folder": str(folder.path)})
    os.environ["HIERLIB_CHECKPOINTS"] = job["checkpoints"]
    notebook = jupytext.reads(job["text"], fmt="md:myst")
    if [cell.source.strip() for cell in notebook.cells if cell.cell_type == "code"] != [c.strip() for c in job["code"]]:
        raise PageFailed("jupytext and hier read different code cells in this page; write them as ```{code-cell} ipython3")
    started, clock = datetime.now(UTC), time.monotonic()
    try:
        papermill.execute_notebook(
            notebook,
            str(folder.notebook),
            parameters=job["parameters"],
            cwd=str(folder.path),
            kernel_name="python3",
            progress_bar=False,
            engine_name=engine(folder.notebook),
            request_save_on_cell_execute=False,  # once, at the end or at an error: twice per cell is a third of a second
            start_timeout=120,
            kernel_manager_class=kernel.manager(),
        )
    except papermill.PapermillExecutionError as error:
        # papermill counts from zero and has put its cell of parameters in front: this is the count in the text.
        number = sum(cell.cell_type == "code" for cell in notebook.cells[: error.cell_index])
        raise PageFailed(f"code cell {number}: {error.ename}: {error.evalue}") from None
    except DeadKernelError:
        raise PageFailed("the kernel died (out of memory, or killed from outside)") from None
    folder.seal(_record(folder, job, started, time.monotonic() - clock))


def engine(notebook: Path) -> str:
    """papermill's own engine, but what there is is also saved when the kernel dies; returns its name."""
    from nbclient.exceptions import DeadKernelError
    from papermill.engines import NBClientEngine, papermill_engines
    from papermill.iorw import write_ipynb

    class Engine(NBClientEngine):
        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> Any:
            try:
                return super().execute_managed_notebook(nb_man, kernel_name, **options)
            except DeadKernelError:
                write_ipynb(nb_man.nb, str(notebook))
                raise

    papermill_engines.register("hier", Engine)
    return "hier"


def _record(folder: RunFolder, job: dict[str, Any], started: datetime, seconds: float) -> Record:
    if not folder.finding.is_file():
        raise PageFailed("the page never called claim.close()")
    found = Finding.model_validate_json(folder.finding.read_bytes())
    if undeclared := sorted(set(found.loaded) - set(job["data"])):
        raise PageFailed(f"it loads {', '.join(undeclared)}, which its front matter does not list under data")
    kept = ("page", "profile", "standard", "parameters", "data", "key", "numbers_key", "commit", "threads")
    return Record(
        **{name: job[name] for name in kept},
        claims=list(job["claims"]),
        **found.model_dump(exclude={"loaded"}),
        started=started.isoformat(timespec="seconds"),
        seconds=round(seconds, 2),
        peak_mb=round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / MEGABYTE_UNITS),
        files={},
    )


class Kernel:
    """A kernel forked from this process, which waits until jupyter_client wants it; to it, this looks like a Popen."""

    stdin = stdout = stderr = None

    def __init__(self) -> None:
        hear, self.tell = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("fork").Process(target=self._body, args=(hear,))
        self.process.start()
        hear.close()

    def _body(self, hear: Any) -> None:
        self.tell.close()
        os.setsid()
        from ipykernel.kernelapp import IPKernelApp  # while the page's process reads the page

        try:
            words, folder, environment = hear.recv()
        except EOFError:  # the page's process is gone
            return
        os.chdir(folder)
        os.environ.update(environment)
        sys.argv = words
        app = IPKernelApp.instance()
        app.initialize(words[1:])
        app.start()

    def manager(self) -> type:
        """A kernel manager that takes this kernel instead of starting a new Python."""
        from jupyter_client.manager import AsyncKernelManager

        kernel = self

        class Manager(AsyncKernelManager):
            async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
                kernel.tell.send(
                    (kernel_cmd[kernel_cmd.index("-f") - 1 :], options.get("cwd") or os.getcwd(), options["env"])
                )
                provisioner: Any = self.provisioner
                provisioner.process, provisioner.pid, provisioner.pgid = kernel, kernel.pid, kernel.pid

        return Manager

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def stop_below(pid: int) -> None:
    """Kill everything below a process; what is started meanwhile too."""
    while family := [member for member in psutil.Process(pid).children(recursive=True) if _runs(member)]:
        for member in family:
            try:
                member.kill()
            except psutil.NoSuchProcess:
                pass
        psutil.wait_procs(family, timeout=0.1)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)  # it has ended, only its parent has not asked how
    except psutil.NoSuchProcess:
        return False


def die_with(parent: int) -> None:
    """When the process that forked this one is gone, this one goes too, with its kernel."""
    while os.getppid() == parent:
        time.sleep(0.5)
    stop_below(os.getpid())
    os._exit(1)


if __name__ == "__main__":
    serve(warm=sys.argv[1:] == ["warm"])
