"""A page: a text notebook with typed parameters, three profiles, and a key that says when its numbers are out of date.

The cell tagged `parameters` holds one `name: type = value  # meaning [range]` per line. It is the `quick` profile and
the page's own help. The front matter lists, under `hier`, what the profiles `smoke` and `paper` change and which
data sets the page loads:

    hier:
      data: [mnist]
      smoke: {n: 20, steps: 40}
      paper: {n: 10000, steps: 4000}

A range in brackets is checked before anything runs: `[1..]`, `[0..1]`, or `[cpu|cuda]` for a choice of words.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import jupytext
import nbformat
import papermill
from nbformat import NotebookNode

import hierlib
from hierlib.data import catalogue
from hierlib.lab.imports import imported_modules
from hierlib.lab.job import Job
from hierlib.lab.project import Project, UserError, nearest
from hierlib.lab.registry import Paper, Strict, line_of, parse, read_text

PROFILES = ("smoke", "quick", "paper")
TYPES: dict[str, type[Any]] = {"int": int, "float": float, "str": str, "bool": bool, "list": list}
RANGE = re.compile(r"\s*\[([^\]]*)\]\s*$")
NUMBER = r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?"
ALLOWED = re.compile(rf"({NUMBER})?\.\.({NUMBER})?|[^|]+(\|[^|]+)+")


class FrontMatter(Strict):
    """The `hier` block at the top of a page. A name under `data` that is a parameter stands for its value."""

    data: list[str] = []
    smoke: dict[str, Any] = {}
    paper: dict[str, Any] = {}


class Parameter(NamedTuple):
    """One line of the parameters cell."""

    name: str
    type: str
    default: Any
    meaning: str
    allowed: str  # the text between the brackets, empty when anything of the type goes

    def checked(self, value: Any, where: str) -> Any:
        """The value with the right type and range, or one sentence that says what is allowed."""
        kind = TYPES[self.type]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise UserError(f"{where}: {self.name} must be of type {self.type}, got {value!r}")
        sample = self.default[0] if self.type == "list" and self.default else None
        items = value if self.type == "list" else [value]
        for item in items:
            if sample is not None and type(item) is not type(sample) and (type(sample), type(item)) != (float, int):
                raise UserError(f"{where}: {self.name} must be a list of {type(sample).__name__}, got {value!r}")
            if not self.admits(item):
                raise UserError(f"{where}: {self.name} = {item!r} is out of range; allowed is [{self.allowed}]")
        return value

    def admits(self, item: Any) -> bool:
        if not self.allowed:
            return True
        if "|" in self.allowed:
            return str(item) in self.allowed.split("|")
        if not isinstance(item, int | float):
            return False
        low, high = self.allowed.split("..")
        return (not low or item >= float(low)) and (not high or item <= float(high))


class Page(NamedTuple):
    """A parsed page. `id` is `<paper>/<name>`, `claims` are the registered claims it tests."""

    id: str
    path: Path
    text: str
    notebook: NotebookNode
    front: FrontMatter
    parameters: dict[str, Parameter]
    claims: dict[str, str]  # claim id within the paper -> expected verdict


def load_pages(project: Project, registry: dict[str, Paper]) -> dict[str, Page]:
    """All pages of the project by id, in the order of the registry."""
    found = {}
    for path in sorted(project.notebooks.glob("*/*.md")):
        page = read_page(path, registry)
        found[page.id] = page
    for paper in registry.values():
        for number, entry in enumerate(paper.claims):
            if entry.page and f"{paper.paper}/{entry.page}" not in found:
                file = f"{paper.paper}.yml"
                line = line_of(read_text(project.claims / file, file), ("claims", number, "page"))
                raise UserError(f"{file}, line {line}: claim {entry.id} names the page {entry.page!r}, which does not exist")
    order = [f"{paper.paper}/{entry.page}" for paper in registry.values() for entry in paper.claims if entry.page]
    return {page: found[page] for page in dict.fromkeys(order)} | found


def read_page(path: Path, registry: dict[str, Paper]) -> Page:
    """Parse one text notebook, or say in one sentence what is malformed, with file and line."""
    name = f"{path.parent.name}/{path.name}"
    text = read_text(path, name)
    head = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    if not head:
        raise UserError(f"{name}, line 1: a page starts with its front matter between two lines of ---")
    front: FrontMatter = parse(_Header, head[1], name, first_line=2).hier
    notebook = jupytext.reads(text, fmt="md:myst")
    paper = registry.get(path.parent.name)
    claims: dict[str, str] = {e.id: e.expected or "" for e in paper.claims if e.page == path.stem} if paper else {}
    if not claims:
        raise UserError(f"{name}: no claim in book/claims/{path.parent.name}.yml names this page")
    page = Page(f"{path.parent.name}/{path.stem}", path, text, notebook, front, _parameters(notebook, name, text), claims)
    for profile in ("smoke", "paper"):
        for parameter, value in getattr(front, profile).items():
            line = line_of(head[1], ("hier", profile, parameter), first_line=2)
            resolve(page, "quick", {parameter: value}, f"{name}, line {line}")
    return page


class _Header(Strict):
    """The whole front matter: jupytext's keys are jupytext's business."""

    jupytext: dict[str, Any]
    kernelspec: dict[str, Any]
    hier: FrontMatter = FrontMatter()


def _parameters(notebook: NotebookNode, name: str, text: str) -> dict[str, Parameter]:
    parameters = {}
    for entry in papermill.inspect_notebook(notebook).values():
        where = f"{name}, line {_line_with(text, entry['name'])}"
        if entry["inferred_type_name"] not in TYPES:
            raise UserError(f"{where}: parameter {entry['name']} needs a type, one of {', '.join(TYPES)}")
        found = RANGE.search(entry["help"])
        meaning = RANGE.sub("", entry["help"])
        if not meaning:
            raise UserError(f"{where}: parameter {entry['name']} needs a comment that says what it is")
        allowed = found[1] if found else ""
        if found and not ALLOWED.fullmatch(allowed):
            raise UserError(f"{where}: [{allowed}] is not a range; write [low..high], [low..] or [word|word]")
        try:
            default = ast.literal_eval(entry["default"])
        except (ValueError, TypeError, SyntaxError):
            raise UserError(f"{where}: the value of {entry['name']} must be a plain number, word or list") from None
        parameter = Parameter(entry["name"], entry["inferred_type_name"], default, meaning, allowed)
        parameters[parameter.name] = parameter._replace(default=parameter.checked(default, where))
    if "seed" not in parameters:
        raise UserError(f"{name}: the cell tagged `parameters` must have a line `seed: int = 0`")
    return parameters


def _line_with(text: str, name: str) -> int:
    found = re.search(rf"^{name}\b.*=", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def resolve(page: Page, profile: str, overrides: dict[str, Any], where: str | None = None) -> dict[str, Any]:
    """Every parameter's value: the cell, then the profile, then what the user asked for; all checked."""
    if profile not in PROFILES:
        raise UserError(f"there is no profile {profile!r}; the profiles are {', '.join(PROFILES)}")
    values = {name: parameter.default for name, parameter in page.parameters.items()}
    for changes in (getattr(page.front, profile, {}), overrides):
        for name, value in changes.items():
            if name not in values:
                hint = nearest(name, values, "parameters")
                raise UserError(f"{where or page.id}: there is no parameter {name!r}; {hint}")
            values[name] = page.parameters[name].checked(value, where or page.id)
    return values


