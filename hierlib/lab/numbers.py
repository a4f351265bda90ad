"""The numbers we hold ourselves to: `tests/numbers/<profile>/<page>.json`.

A tolerance comes from the spread over seeds: it is the half width of the interval in which one more seed falls with
probability 99 % if values are normal. This is about our own past; a check's bound, which comes from the theory or the
paper, is kept apart.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from hierlib.data.catalogue import damaged
from hierlib.files import write_text
from hierlib.lab.job import Job
from hierlib.lab.project import Project, UserError
from hierlib.lab.record import Model, Record
from hierlib.lab.store import stored_record

# What rounding may move on another machine: never a regression.
RELATIVE_FLOOR, ABSOLUTE_FLOOR = 1e-6, 1e-12
FEWEST_SEEDS = 5


class Accepted(Model):
    """Centre and tolerance of one quantity."""

    value: float
    tolerance: float = Field(gt=0)


class AcceptedNumbers(Model):
    """The file of one page."""

    seeds: list[int]
    values: dict[str, Accepted]


class Move(NamedTuple):
    """A value beside the accepted one."""

    page: str
    name: str
    value: float
    accepted: float
    tolerance: float

    @property
    def tolerances(self) -> float:
        """How far it moved, in tolerances: more than one is a regression."""
        difference = abs(self.value - self.accepted)
        return difference / self.tolerance if math.isfinite(difference) else math.inf


class Comparison(NamedTuple):
    """All values of a page beside the accepted ones, what is wrong with the page as a whole, and why it is left out."""

    moves: list[Move] = []
    problems: list[str] = []
    left_out: str = ""


def numbers_file(project: Project, job: Job) -> Path:
    return project.numbers / job.profile / f"{job.page}.json"


def read_seeds(text: str) -> list[int]:
    """Seeds as typed, `0,1,2,3,4`: at least five different ones."""
    try:
        seeds = sorted({int(word) for word in text.split(",")})
    except ValueError:
        raise UserError(f"--seeds {text}: write whole numbers with commas, for example 0,1,2,3,4") from None
    if len(seeds) < FEWEST_SEEDS:
        raise UserError(f"--seeds {text}: a tolerance needs at least five seeds")
    return seeds


def accepted_value(values: Sequence[float]) -> Accepted:
    """Centre and tolerance of one quantity from its values over seeds."""
    from scipy import stats  # half a second to import, and only needed here

    count = len(values)
    centre = math.fsum(values) / count
    spread = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (count - 1))
    reach = float(stats.t.ppf(0.995, count - 1)) * spread * math.sqrt(1 + 1 / count)
    return Accepted(value=centre, tolerance=max(reach, RELATIVE_FLOOR * abs(centre), ABSOLUTE_FLOOR))


def calibrate(project: Project, jobs: Mapping[int, Job]) -> Path:
    """Write the accepted numbers of a page from its stored runs, one job per seed; returns the file.

    Refused when a run is missing, a seed gives another verdict than the registry expects or no number at all: such a page
    is not ready.
    """
    records = {seed: record for seed, job in jobs.items() if (record := stored_record(project, job)) is not None}
    reasons = [
        f"seed {seed} gives {record.verdicts}" for seed, record in records.items() if record.verdicts != jobs[seed].claims
    ]
    reasons += [f"seed {seed} gives no number for {name}" for seed, r in records.items() for name in _not_finite(r)]
    if len(records) < len(jobs):
        reasons.append("a run is missing")
    first = next(iter(jobs.values()))
    if reasons:
        raise UserError(f"{first.page} not accepted: {'; '.join(reasons)}")
    series: dict[str, list[float]] = {}
    for record in records.values():
        for check in record.checks:
            series.setdefault(check.name, []).append(check.value)
    values = {name: accepted_value(column) for name, column in series.items()}
    path = numbers_file(project, first)
    write_text(path, json.dumps(AcceptedNumbers(seeds=sorted(records), values=values).model_dump(), indent=1) + "\n")
    return path


def _not_finite(record: Record) -> list[str]:
    """Quantities of a record that no tolerance can hold."""
    return [check.name for check in record.checks if not math.isfinite(check.value)]


def compare(project: Project, job: Job) -> Comparison:
    """The stored run of a page against the accepted numbers and the expected verdicts."""
    record = stored_record(project, job)
    if record is None and (absent := [name for name in job.data if damaged(name)]):
        return Comparison(left_out=f"{job.page}: left out, no {', '.join(absent)} on this machine")
    if record is None:
        return Comparison([], [f"{job.page}: not run with the present code; `hier run {job.page}` does"])
    problems = [
        f"{job.page}: {claim} is expected to be {expected!r} and came out as {record.verdicts.get(claim)!r}"
        for claim, expected in job.claims.items()
        if record.verdicts.get(claim) != expected
    ]
    path = numbers_file(project, job)
    if not path.exists():
        return Comparison([], [*problems, f"{job.page}: no accepted numbers; `hier accept {job.page}` writes them"])
    try:
        accepted = AcceptedNumbers.model_validate_json(path.read_bytes()).values
    except ValidationError:
        return Comparison([], [*problems, f"{project.relative(path)} is damaged; `hier accept {job.page}` writes it anew"])
    measured = {check.name: check.value for check in record.checks}
    if missing := sorted(accepted.keys() ^ measured.keys()):
        problems.append(f"{job.page}: {', '.join(missing)} not on both sides; `hier accept {job.page}` renews them")
    moves = [
        Move(job.page, name, measured[name], entry.value, entry.tolerance)
        for name, entry in accepted.items()
        if name in measured
    ]
    return Comparison(moves, problems)
