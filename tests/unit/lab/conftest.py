"""A tiny project to run `hier` in, as a user would: one registered paper, one page that needs no torch."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil
import pytest

from hierlib.lab.cli import main
from hierlib.lab.job import Job, make_job
from hierlib.lab.page import Page
from hierlib.lab.project import Project
from hierlib.lab.record import Record
from hierlib.lab.selection import load
from hierlib.lab.store import run_folder

HIER = str(Path(sys.executable).parent / "hier")

REGISTRY = """\
slug: toy
part: 1
title: A toy paper
authors: Ada Author, Ben Author
year: 2020
arxiv: "2000.00000"
cite: author2020
summary: Squares and their sums.
claims:
  - id: thm1
    kind: theorem
    place: Theorem 1
    says: Squares are not negative.
    priority: A
    expected: holds
    page: squares
  - id: fig2
    kind: figure
    place: Figure 2
    says: Nobody has tested this yet.
    priority: C
"""

ENTRY = """\
  - id: {name}
    kind: lemma
    place: Lemma
    says: A page of its own.
    priority: B
    expected: holds
    page: {name}
"""

PAGE = """\
---
jupytext: {{formats: "md:myst,ipynb"}}
kernelspec: {{name: python3, display_name: Python 3, language: python}}
hier:
  smoke: {{n: 2}}
  paper: {{n: 50}}
  answer: Yes.
  surprise: The seed hardly matters.
---
# A page about {name}

```{{code-cell}} ipython3
:tags: [parameters]
seed: int = 0                 # every random draw follows from it [0..]
n: int = 10                   # how many numbers [1..100]
scale: float = 1.0            # their size [0..2.5]
widths: list = [4, 8]         # two sizes [1..64]
rule: str = "sum"             # what is done with them [sum|mean]
```

```{{code-cell}} ipython3
from hierlib.lab.claim import Claim

claim = Claim("toy/{name}")
{code}
```

```{{code-cell}} ipython3
claim.check("smallest", scale * n + 0.01 * seed, says="Squares are not negative", at_least=0, source="paper",
            opponents={{"cubes": -scale * n}})
claim.control("smallest_without_squaring", -n, breaks="smallest", removes="the square")
{close}
```
"""


class Toy:
    """A project folder, the commands run in it, and what is found there afterwards."""

    def __init__(self, root: Path, environment: dict[str, str]):
        self.root = root
        self.environment = environment
        self.registry = root / "book" / "claims" / "toy.yml"
        self.squares = root / "notebooks" / "toy" / "squares.md"
        self.lock = root / "requirements.lock"
        self.working = root / "_build" / "runs" / ".working"

    def add_page(self, name: str, code: str = "", close: str = "claim.close()") -> Path:
        """A page with the given code in its second code cell, registered as a claim of the same name."""
        path = self.root / "notebooks" / "toy" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(name=name, code=code, close=close))
        if name != "squares":
            self.registry.write_text(self.registry.read_text() + ENTRY.format(name=name))
        return path

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
        path.write_text(text.replace(old, new))

    def hier(self, *words: str, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        """The command as a user types it."""
        return subprocess.run(
            [HIER, *words], cwd=cwd or self.root, env=self.environment, capture_output=True, text=True, timeout=90, **options
        )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The same within this process: for dozens of refusals, where starting Python would take longest."""
        out, err = StringIO(), StringIO()
        with (
            chdir(self.root),
            patch.object(sys, "argv", ["hier", *words]),
            patch.dict(os.environ, self.environment, clear=True),
            redirect_stdout(out),
            redirect_stderr(err),
            pytest.raises(SystemExit) as end,
        ):
            main()
        return subprocess.CompletedProcess(words, end.value.code, out.getvalue(), err.getvalue())

    def start(self, *words: str) -> subprocess.Popen[str]:
        """The command in the background, as somebody who interrupts it needs it."""
        pipe = subprocess.PIPE
        heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731  a shell's background jobs ignore Ctrl-C
        return subprocess.Popen(
            [HIER, *words], cwd=self.root, env=self.environment, stdout=pipe, stderr=pipe, text=True, preexec_fn=heard
        )

    def files(self) -> dict[str, bytes]:
        """The whole file tree with its content."""
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}

    def records(self, page: str = "squares") -> list[Path]:
        """Records of a page that are visible under their key."""
        return sorted((self.root / "_build" / "runs" / "toy" / page).glob("*/record.json"))

    def record(self, page: str = "squares") -> dict[str, Any]:
        (path,) = self.records(page)
        return json.loads(path.read_text())

    def record_of(self, seed: int) -> dict[str, Any]:
        """The record of the page `squares` on that seed."""
        project, _, job = self.job(seed=seed)
        return json.loads(run_folder(project, job).record.read_text())

    def processes(self) -> list[psutil.Process]:
        """Processes of this project: drivers, those that run pages, and kernels; all carry its mark in their environment."""
        mark = self.environment["HIERLIB_TEST_MARK"]
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("HIERLIB_TEST_MARK") == mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def load(self) -> tuple[Project, dict[str, Page]]:
        project = Project(self.root)
        return project, {page.id: page for page in load(project)[1]}

    def job(self, profile: str = "quick", **parameters: Any) -> tuple[Project, Page, Job]:
        """The job of the page `squares`, for tests that call the library instead of the command."""
        project, pages = self.load()
        page = pages["toy/squares"]
        return project, page, make_job(project, page, profile, parameters)