def parse_value(page: Page, assignment: str) -> tuple[str, Any]:
    """`name=value` from the command line, read as the parameter's type."""
    name, equals, text = assignment.partition("=")
    if not equals:
        raise UserError(f"-p {assignment}: write name=value, for example -p seed=1")
    kind = page.parameters[name].type if name in page.parameters else "str"
    if kind == "str":
        return name, text
    try:
        return name, ast.literal_eval(text.capitalize() if kind == "bool" else text)
    except (ValueError, TypeError, SyntaxError):
        raise UserError(f"{page.id}: {name} must be of type {kind}, got {text!r}") from None


def make_job(project: Project, page: Page, profile: str, overrides: dict[str, Any]) -> Job:
    """Settle one page: its parameters, its data, and the key under which its result is kept."""
    parameters = resolve(page, profile, overrides)
    data = [str(parameters.get(name, name)) for name in page.front.data]
    for name in data:
        if name not in catalogue.SETS:
            raise UserError(f"{page.id}: there is no data set {name!r}; {nearest(name, catalogue.SETS, 'data sets')}")
    code = [cell.source.strip() for cell in page.notebook.cells if cell.cell_type == "code"]
    modules = module_digest(code)
    digests = [catalogue.digest(name) for name in data]
    lock = hashlib.sha256(project.lock.read_bytes()).hexdigest() if project.lock.exists() else ""
    content = json.dumps([page.id, profile, code, parameters, page.claims, modules, digests, lock], sort_keys=True)
    key = hashlib.sha256(content.encode()).hexdigest()[:20]
    standard = parameters | {"device": None} == resolve(page, profile, {}) | {"device": None}
    return Job(page.id, profile, parameters, standard, data, page.claims, key, modules, nbformat.writes(page.notebook))


def module_digest(code: Iterable[str], package: Path = Path(hierlib.__file__).parent) -> str:
    """One digest of all hierlib modules that the code imports, directly or through one another."""
    total = hashlib.sha256()
    for path in sorted(imported_modules(code, package)):
        total.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    return total.hexdigest()[:20]
