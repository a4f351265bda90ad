"""Render the book: fresh pairs, generated pages, jupyter-book with warnings as errors. Nothing is executed here."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import jupytext
import nbformat
from jupytext.combine import combine_inputs_with_outputs
from nbformat import NotebookNode

from hierlib.files import atomic_write, write_text
from hierlib.lab import reports
from hierlib.lab.api import api_files
from hierlib.lab.job import PACKAGE, Job
from hierlib.lab.layout import parts
from hierlib.lab.ledger import coverage, coverage_table
from hierlib.lab.page import Page
from hierlib.lab.project import Project, UserError
from hierlib.lab.record import short
from hierlib.lab.registry import Paper
from hierlib.lab.state import State, state_of
from hierlib.lab.store import run_folder

# What a page with maths needs of MathJax: 2 of the 30 MB that the package carries.
MATHJAX = ("tex-mml-chtml.js", "output/chtml/fonts", "input/tex/extensions")


def render(
    project: Project, registry: dict[str, Paper], pages: list[Page], jobs: list[Job], say: Callable[[str], None]
) -> Path:
    """Build `_build/html` and return the address of its front page."""
    if not (project.root / "_toc.yml").exists():
        raise UserError("there is no _toc.yml in the book's folder, so jupyter-book does not know which pages to render")
    states = [state_of(project, page, job) for page, job in zip(pages, jobs, strict=True)]
    executed = {}
    for state in states:
        page = state.page.id
        executed[page] = refresh_pair(project, state, registry[page.partition("/")[0]])
        if executed[page] is None:
            say(f"{page} has no {state.job.profile} run of the present code: its page shows no numbers (hier run {page})")
    vendor_mathjax(project)
    write_values(project, registry, states, executed)
    reports.write(project, registry, states, executed)
    write_api(project)
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", ".", "--all", "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    if done.returncode:
        lines = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr).splitlines()
        told = [line for line in lines if re.search("WARNING|ERROR|rror:", line)] or lines[-15:]
        raise UserError("the book does not build without warnings:\n" + "\n".join(told))
    return project.build / "html" / "index.html"


def write_values(
    project: Project, registry: dict[str, Paper], states: list[State], executed: dict[str, NotebookNode | None]
) -> None:
    """What prose may quote: numbers as text (role `value`), figures (directive `shown`), and the table of coverage."""
    values: dict[str, str] = {}
    for state in states:
        for record in [*([state.record] if state.record else []), *(k.record for k in state.kept)]:
            size = "" if record is state.record else f"@{record.profile}"
            values |= {f"{record.page} {check.name}{size}": short(check.value) for check in record.checks}
    absent = [state.page.id for state in states if state.record is None]
    drawn = figures(project, executed)
    write_text(project.build / "values.json", json.dumps({"values": values, "not run": absent, "figures": drawn}))
    by_page = {state.page.id: state for state in states}
    write_text(project.build / "coverage.md", coverage_table(registry, coverage(registry, by_page)))


def figures(project: Project, executed: dict[str, NotebookNode | None]) -> dict[str, dict[str, str]]:
    """Every figure by its name: its page, its alt text, and its file below `book/_static`; an interactive one itself."""
    found: dict[str, dict[str, str]] = {}
    for page, notebook in executed.items():
        for cell in notebook.cells if notebook else []:
            settings = cell.metadata.get("mystnb", {})
            name, alt = settings.get("figure", {}).get("name"), settings.get("image", {}).get("alt", "")
            for data in (output.get("data", {}) for output in cell.get("outputs", [])):
                if name and ("image/svg+xml" in data or "image/png" in data):
                    drawing = data.get("image/svg+xml")
                    file = f"figures/{name}.{'svg' if drawing else 'png'}"
                    content = drawing.encode() if drawing else base64.b64decode(data["image/png"])
                    with atomic_write(project.root / "book" / "_static" / file) as target:
                        target.write(content)
                    found[name] = {"page": page, "alt": alt, "file": file}
                elif "hl-interactive" in data.get("text/html", ""):
                    found[page] = {"page": page, "alt": alt, "file": "", "interactive": data["text/html"]}
    return found


def refresh_pair(project: Project, state: State, paper: Paper) -> NotebookNode | None:
    """Write `<page>.ipynb` beside the text: prose and code from the text, outputs from the stored run if there is one.

    Returns the executed notebook, or None when the page was not run with the present code.
    """
    page, executed = state.page, None
    pair, path = jupytext.reads(page.text, fmt="md:myst"), page.path.with_suffix(".ipynb")
    if state.record:
        executed = nbformat.read(run_folder(project, state.job).notebook_of(state.record), as_version=4)
        pair = combine_inputs_with_outputs(pair, executed)
    for number, cell in enumerate(pair.cells):  # ids and times that change from run to run would change the file
        cell["id"] = f"cell-{number}"
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    pair.metadata.pop("papermill", None)
    generated = parts(state, paper)
    pair.metadata.update(language_info={"name": "python"}, hier_parts=generated)  # the extension book/_ext/pages.py shows it
    write_text(path, json.dumps(pair, indent=1, ensure_ascii=False) + "\n")
    # The text is the source: were its pair newer, `jupytext --sync` would write the pair over it.
    written = page.path.stat().st_mtime - 1
    os.utime(path, (written, written))
    return executed


def write_api(project: Project) -> None:
    """The page that lists every public function, and the source it links to."""
    shutil.rmtree(project.root / "book" / "_static" / "source", ignore_errors=True)
    for path, text in api_files(PACKAGE).items():
        write_text(project.root / "book" / path, text)


def vendor_mathjax(project: Project) -> None:
    """Put MathJax beside the book, so that formulas need no network."""
    target = project.root / "book" / "_static" / "mathjax"
    if (target / MATHJAX[0]).exists():
        return
    spec = find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise UserError("the package sphinx-mathjax-offline is missing: run `make book`, which installs it")
    origin = Path(spec.origin).parent / "static" / "mathjax"
    for part in MATHJAX:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (origin / part).is_dir():
            shutil.copytree(origin / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy(origin / part, target / part)
