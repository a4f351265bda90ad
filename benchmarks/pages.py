"""What a page costs beyond its own computation: CPU seconds of `hier run`, less those of the code cells alone.

CPU and not wall time, of the driver and of all processes below it: on a machine with other work it is what changes least.
`python -m benchmarks pages --project TREE --pages PAGE ...` measures another tree, or some pages, in the same way.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.command import hier, tools
from benchmarks.timing import Result, estimate

TURNS = 3
PR_SET_CHILD_SUBREAPER = 36


def measure(project: Path, chosen: list[str]) -> Iterator[Result]:
    notebooks = project / "notebooks"
    pages = chosen or sorted(path.relative_to(notebooks).as_posix().removesuffix(".md") for path in notebooks.rglob("*.md"))
    if absent := [page for page in pages if not (notebooks / f"{page}.md").is_file()]:
        raise ValueError(f"no page {', '.join(absent)} in {project}")
    rows = [(of_the_run(project, pages), of_the_cells(project, pages)) for _ in range(1 + TURNS)][1:]
    beyond = estimate((whole - cells) / len(pages) for whole, cells in rows)
    whole, cells = (estimate(column).median / len(pages) for column in zip(*rows, strict=True))
    name = f"CPU seconds of a page beyond its own cells, mean of {len(pages)} pages at smoke"
    shown = f"{beyond.median:.2f} s ({whole:.2f} s in all, {cells:.2f} s its cells)"
    yield Result(name, shown, "at most 1.5 s", beyond.median <= 1.5, beyond.error)


def of_the_run(project: Path, pages: list[str]) -> float:
    """CPU seconds of one `hier run` of all pages, user and system, with everything it starts."""
    # Processes that outlive their parent come to us, so that they are counted too.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = children()
    hier(project, "run", *pages, "--profile", "smoke", "--force", "--jobs", "1")
    reap()
    return children() - before


def of_the_cells(project: Path, pages: list[str]) -> float:
    script = str(Path(__file__).with_name("own_cells.py"))
    command = [sys.executable, "-P", script, str(project), *pages]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=tools(project))
    return float(sum(json.loads(done.stdout).values()))


def children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def reap(patience: float = 5.0) -> None:
    """Wait for processes that the command left behind; one that stays longer would go uncounted, and is an error."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.05)
    raise RuntimeError(f"`hier run` left processes behind that still live {patience:.0f} s later")
