"""Records: what a run found, typed, with a digest of every file, so that damage is seen; and the files of a run's folder.

A page's own process imports this module, so it imports next to nothing of the rest.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from hierlib.files import write_text

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
RELATIONS = {"at_most": "≤", "at_least": "≥", "below": "<", "above": ">", "within": "∈"}
Relation = Literal["at_most", "at_least", "below", "above", "within"]
Verdict = Literal["holds", "consistent", "partly", "refuted", "open", "undecided"]
Role = Literal["statement", "step", "ours", "sanity"]  # only what tests the statement itself decides
Source = Literal["paper", "proof", "theory", "choice"]  # where a bound comes from
LOOSE = 10.0  # a bound met with such a factor to spare says little


class Model(BaseModel):
    """What is written as JSON: unknown keys are mistakes; not-a-number is written as Python reads it."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")


class Opponent(Model):
    """An object without the thing that the claim is about, sent through the same line; it must fail there."""

    name: str
    value: float | None  # None: it never got there
    fails: bool


class Check(Model):
    """One line of the verdict table."""

    name: str
    kind: Literal["check", "control", "comparison"]
    value: float
    relation: Relation
    bound: float | tuple[float, float]
    holds: bool
    of: list[str]
    paper: float | None = None
    interval: tuple[float, float] | None = None
    breaks: str | None = None
    restores: str | None = None
    role: Role = "statement"
    says: str = ""  # one sentence; a control has none
    source: Source | None = None
    because: str = ""  # the reason for the bound
    predicts: float | None = None  # the number that the law predicts, which an interval must contain
    opponents: list[Opponent] = []
    cells: tuple[int, int] | None = None  # those that count, of all there are
    removes: str = ""  # the hypothesis that a control takes away

    @property
    def margin(self) -> float:
        """Distance to the bound in units of the bound (of half the window for `within`); negative when violated."""
        if isinstance(self.bound, tuple):
            low, high = self.bound
            return min(self.value - low, high - self.value) / ((high - low) / 2)
        room = self.bound - self.value if self.relation in ("at_most", "below") else self.value - self.bound
        return room / (abs(self.bound) or abs(self.value) or 1.0)

    @property
    def loose(self) -> bool:
        """Whether the bound is met with a factor of ten to spare, at the nearer end of the interval; zero has any factor."""
        if not self.holds or isinstance(self.bound, tuple) or self.bound <= 0:
            return False
        ends = (self.value, *(self.interval or ()))
        if self.relation in ("at_most", "below"):
            return 0 <= LOOSE * max(ends) < self.bound
        return min(ends) > LOOSE * self.bound

    @property
    def power(self) -> bool:
        """Whether the check could have failed: somebody fails it, and where there are cells, one of them counts."""
        beaten = bool(self.opponents) and all(opponent.fails for opponent in self.opponents)
        return beaten and (self.cells is None or self.cells[0] > 0)

    def statement(self) -> str:
        """`≤ 0.02`, `∈ [-0.65, -0.35]`; a control that breaks a check states what must be violated: `not ≤ 0.02`."""
        bound = self.bound
        shown = f"[{short(bound[0])}, {short(bound[1])}]" if isinstance(bound, tuple) else short(bound)
        return f"{'not ' if self.breaks else ''}{RELATIONS[self.relation]} {shown}"


class Hypothesis(Model):
    """One hypothesis of a statement: what it asks for, what there is on the page, and whether that is enough."""

    name: str
    says: str
    needed: str  # as a reader sees it; empty where the statement hides its constant
    here: str
    met: bool
    of: list[str]
    missed_by: float | None = None  # the factor by which a number falls short
    because: str = ""


class Finding(Model):
    """What a page hands to the process that runs it when its claim is closed."""

    checks: list[Check]
    verdicts: dict[str, Verdict]
    hypotheses: list[Hypothesis] = []
    undecidable: dict[str, str] = {}  # claims that nothing we can run decides, with the reason
    versions: dict[str, str]
    device: str
    loaded: list[str]  # the data sets that it opened


class Record(Model):
    """A finished run: what was found, with what settings, by what code, when and where."""

    page: str
    profile: str
    standard: bool
    parameters: dict[str, Any]
    data: list[str]
    claims: list[str]
    key: str
    numbers_key: str
    commit: str
    threads: int
    checks: list[Check]
    verdicts: dict[str, Verdict]
    hypotheses: list[Hypothesis] = []
    undecidable: dict[str, str] = {}
    versions: dict[str, str]
    device: str
    started: str
    seconds: float
    peak_mb: int
    files: dict[str, str]  # name of a file beside the record -> sha256
    digest: str = ""

    def content_digest(self) -> str:
        # Without defaults: a field that a later version adds does not make an old record look damaged.
        content = self.model_dump(exclude={"digest"}, exclude_defaults=True)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class RunFolder(NamedTuple):
    """The folder of a run and the files in it: their names stand here and nowhere else."""

    path: Path

    @property
    def job(self) -> Path:
        """What is to be run, for the process that runs it."""
        return self.path / "job.json"

    @property
    def finding(self) -> Path:
        """What the page found, for the process that runs it."""
        return self.path / "claim.json"

    @property
    def errors(self) -> Path:
        """What the processes of a run wrote to standard error."""
        return self.path / "stderr.txt"

    @property
    def notebook(self) -> Path:
        """The executed notebook of a run that is not sealed yet; a failed one is partial."""
        return self.path / "executed.ipynb"

    @property
    def record(self) -> Path:
        return self.path / "record.json"

    def notebook_of(self, record: Record) -> Path:
        """The executed notebook of a sealed run."""
        return self.path / next(iter(record.files))

    def seal(self, record: Record) -> Record:
        """Give the notebook a name of its own and write the record that names it, with the digests of both."""
        digest = _sha256(self.notebook)
        name = f"executed-{digest[:12]}.ipynb"
        os.replace(self.notebook, self.path / name)
        sealed = record.model_copy(update={"files": {name: digest}})
        sealed = sealed.model_copy(update={"digest": sealed.content_digest()})
        write_text(self.record, as_json(sealed))
        return sealed

    def clear(self) -> None:
        """Only the record and its notebook are kept of a run that ended well."""
        for path in (self.job, self.finding, self.errors):
            path.unlink(missing_ok=True)


def as_json(model: Model) -> str:
    return json.dumps(model.model_dump(exclude_defaults=True), indent=1, ensure_ascii=False) + "\n"


def read_record(path: Path, alone: bool = False) -> Record | None:
    """A record whose own digest and whose files' digests are right, else None. A kept record travels `alone`."""
    try:
        record = Record.model_validate_json(path.read_bytes())
        if record.digest != record.content_digest():
            return None
        if not alone and any(_sha256(path.parent / name) != expected for name, expected in record.files.items()):
            return None
    except (OSError, ValidationError):
        return None
    return record


def short(number: float) -> str:
    """Four digits are enough to read and to compare; powers of ten as people write them: 2.551·10⁻¹⁴."""
    digits, _, power = f"{float(number):.4g}".replace("-", "−").partition("e")
    return digits if not power else f"{digits}·10{str(int(power.replace('−', '-'))).translate(RAISED)}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
