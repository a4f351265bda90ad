"""A job: one page with every value settled, and the two keys of its result.

The key of a run says when its numbers and pictures are out of date: it covers the page's code, its values, the meaning of
the `hierlib` modules it imports, its data and the pinned packages that compute or draw. The second, narrower key says
when the numbers alone are: what only draws or renders (`figures`, `lab`, the `drawings` of a paper, matplotlib) is not in
it. It decides whether the record of a run that took hours still belongs to the present code.
"""

import ast
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import hierlib
from hierlib.data import catalogue
from hierlib.lab.imports import imported_modules, meaning, modules_digest, parsed
from hierlib.lab.page import Page
from hierlib.lab.project import Project, UserError, nearest

PACKAGE = Path(hierlib.__file__).parent
COMPUTE = ("torch", "numpy", "scipy", "scikit-learn")
DRAW = ("matplotlib",)
DRAWING = re.compile(r"(figures|lab|papers/\w+/drawings)/")


class Job(NamedTuple):
    """All that a process, here or on another machine, needs to run a page."""

    page: str
    profile: str
    parameters: dict[str, Any]
    standard: bool  # the book's own numbers: no parameter was changed but perhaps the device
    data: list[str]
    claims: dict[str, str]  # claim id -> expected verdict
    key: str
    text: str
    code: list[str]


def make_job(project: Project, page: Page, profile: str, overrides: dict[str, Any]) -> Job:
    """Settle one page: its parameters, its data, and the keys under which its result is known."""
    parameters = page.values(profile, overrides)
    data = [str(parameters.get(name, name)) for name in page.front.data]
    for name in data:
        if name not in catalogue.SETS:
            raise UserError(f"{page.id}: there is no data set {name!r}; {nearest(name, catalogue.SETS, 'data sets')}")
    modules = modules_digest(imported_modules(page.code, PACKAGE))
    digests = [catalogue.digest(name) for name in data]
    key = _digest(
        page.id, profile, parameters, digests, page.code, sorted(page.claims), modules, pins(project, COMPUTE + DRAW)
    )
    standard = parameters | {"device": None} == page.values(profile, {}) | {"device": None}
    return Job(page.id, profile, parameters, standard, data, page.claims, key, page.text, page.code)


def numbers_key(project: Project, job: Job) -> str:
    """The narrower key of a job: equal keys, equal numbers, whatever was done to the pictures and to `lab`."""
    tree = parsed(job.code)
    computing = [module for module in imported_modules(job.code, PACKAGE) if not _draws(module.name)]
    code = job.code if tree is None else meaning(_without_drawing(tree))
    digests = [catalogue.digest(name) for name in job.data]
    return _digest(job.page, job.profile, job.parameters, digests, code, modules_digest(computing), pins(project, COMPUTE))


def pins(project: Project, names: tuple[str, ...]) -> list[str]:
    """What the lock files say about these packages, as `name==version`."""
    pinned: dict[str, str] = {}
    for lock in filter(Path.exists, project.locks):
        pinned |= _read_lock(lock, lock.stat().st_mtime_ns)
    return [pinned[name] for name in names if name in pinned]


@cache
def _read_lock(lock: Path, modified: int) -> dict[str, str]:
    """By name, the lines `name==version` of a lock file."""
    return {found[1]: found[0] for found in re.finditer(r"^([\w-]+)==[\w.]+", lock.read_text(), re.MULTILINE)}


def _draws(path: str) -> bool:
    """Whether a module of the package only draws or renders: what it does decides no number."""
    return DRAWING.match(path) is not None


def _without_drawing(tree: ast.Module) -> ast.Module:
    """A page's code without the imports of what only draws or renders: they may move without moving a number."""

    def drawing(statement: ast.stmt) -> bool:
        module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
        return module.startswith("hierlib.") and _draws(module.removeprefix("hierlib.").replace(".", "/") + "/")

    return ast.Module([statement for statement in tree.body if not drawing(statement)], [])


def _digest(*content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]
