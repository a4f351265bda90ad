"""What the runner costs: pages that are up to date, two pages at once, and one page against papermill alone."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.command import hier, tools
from benchmarks.timing import Result, estimate, in_turns

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


def measure(project: Path) -> Iterator[Result]:
    print("          bringing the book of the tree up to date: minutes when its pages were not run before", flush=True)
    hier(project, "run")
    idle = estimate(row[0] for row in in_turns(lambda: hier(project, "run")))
    name = "hier run of the whole book, nothing changed"
    yield Result(name, f"{idle.median:.2f} s", "under 2 s", idle.median < 2, idle.error)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        toy_project(folder, rounds=60)
        rows = in_turns(
            lambda: hier(project, "run", "--force", "--jobs", "1", folder=folder),
            lambda: hier(project, "run", "--force", "--jobs", "2", folder=folder),
            turns=7,
        )
        share = estimate(two / one for one, two in rows)
        shown = f"{share.median:.2f} of one after the other"
        yield Result("two pages at once", shown, "at most 0.6", share.median <= 0.6, share.error)
        yield against_papermill(project, folder)


def against_papermill(project: Path, folder: Path) -> Result:
    """One busy page by `hier run` and by papermill alone, from the same notebook."""
    scripts, notebook = Path(sys.executable).parent, folder / "a.ipynb"
    convert = [scripts / "jupytext", "--to", "ipynb", "-o", notebook, folder / "notebooks/toy/a.md"]
    subprocess.run(convert, check=True, capture_output=True)
    papermill = [scripts / "papermill", "--no-progress-bar", notebook, folder / "out.ipynb"]
    rows = in_turns(
        lambda: subprocess.run(papermill, check=True, capture_output=True, env=tools(project)),
        lambda: hier(project, "run", "toy/a", "--force", "--jobs", "1", folder=folder),
        turns=7,
    )
    ratio, alone = estimate(ours / alone for alone, ours in rows), estimate(alone for alone, _ in rows)
    shown = f"{ratio.median - 1:+.1%} (on {alone.median:.1f} s)"
    return Result("one busy page against papermill alone", shown, "at most +10 %", ratio.median <= 1.10, ratio.error)
