"""What `_build` holds that belongs to no page any more: runs of earlier code, checkpoints nobody will go on from."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

from hierlib.lab.job import make_job
from hierlib.lab.page import Page
from hierlib.lab.project import Project, UserError
from hierlib.lab.record import RunFolder, read_record


class Leftover(NamedTuple):
    """A folder or file that nothing will read again, and its size in bytes."""

    path: Path
    size: int


def leftovers(project: Project, pages: list[Page]) -> list[Leftover]:
    """Everything under `_build` that the present pages and code would neither show nor skip nor continue.

    A run with a changed seed or parameter is current as long as the same request would find it again.
    """
    by_name = {page.id: page for page in pages}

    def wanted(page: str, profile: str, parameters: dict[str, object], key: str) -> bool:
        try:
            return page in by_name and make_job(project, by_name[page], profile, parameters).key == key
        except UserError:  # a parameter that the page no longer has
            return False

    found = []
    for folder in sorted(project.runs.glob("*/*/*")):
        record = read_record(RunFolder(folder).record)
        if record is None or not wanted(record.page, record.profile, record.parameters, folder.name):
            found.append(folder)
    for folder in sorted(project.checkpoints.glob("*")):
        try:
            order = json.loads(RunFolder(folder).job.read_text())
            current = wanted(order["page"], order["profile"], order["parameters"], folder.name)
        except (OSError, ValueError, KeyError):
            current = False
        if not current:
            found.append(folder)
    for notebook in sorted(project.failed.glob("*/*.ipynb")):
        if f"{notebook.parent.name}/{notebook.stem}" not in by_name:
            found.append(notebook)
    return [Leftover(path, _size(path)) for path in found]


def remove(leftover: Leftover) -> None:
    if leftover.path.is_dir():
        shutil.rmtree(leftover.path)
    else:
        leftover.path.unlink()


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
