"""The registry: every claim of every paper, from `book/claims/<paper>.yml`.

It says what is claimed, where, which page tests it, and which verdict is expected. The ledger, the coverage and the
errata page are computed from it; a verdict that differs from the expected one, in either direction, fails CI.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hierlib.lab.project import Project, UserError, nearest

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Expected = Literal["holds", "partly", "refuted"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$")]  # becomes part of a file name and of an address
Kind = Literal[
    "theorem", "lemma", "corollary", "proposition", "definition", "example",
    "algorithm", "figure", "table", "remark", "claim", "tool",
    "beyond",
]  # fmt: skip


class Strict(BaseModel):
    """A mapping in a YAML file: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Entry(Strict):
    """One claim: its id within the paper, what it says, and the page that tests it or the reason why none can."""

    id: Name
    kind: Kind
    place: str
    says: str
    priority: Literal["A", "B", "C"]
    expected: Expected | None = None
    page: Name | None = None
    untestable: str | None = None

    @property
    def ours(self) -> bool:
        """Beyond the paper: a claim that this book makes itself. It never counts as coverage of the paper."""
        return self.kind == "beyond"


class Erratum(Strict):
    """Something printed that is not right, and what it should be."""

    id: Name
    claim: str
    place: str
    printed: str
    correct: str
    why: str
    effect: str


class Paper(Strict):
    """One paper with all its claims and errata."""

    slug: Name
    part: int
    title: str
    authors: str
    year: int
    arxiv: str
    cite: str
    summary: str
    claims: list[Entry]
    errata: list[Erratum] = []

    def entry(self, claim: str) -> Entry:
        return next(entry for entry in self.claims if entry.id == claim)


class Loader(BASE):
    """YAML in which a key that stands twice is a mistake, not a silent choice of the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value!r} stands twice", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def load_registry(project: Project) -> dict[str, Paper]:
    """All papers by slug, in the order of the book's parts."""
    papers = [load_paper(path) for path in sorted(project.claims.glob("*.yml"))]
    return {paper.slug: paper for paper in sorted(papers, key=lambda paper: paper.part)}


def load_paper(path: Path) -> Paper:
    """One registry file, or a sentence with file and line."""
    text = read_text(path, path.name)
    paper: Paper = parse(Paper, text, path.name)
    if paper.slug != path.stem:
        raise UserError(f"{path.name}, line {line_of(text, ('slug',))}: slug is {paper.slug!r}, the file {path.stem!r}")
    ids = [entry.id for entry in paper.claims]
    corrected = {erratum.claim for erratum in paper.errata}
    for number, entry in enumerate(paper.claims):
        wrong = ""
        if entry.id in ids[:number]:
            wrong = "is registered twice"
        elif entry.page and entry.untestable:
            wrong = "has both a page and a reason why nothing can test it"
        elif entry.page and not entry.expected:
            wrong = "has a page but no expected verdict (holds, partly or refuted)"
        elif entry.expected == "refuted" and entry.id not in corrected:
            wrong = "is expected to be refuted but no erratum says why"
        if wrong:
            raise UserError(f"{path.name}, line {line_of(text, ('claims', number))}: claim {entry.id} {wrong}")
    for number, erratum in enumerate(paper.errata):
        if erratum.claim not in ids:
            at = f"{path.name}, line {line_of(text, ('errata', number))}"
            raise UserError(f"{at}: erratum {erratum.id} names the claim {erratum.claim!r}, which is not registered")
    return paper


def read_text(path: Path, name: str) -> str:
    """The text of a file that people write."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise UserError(f"{name}, line {line}: not valid UTF-8 text") from None
    if found := CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UserError(f"{name}, line {line}: a control character ({found[0]!r}) that no text needs")
    return text


def parse(model: type[Any], text: str, file: str, first_line: int = 1) -> Any:
    """YAML text as a model; what is malformed is named with file and line. `first_line` is where the text starts."""
    try:
        return model.model_validate(yaml.load(text, Loader=Loader) or {})
    except yaml.MarkedYAMLError as error:
        line = (error.problem_mark.line if error.problem_mark else 0) + first_line
        raise UserError(f"{file}, line {line}: not valid YAML ({error.problem})") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + first_line
        raise UserError(f"{file}, line {line}: not valid YAML ({error.reason})") from None
    except ValidationError as error:
        # A misspelt key is both unknown and missing: the unknown one is what the user sees in the file.
        first = min(error.errors(), key=lambda mistake: mistake["type"] != "extra_forbidden")
        *parents, last = first["loc"] or ("the file",)
        message = f"{first['msg'][0].lower()}{first['msg'][1:]}"
        if first["type"] == "extra_forbidden":
            message = f"there is no such key; {nearest(str(last), _fields(model, parents), 'keys')}"
        name = ".".join(str(part) for part in (*parents, last))
        raise UserError(f"{file}, line {line_of(text, first['loc'], first_line)}: {name}: {message}") from None


def _fields(model: type[Any], parents: list[str | int]) -> list[str]:
    """The keys that the mapping at `parents` may have."""
    for part in parents:
        if isinstance(part, str):
            kind = model.model_fields[part].annotation
            model = next(iter(getattr(kind, "__args__", ())), kind)  # list[Entry] -> Entry
    return list(model.model_fields)


def line_of(text: str, location: tuple[str | int, ...], first_line: int = 1) -> int:
    """The line where the value at `location` (keys and indices) stands, or its nearest parent that exists."""
    node, line = yaml.compose(text, Loader=Loader), 0
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in node.value}
            if part not in pairs:
                break
            line, node = pairs[part][0].start_mark.line, pairs[part][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
        else:
            break
    return line + first_line
