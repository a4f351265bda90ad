"""The numbers we hold ourselves to: `tests/numbers/<profile>/<page>.json`.

A tolerance comes from the spread over seeds: it is the half width of the interval in which one more seed falls with
probability 99 % if values are normal. This is about our own past; a check's bound, which comes from the theory or the
paper, is kept apart.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from scipy import stats

from hierlib.data.catalogue import damaged
from hierlib.files import write_text
from hierlib.lab.job import Job
from hierlib.lab.project import Project
from hierlib.lab.record import stored_record

# What rounding may move on another machine: never a regression.
RELATIVE_FLOOR, ABSOLUTE_FLOOR = 1e-6, 1e-12


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


def numbers_file(project: Project, job: Job) -> Any:
    return project.numbers / job.profile / f"{job.page}.json"


def accepted_value(values: Sequence[float]) -> dict[str, float]:
    """Centre and tolerance of one quantity from its values over seeds."""
    count = len(values)
    centre = math.fsum(values) / count
    spread = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (count - 1))
    reach = float(stats.t.ppf(0.995, count - 1)) * spread * math.sqrt(1 + 1 / count)
    tolerance = max(reach, RELATIVE_FLOOR * abs(centre), ABSOLUTE_FLOOR)
    return {"value": centre, "tolerance": tolerance}


def not_finite(record: dict[str, Any]) -> list[str]:
    """Quantities of a record that no tolerance can hold."""
    return [check["name"] for check in record["checks"] if not math.isfinite(check["value"])]


def accept(project: Project, job: Job, records: dict[int, dict[str, Any]]) -> None:
    """Write the accepted numbers of a page from its records, one per seed."""
    series: dict[str, list[float]] = {}
    for record in records.values():
        for check in record["checks"]:
            series.setdefault(check["name"], []).append(check["value"])
    content = {
        "seeds": sorted(records),
        "values": {name: accepted_value(values) for name, values in series.items()},
    }
    write_text(numbers_file(project, job), json.dumps(content, indent=1) + "\n")


def compare(project: Project, job: Job) -> Comparison:
    """The stored run of a page against the accepted numbers and the expected verdicts."""
    record = stored_record(project, job)
    if record is None and (absent := [name for name in job.data if damaged(name)]):
        return Comparison(left_out=f"{job.page}: left out, no {', '.join(absent)} on this machine")
    if record is None:
        return Comparison([], [f"{job.page}: not run with the present code; `hier run {job.page}` does"])
    problems = [
        f"{job.page}: {claim} is expected to be {expected!r} and came out as {record['verdicts'][claim]!r}"
        for claim, expected in job.claims.items()
        if record["verdicts"].get(claim) != expected
    ]
    path = numbers_file(project, job)
    if not path.exists():
        return Comparison([], [*problems, f"{job.page}: no accepted numbers; `hier accept {job.page}` writes them"])
    try:
        accepted = json.loads(path.read_text())["values"]
    except (ValueError, KeyError):
        return Comparison([], [*problems, f"{project.relative(path)} is damaged; `hier accept {job.page}` writes it anew"])
    measured = {check["name"]: check["value"] for check in record["checks"]}
    if missing := sorted(accepted.keys() ^ measured.keys()):
        problems.append(f"{job.page}: {', '.join(missing)} not on both sides; `hier accept {job.page}` renews them")
    moves = [
        Move(job.page, name, measured[name], entry["value"], entry["tolerance"])
        for name, entry in accepted.items()
        if name in measured
    ]
    return Comparison(moves, problems)
