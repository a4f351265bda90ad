"""A page: the text of a notebook, read as far as running it needs: front matter, code cells, claims.

The front matter holds, under `hier`, the answer to the page's question and its biggest surprise or caveat, what the other
profiles change (`long` only where a page has it), and which data sets the page loads:

    hier:
      answer: Yes, if the network is wide.
      surprise: The scale that the theorem asks for is not the best one.
      data: [mnist]
      smoke: {n: 20, steps: 40}
      paper: {n: 10000, steps: 4000}

The text is read here by a few lines of our own: jupytext and papermill take longer to import than everything else that
`hier` does when there is nothing to run. The process that runs a page reads it with jupytext and refuses to run it when
the two do not see the same code (`hierlib.lab.worker`).
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from hierlib.lab.parameters import PROFILES, Parameter, check_profile, read_parameters, settle
from hierlib.lab.project import Project, UserError
from hierlib.lab.registry import Loader, Paper, Strict, line_of, parse, read_text

HEADER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
CELL = re.compile(r"^(?P<fence>`{3,}|~{3,})\{code-cell\}[^\n]*\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"---\n(?P<block>.*?\n)---\n|(?P<lines>(?::[^\n]*\n)+)", re.DOTALL)


class FrontMatter(Strict):
    """The `hier` block at the top of a page. A name under `data` that is a parameter stands for its value."""

    answer: str = ""
    surprise: str = ""
    data: list[str] = []
    smoke: dict[str, Any] = {}
    long: dict[str, Any] | None = None  # the largest size that two cores reach in 45 minutes
    paper: dict[str, Any] = {}


class _Jupytext(BaseModel):
    """What pairs a text with its notebook; other keys are jupytext's business."""

    model_config = ConfigDict(extra="allow")
    formats: Literal["md:myst,ipynb"]


class _Kernelspec(Strict):
    name: str
    display_name: str
    language: str


class _Header(Strict):
    """The whole front matter."""

    jupytext: _Jupytext
    kernelspec: _Kernelspec
    hier: FrontMatter = FrontMatter()


class Cell(NamedTuple):
    """A code cell: its source, its tags, and the line of the page on which the source starts."""

    source: str
    tags: list[str]
    line: int


class Page(NamedTuple):
    """A page that was read. `id` is `<paper>/<name>`, `claims` are the registered claims it tests."""

    id: str
    path: Path
    text: str
    cells: list[Cell]
    front: FrontMatter
    parameters: dict[str, Parameter]
    claims: dict[str, str]  # claim id within the paper -> expected verdict

    @property
    def profiles(self) -> list[str]:
        """The sizes at which it can be run."""
        return [profile for profile in PROFILES if profile != "long" or self.front.long is not None]

    @property
    def code(self) -> list[str]:
        return [cell.source for cell in self.cells]

    def values(self, profile: str, overrides: dict[str, Any]) -> dict[str, Any]:
        """Every parameter's value: the cell, then the profile, then what the user asked for."""
        check_profile(profile)
        if profile not in self.profiles:
            raise UserError(f"{self.id} has no profile {profile!r}; its profiles are {', '.join(self.profiles)}")
        return settle(self.parameters, (getattr(self.front, profile, {}), overrides), self.id)


def page_names(project: Project, registry: dict[str, Paper]) -> list[str]:
    """The ids of all pages, in the order of the registry; only their names are looked at, not their text."""
    there = {f"{path.parent.name}/{path.stem}" for path in project.notebooks.glob("*/*.md")}
    registered: dict[str, None] = {}
    for paper in registry.values():
        for number, entry in enumerate(paper.claims):
            if entry.page and f"{paper.slug}/{entry.page}" not in there:
                file = f"{paper.slug}.yml"
                line = line_of(read_text(project.claims / file, file), ("claims", number, "page"))
                raise UserError(f"{file}, line {line}: claim {entry.id} names the page {entry.page!r}, which does not exist")
            if entry.page:
                registered[f"{paper.slug}/{entry.page}"] = None
    if strangers := sorted(there - registered.keys()):
        slug = strangers[0].partition("/")[0]
        raise UserError(f"{strangers[0]}.md: no claim in book/claims/{slug}.yml names this page")
    return list(registered)


def load_pages(project: Project, registry: dict[str, Paper], names: Iterable[str]) -> list[Page]:
    """The pages of these ids, read."""
    return [read_page(project.notebooks / f"{name}.md", registry) for name in names]


def read_page(path: Path, registry: dict[str, Paper]) -> Page:
    """Read one text notebook, or say in one sentence what is malformed, with file and line."""
    name = f"{path.parent.name}/{path.name}"
    text = read_text(path, name)
    head = HEADER.match(text)
    if not head:
        raise UserError(f"{name}, line 1: a page starts with its front matter between two lines of ---")
    front: FrontMatter = parse(_Header, head[1], name, first_line=2).hier
    cells = code_cells(text, name)
    tagged = [cell for cell in cells if "parameters" in cell.tags]
    if len(tagged) != 1:
        raise UserError(f"{name}: a page has one cell tagged `parameters`, this one has {len(tagged)}")
    parameters = read_parameters(tagged[0].source, name, tagged[0].line)
    claims: dict[str, str] = {e.id: e.expected or "" for e in registry[path.parent.name].claims if e.page == path.stem}
    for profile in ("smoke", "long", "paper"):
        for parameter, value in (getattr(front, profile) or {}).items():
            try:
                settle(parameters, [{parameter: value}], name)
            except UserError as error:
                line = line_of(head[1], ("hier", profile, parameter), first_line=2)
                raise UserError(str(error).replace(name, f"{name}, line {line}", 1)) from None
    if not (front.answer and front.surprise):
        raise UserError(f"{name}: the front matter has no `answer` or no `surprise`, which its readers meet first")
    return Page(f"{path.parent.name}/{path.stem}", path, text, cells, front, parameters, claims)


def code_cells(text: str, name: str) -> list[Cell]:
    """The code cells of a MyST notebook, in their order."""
    cells = []
    for found in CELL.finditer(text):
        body, tags, start = found["body"], [], found.start("body")
        if options := OPTIONS.match(body):
            settings = options["block"] or "".join(f"{line[1:]}\n" for line in options["lines"].splitlines())
            try:
                tags = list((yaml.load(settings, Loader=Loader) or {}).get("tags", []))
            except (yaml.YAMLError, AttributeError, TypeError):
                line = text.count("\n", 0, start) + 1
                raise UserError(f"{name}, line {line}: the options of this code cell are not valid YAML") from None
            body, start = body[options.end() :], start + options.end()
        source = body.lstrip("\n")
        line = text.count("\n", 0, start + len(body) - len(source)) + 1
        cells.append(Cell(source.rstrip(), tags, line))
    return cells
