"""The numbers we hold ourselves to: `tests/numbers/<profile>/<page>.json`, written by `hier accept`, read by `hier check`.

For every check they keep its value and outcome on every accepted seed, its rule (relation and bound), and a tolerance from
the spread: the half width of the interval in which one more seed falls with probability 99 % if values are normal. The run
that the book shows, on a seed of its own, is part of the spread, because it is the one that is compared, and no part of the
verdict. For every claim they keep the verdict on each seed and the verdict over all of them, which the book prints.

A rule that was changed after a result was seen is no secret: a bound that moved, a check that went, another expected verdict
are refused until the registry's `history:` has a line about them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from hierlib.data.catalogue import damaged
from hierlib.files import write_text
from hierlib.lab.job import Job, make_job, numbers_key
from hierlib.lab.page import Page
from hierlib.lab.project import Project, UserError
from hierlib.lab.record import Check, Model, Record, Verdict
from hierlib.lab.registry import Change
from hierlib.lab.store import stored_record
from hierlib.lab.verdicts import of_all_seeds

# What rounding may move on another machine: never a regression.
RELATIVE_FLOOR, ABSOLUTE_FLOOR = 1e-6, 1e-12
FEWEST_SEEDS = 5
SEEDS = "3,4,5,6,7,8"  # settings are chosen on 0 to 2
REMOVED = "removed"


class Accepted(Model):
    """One quantity: centre and tolerance; its values and outcomes by seed; its rule."""

    value: float
    tolerance: float = Field(gt=0)
    rule: str = ""
    by_seed: list[float] = []
    holds: list[bool] = []


class OverSeeds(Model):
    """The verdict of a claim over all accepted seeds, and on each."""

    all: Verdict
    by_seed: list[Verdict]

    @property
    def agreeing(self) -> str:
        """`6 of 6`."""
        return f"{self.by_seed.count(self.all)} of {len(self.by_seed)}"


class AcceptedNumbers(Model):
    """The file of one page."""

    seeds: list[int]
    values: dict[str, Accepted]
    numbers_key: str = ""  # of the code that made them
    verdicts: dict[str, OverSeeds]


class Acceptance(NamedTuple):
    """What was accepted for a page, and whether the present code would give the same."""

    numbers: AcceptedNumbers
    current: bool

    @property
    def seeds(self) -> dict[str, str]:
        """For every claim, on how many seeds it comes out as it does over all: `6 of 6`; the same for every check.

        A check that does not come out alike on all seeds says on how many it holds, whatever the run beside it shows.
        """
        checks = {}
        for name, entry in self.numbers.values.items():
            held, count = sum(entry.holds), len(entry.holds)
            if count:
                checks[name] = f"{count} of {count}" if held in (0, count) else f"holds on {held} of {count}"
        return checks | {claim: entry.agreeing for claim, entry in self.numbers.verdicts.items()}


class Move(NamedTuple):
    """A value beside the accepted one."""

    page: str
    name: str
    value: float
    accepted: float
    tolerance: float

    @property
    def tolerances(self) -> float:
        """How far it moved, in tolerances: more than one is a regression. Not reached then and now is no move."""
        if math.isnan(self.value) and math.isnan(self.accepted):
            return 0.0
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
    """Seeds as typed, `3,4,5,6,7`: at least five different ones."""
    try:
        seeds = sorted({int(word) for word in text.split(",")})
    except ValueError:
        raise UserError(f"--seeds {text}: write whole numbers with commas, for example {SEEDS}") from None
    if len(seeds) < FEWEST_SEEDS:
        raise UserError(f"--seeds {text}: a tolerance needs at least five seeds")
    return seeds


def accepted_value(values: Sequence[float]) -> Accepted:
    """Centre and tolerance of one quantity from its values over seeds."""
    from scipy import stats  # half a second to import, and only needed here

    if all(math.isnan(value) for value in values):
        return Accepted(value=math.nan, tolerance=ABSOLUTE_FLOOR)  # never reached, on no seed
    count = len(values)
    centre = math.fsum(values) / count
    spread = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (count - 1))
    reach = float(stats.t.ppf(0.995, count - 1)) * spread * math.sqrt(1 + 1 / count)
    return Accepted(value=centre, tolerance=max(reach, RELATIVE_FLOOR * abs(centre), ABSOLUTE_FLOOR))


def rule(check: Check) -> str:
    """Relation and bound of a check in letters that everybody can type: `<= 0.02`, `in [-0.65, -0.35]`."""
    if isinstance(check.bound, tuple):
        return f"in [{check.bound[0]:.6g}, {check.bound[1]:.6g}]"
    sign = {"at_most": "<=", "at_least": ">=", "below": "<", "above": ">"}[check.relation]
    return f"{sign} {check.bound:.6g}"


def read_acceptance(project: Project, job: Job) -> Acceptance | None:
    """What is accepted for the page of a job, if anything is."""
    path = numbers_file(project, job)
    if not path.exists():
        return None
    try:
        numbers = AcceptedNumbers.model_validate_json(path.read_bytes())
    except ValidationError:
        raise UserError(f"{project.relative(path)} is damaged; `hier accept {job.page}` writes it anew") from None
    return Acceptance(numbers, current=numbers.numbers_key == numbers_key(project, job))


def is_stale(project: Project, job: Job) -> bool:
    """Whether the acceptance of a page is absent, damaged or of earlier code."""
    try:
        acceptance = read_acceptance(project, job)
    except UserError:
        return True
    return acceptance is None or not acceptance.current


def last_seconds(project: Project, job: Job) -> float:
    """How long a page took the last time it was run with the present code; for ever, if it was not."""
    record = stored_record(project, job)
    return record.seconds if record else math.inf


def calibrate(project: Project, standard: Job, jobs: Mapping[int, Job], history: Sequence[Change]) -> Path:
    """Write the accepted numbers of a page from its stored runs, one job per seed; returns the file.

    Refused when a run is missing, when the verdict over all seeds is not the one that the registry expects, when a quantity
    is a number on some seeds only, and when a rule changed that the history does not tell of.
    """
    records = {seed: record for seed, job in jobs.items() if (record := stored_record(project, job)) is not None}
    if len(records) < len(jobs):
        raise UserError(f"{standard.page} not accepted: a run is missing")
    shown = stored_record(project, standard)
    if shown is None:
        raise UserError(f"{standard.page} not accepted: the run that the book shows is missing")
    found = list(records.values())
    over_all = of_all_seeds(found)
    reasons = [
        f"{claim} is {over_all.get(claim)} over all seeds ({', '.join(str(r.verdicts.get(claim)) for r in found)}), "
        f"not {expected} as the registry expects"
        for claim, expected in standard.claims.items()
        if over_all.get(claim) != expected
    ]
    values = {}
    for number, check in enumerate(found[0].checks):
        series = [record.checks[number] for record in found]
        column = [c.value for c in series]
        if not all(map(math.isfinite, column)) and not all(map(math.isnan, column)):
            missing = [str(seed) for seed, v in zip(records, column, strict=True) if not math.isfinite(v)]
            reasons.append(f"{check.name} is no number on seed {', '.join(missing)}")
            continue
        update = {"rule": rule(check), "by_seed": column, "holds": [c.holds for c in series]}
        also = [] if standard.parameters["seed"] in jobs else [shown.checks[number].value]
        values[check.name] = accepted_value([*column, *also]).model_copy(update=update)
    verdicts = {c: OverSeeds(all=v, by_seed=[r.verdicts[c] for r in found]) for c, v in over_all.items()}
    key = numbers_key(project, standard)
    numbers = AcceptedNumbers(seeds=sorted(records), values=values, numbers_key=key, verdicts=verdicts)
    path = numbers_file(project, standard)
    if path.exists() and not reasons:
        try:
            reasons = untold(AcceptedNumbers.model_validate_json(path.read_bytes()), numbers, standard, history)
        except ValidationError:
            pass  # damaged: it is written anew
    if reasons:
        raise UserError(f"{standard.page} not accepted: {'; '.join(reasons)}")
    write_text(path, json.dumps(numbers.model_dump(), indent=1) + "\n")
    return path


def untold(old: AcceptedNumbers, new: AcceptedNumbers, job: Job, history: Sequence[Change]) -> list[str]:
    """Rules that changed and are not in the history: a bound that moved, a check that went, another verdict."""
    told = [change for change in history if f"/{change.page}" == job.page[job.page.index("/") :]]
    changes = {
        name: (entry.rule, new.values[name].rule if name in new.values else REMOVED)
        for name, entry in old.values.items()
        if name not in new.values or entry.rule != new.values[name].rule
    }
    changes |= {
        f"expected {claim}": (entry.all, new.verdicts[claim].all if claim in new.verdicts else REMOVED)
        for claim, entry in old.verdicts.items()
        if claim not in new.verdicts or entry.all != new.verdicts[claim].all
    }
    known = {(change.what, change.new) for change in told}
    return [_line(job, what, was, now) for what, (was, now) in changes.items() if (what, now) not in known]


def _line(job: Job, what: str, old: str, new: str) -> str:
    paper, _, page = job.page.partition("/")
    line = f"{{page: {page}, what: {what}, new: '{new}'}}"
    return f"{what} was {old!r} and is {new!r}: tell why in the history of {paper}.yml, {line}"


def compare(project: Project, page: Page, job: Job) -> Comparison:
    """The stored run of a page against the accepted numbers, rules and outcomes, and the expected verdicts."""
    record = stored_record(project, job)
    if record is None and (absent := [name for name in job.data if damaged(name)]):
        return Comparison(left_out=f"{job.page}: left out, no {', '.join(absent)} on this machine")
    if record is None:
        return Comparison([], [f"{job.page}: not run with the present code; `hier run {job.page}` does"])
    try:
        acceptance = read_acceptance(project, job)
    except UserError as error:
        return Comparison([], [str(error)])
    if acceptance is None:
        return Comparison([], [f"{job.page}: no accepted numbers; `hier accept {job.page}` writes them"])
    accepted = acceptance.numbers
    problems = []
    for claim, expected in job.claims.items():
        over_all = accepted.verdicts[claim].all if claim in accepted.verdicts else record.verdicts.get(claim)
        if over_all != expected:
            came = f"came out as {over_all!r} over seeds {accepted.seeds}"
            problems.append(f"{job.page}: {claim} is expected to be {expected!r} and {came}")
    measured = {check.name: check for check in record.checks}
    if missing := sorted(accepted.values.keys() ^ measured.keys()):
        problems.append(f"{job.page}: {', '.join(missing)} not on both sides; `hier accept {job.page}` renews them")
    both = {name: (entry, measured[name]) for name, entry in accepted.values.items() if name in measured}
    for name, (entry, check) in both.items():
        if entry.rule and entry.rule != rule(check):
            problems.append(f"{job.page}: {name} must be {rule(check)} now; it was accepted as {entry.rule}")
    problems += _changed_minds(record, accepted)
    for number, seed in enumerate(accepted.seeds):
        again = stored_record(project, make_job(project, page, job.profile, {"seed": seed}))
        problems += _changed_minds(again, accepted, number) if again else []
    moves = [Move(job.page, name, check.value, entry.value, entry.tolerance) for name, (entry, check) in both.items()]
    return Comparison(moves, problems)


def _changed_minds(record: Record, accepted: AcceptedNumbers, number: int | None = None) -> list[str]:
    """Checks that come out otherwise than on the accepted seeds: all of them, or the one of that number."""
    problems = []
    for check in record.checks:
        entry = accepted.values.get(check.name)
        before = [] if entry is None else entry.holds if number is None else entry.holds[number : number + 1]
        if before and all(held != check.holds for held in before):
            word = "holds" if check.holds else "fails"
            seed, then = record.parameters["seed"], len(before)
            problems.append(
                f"{record.page}: {check.name} {word} on seed {seed} and did not on {then} of {then} accepted seeds"
            )
    return problems
