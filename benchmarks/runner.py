"""What the runner costs: pages that are up to date, two pages at once, and one page against papermill alone."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result, seconds, side_by_side

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CLAIMS = """\
paper: toy
part: 1
title: Toy
authors: A. Body
year: 2000
arxiv: "0"
cite: toy
summary: two pages that keep one core busy
claims:
  - {id: a, kind: claim, place: here, says: a, priority: A, expected: holds, page: a}
  - {id: b, kind: claim, place: here, says: b, priority: A, expected: holds, page: b}
"""
PAGE = """\
---
jupytext: {{formats: "md:myst,ipynb"}}
kernelspec: {{name: python3, display_name: Python 3, language: python}}
---
# Is it busy?

```{{code-cell}} ipython3
:tags: [parameters]
seed: int = 0      # nothing is random here [0..]
rounds: int = {rounds}  # how long it is busy [1..]
```

```{{code-cell}} ipython3
import torch
from hierlib.lab.claim import Claim
claim, total = Claim("toy/{name}"), 0
for k in range(rounds * 1_000_000):        # one thread: what is measured is the runner, not the scaling of a product
    total += k % 3
claim.check("mean", total / (rounds * 1_000_000), within=(0.99, 1.01))
claim.control("zero", 0.0, breaks="mean")
claim.close()
```
"""


def toy_project(folder: Path, rounds: int) -> None:
    (folder / "book" / "claims").mkdir(parents=True)
    (folder / "book" / "claims" / "toy.yml").write_text(CLAIMS)
    (folder / "notebooks" / "toy").mkdir(parents=True)
    for name in "ab":
        (folder / "notebooks" / "toy" / f"{name}.md").write_text(PAGE.format(name=name, rounds=rounds))


def hier(folder: Path, *words: str) -> None:
    subprocess.run([BIN / "hier", *words], cwd=folder, check=True, capture_output=True)


def measure() -> Iterator[Result]:
    idle = min(seconds(lambda: hier(ROOT, "run")) for _ in range(2))  # the first call may have pages to run
    yield Result("hier run of the whole book, nothing changed", f"{idle:.2f} s", "under 2 s", idle < 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy_project(folder, rounds=80)
        one, two = side_by_side(
            lambda: hier(folder, "run", "--force", "--jobs", "1"),
            lambda: hier(folder, "run", "--force", "--jobs", "2"),
            rounds=2,
        )
        yield Result("two pages at once", f"{two / one:.2f} of one after the other", "at most 0.6", two <= 0.6 * one)
        notebook = folder / "a.ipynb"
        subprocess.run(
            [BIN / "jupytext", "--to", "ipynb", "-o", notebook, folder / "notebooks/toy/a.md"],
            check=True,
            capture_output=True,
        )
        papermill = [BIN / "papermill", "--no-progress-bar", notebook, folder / "out.ipynb"]
        alone, ours = side_by_side(
            lambda: subprocess.run(papermill, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "2"}),
            lambda: hier(folder, "run", "toy/a", "--force", "--jobs", "1"),
            rounds=2,
        )
        extra = ours / alone - 1
        yield Result(f"one page of {alone:.0f} s against papermill alone", f"{extra:+.1%}", "at most +10 %", extra <= 0.10)
        shutil.rmtree(folder / "_build")