@pytest.fixture(scope="session")
def make_toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Toy]]:
    """Makes fresh projects; whatever still runs in one of them at the end is stopped."""
    made = []

    def make() -> Toy:
        root = tmp_path_factory.mktemp("toy")
        removed = ("HIERLIB_RUN", "HIERLIB_PROJECT", "FORCE_COLOR")
        kept = {name: value for name, value in os.environ.items() if name not in removed}
        toy = Toy(root, kept | {"HIERLIB_TEST_MARK": str(root), "HIERLIB_DATA": str(root / "no-data"), "COLUMNS": "160"})
        toy.registry.parent.mkdir(parents=True)
        toy.registry.write_text(REGISTRY)
        toy.add_page("squares")
        toy.lock.write_text("numpy==2.0.0\n")
        made.append(toy)
        return toy

    yield make
    for toy in made:
        for process in toy.processes():
            process.kill()


@pytest.fixture
def forge(ran: Toy) -> Callable[..., Job]:
    """Stores a valid run of `ran` with another seed or another result, as if the page had given it."""
    record = ran.record()

    def store(seed: int = 0, **changes: Any) -> Job:
        project, _, job = ran.job(seed=seed)
        folder = run_folder(project, job)
        folder.path.mkdir(exist_ok=True)
        folder.notebook.write_text("{}")
        folder.seal(Record.model_validate(record | changes))
        return job

    return store


@pytest.fixture
def toy(make_toy: Callable[[], Toy]) -> Toy:
    """A project in which nothing was run."""
    return make_toy()


@pytest.fixture(scope="session")
def pristine(make_toy: Callable[[], Toy]) -> Toy:
    """A project that only commands which must not write are run in."""
    return make_toy()


@pytest.fixture(scope="session")
def finished(make_toy: Callable[[], Toy]) -> tuple[Toy, subprocess.CompletedProcess[str]]:
    """A project whose page was run once, and what the command said; to be read, not changed."""
    toy = make_toy()
    return toy, toy.hier("run")


@pytest.fixture
def ran(toy: Toy, finished: tuple[Toy, Any]) -> Toy:
    """A project of one's own in which the page was run: a copy, because a key does not depend on the place."""
    shutil.copytree(finished[0].root / "_build", toy.root / "_build")
    return toy


@pytest.fixture
def eventually() -> Callable[..., None]:
    """Waits until something is true, and fails when it stays false."""

    def wait(condition: Callable[[], Any], what: str, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds} s: {what}"
            time.sleep(0.05)

    return wait


@pytest.fixture
def refused() -> Callable[..., str]:
    """Runs a command that must be refused with one sentence, and returns the sentence."""

    def run(toy: Toy, *words: str, within: bool = False, **options: Any) -> str:
        before = toy.files()
        done = toy.call(*words) if within else toy.hier(*words, **options)
        assert done.returncode == 2, done.stderr
        assert done.stdout == "", "a refused command has nothing to report"
        assert done.stderr.startswith("hier: ") and done.stderr.count("\n") == 1, done.stderr
        assert toy.files() == before, "a refused command writes nothing"
        return done.stderr

    return run
