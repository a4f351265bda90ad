"""CPU seconds that the code cells of pages take by themselves, at profile smoke; used by benchmarks/pages.py.

    python -P own_cells.py PROJECT PAGE ...        prints {"page": seconds, ...}

One process imports what pages import from elsewhere. For every page it makes a copy of itself, which runs the code cells
in a fresh namespace, with the parameters of the profile and nothing displayed, and counts what they cost. What is left out
is everything around a page: starting processes, importing packages, the kernel, drawing outputs, writing files.
"""

import importlib
import json
import os
import resource
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

import IPython.display
import jupytext
import matplotlib
import yaml

matplotlib.use("agg")
IPython.display.display = lambda *_, **__: None  # before hierlib takes it by name
WARM = "torch numpy matplotlib.pyplot scipy.integrate scipy.optimize scipy.special scipy.stats sklearn.datasets tqdm"
for module in WARM.split():
    importlib.import_module(module)


def cells(text: str) -> list[str]:
    """The code of a page, the parameters of profile smoke after the cell that declares them."""
    front = yaml.safe_load(text.split("---\n")[1])
    smoke = front.get("hier", {}).get("smoke", {})
    found = []
    for cell in jupytext.reads(text, fmt="md:myst").cells:
        if cell.cell_type == "code":
            found.append(cell.source)
            if "parameters" in cell.metadata.get("tags", []):
                found.append("\n".join(f"{name} = {value!r}" for name, value in smoke.items()))
    return found


def cpu_seconds() -> float:
    """Of all threads of this process, and of processes that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def run(page: str, code: list[str]) -> float:
    """Run the cells of a page in this process, silently, in an empty folder, and count what they cost."""
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    programs = [compile(source, f"{page}, cell {number}", "exec") for number, source in enumerate(code, 1)]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        start = cpu_seconds()
        for program in programs:
            exec(program, main.__dict__)
        spent = cpu_seconds() - start
        os.chdir("/")
    return spent


def in_a_copy(page: str, code: list[str]) -> float:
    """The same in a copy of this process, so that no page finds what another one has loaded."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        code_of_exit = 1
        try:
            os.write(writing, json.dumps(run(page, code)).encode())
            code_of_exit = 0
        except BaseException as error:
            print(f"{page}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(code_of_exit)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(1)
    return float(json.loads(said))


def main(project: Path, pages: list[str]) -> None:
    spent: dict[str, Any] = {}
    for page in pages:
        spent[page] = in_a_copy(page, cells((project / "notebooks" / f"{page}.md").read_text()))
    print(json.dumps(spent))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
