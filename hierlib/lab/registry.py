"""The registry: every claim of every paper, from `book/claims/<paper>.yml`.

It says what is claimed, where, which page tests it, and which verdict is expected. The ledger, the coverage and the
errata page are computed from it; a verdict that differs from the expected one, in either direction, fails CI.

Errata are accusations, so they have classes (`class:`). `false`: the statement fails inside its own hypotheses. `gap`: a
step of a proof does not follow. Of both, `standing:` says what becomes of the claims that rest on it. `slip`, `reading`,
`remark`: no error of substance. What nobody has put to a test, because its claim has no page, is a note and is not printed.
"""

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hierlib.lab.project import Project, UserError, nearest

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Expected = Literal["holds", "consistent", "partly", "refuted", "open"]
Class = Literal["false", "gap", "slip", "reading", "remark"]
Standing = Literal["in doubt", "repaired", "untouched"]
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
    number: str = ""  # what the paper calls it, `Theorem 4.1`; empty for claims of our own and for what has no number
    place: str
    says: str
    priority: Literal["A", "B", "C"]
    expected: Expected | None = None
    page: Name | None = None
    untestable: str | None = None
    uses: list[Name] = []  # claims of this paper that its printed proof rests on

    @property
    def ours(self) -> bool:
        """Beyond the paper: a claim that this book makes itself. It never counts as coverage of the paper."""
        return self.kind == "beyond"

    @property
    def title(self) -> str:
        """How a reader knows it: the paper's own number, else where it stands."""
        return self.number or ("Our own claim" if self.ours else self.place)


class Erratum(Strict):
    """Something printed that is not right, and what it should be."""

    model_config = ConfigDict(populate_by_name=True)  # `class` is no name in Python

    id: Name
    claim: str
    class_: Class | None = Field(default=None, alias="class")
    standing: Standing | None = None  # of an error of substance: what becomes of what rests on it
    place: str
    printed: str
    correct: str
    why: str
    effect: str

    @property
    def counts(self) -> bool:
        """Whether it is an error of substance."""
        return self.class_ in ("false", "gap")


class Change(Strict):
    """A rule that was changed after a result was seen: a bound, a check that went, an expected verdict, a whole page."""

    date: datetime.date
    page: Name
    what: str  # the check's name; `expected <claim>`; or `page`, where it was written anew
    old: str
    new: str
    why: str


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
    history: list[Change] = []

    def entry(self, claim: str) -> Entry:
        return next(entry for entry in self.claims if entry.id == claim)

    @property
    def short(self) -> str:
        """`Arora et al. 2019`."""
        names = [author.split()[-1] for author in self.authors.split(", ")]
        who = names[0] + ("" if len(names) == 1 else f" and {names[1]}" if len(names) == 2 else " et al.")
        return f"{who} {self.year}"

    def tested_errata(self) -> list[Erratum]:
        """Those whose claim has a page; the others are notes that nobody has put to a test."""
        return [erratum for erratum in self.errata if self.entry(erratum.claim).page]

    def shaken(self) -> dict[str, list[Erratum]]:
        """Claims whose printed proof rests, directly or not, on something in doubt, with the errata at the bottom of it."""
        doubts = [erratum for erratum in self.tested_errata() if erratum.standing == "in doubt"]
        broken = {entry.id: [e for e in doubts if e.claim == entry.id] for entry in self.claims}
        found: dict[str, list[Erratum]] = {}

        def below(claim: str, seen: frozenset[str]) -> list[Erratum]:
            uses = [used for used in self.entry(claim).uses if used not in seen]
            reached = [e for used in uses for e in (*broken[used], *below(used, seen | {used}))]
            return list({e.id: e for e in reached}.values())

        for entry in self.claims:
            if errata := below(entry.id, frozenset({entry.id})):
                found[entry.id] = errata
        return found


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
    for place, sentence in mistakes(paper):
        raise UserError(f"{path.name}, line {line_of(text, place)}: {sentence}")
    return paper


def mistakes(paper: Paper) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is wrong between the entries of a registry: where, and one sentence."""
    ids = [entry.id for entry in paper.claims]
    corrected = {erratum.claim for erratum in paper.errata}
    pages = {entry.page for entry in paper.claims if entry.page}
    for number, entry in enumerate(paper.claims):
        unknown = [used for used in entry.uses if used not in ids]
        wrong = ""
        if entry.id in ids[:number]:
            wrong = "is registered twice"
        elif entry.page and entry.untestable:
            wrong = "has both a page and a reason why nothing can test it"
        elif entry.page and not entry.expected:
            wrong = f"has a page but no expected verdict ({', '.join(get_args(Expected))})"
        elif entry.expected == "refuted" and entry.id not in corrected:
            wrong = "is expected to be refuted but no erratum says why"
        elif unknown:
            wrong = f"uses {unknown[0]!r}, which is not registered"
        if wrong:
            yield ("claims", number), f"claim {entry.id} {wrong}"
    for number, erratum in enumerate(paper.errata):
        claim = next((entry for entry in paper.claims if entry.id == erratum.claim), None)
        wrong = ""
        if claim is None:
            wrong = f"names the claim {erratum.claim!r}, which is not registered"
        elif claim.page and erratum.class_ is None:
            wrong = f"is put to a test but has no class ({', '.join(get_args(Class))})"
        elif erratum.counts != (erratum.standing is not None):
            wrong = f"is false or a gap exactly if it has a standing ({', '.join(get_args(Standing))})"
        elif erratum.class_ == "false" and claim.page and claim.expected not in ("partly", "refuted"):
            wrong = f"calls {erratum.claim} false, whose expected verdict is {claim.expected}"
        if wrong:
            yield ("errata", number), f"erratum {erratum.id} {wrong}"
    for number, change in enumerate(paper.history):
        if change.page not in pages:
            yield ("history", number), f"there is no page {change.page!r}"


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
    return [field.alias or name for name, field in model.model_fields.items()]


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
