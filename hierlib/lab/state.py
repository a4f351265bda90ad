"""All that is known of a page when the book is made: its run, what was accepted over seeds, and runs at other sizes."""

from typing import NamedTuple

from hierlib.lab.job import Job, make_job, numbers_key
from hierlib.lab.numbers import Acceptance, read_acceptance
from hierlib.lab.page import Page
from hierlib.lab.parameters import KEPT
from hierlib.lab.project import Project
from hierlib.lab.record import Record, Verdict, read_record
from hierlib.lab.store import stored_record


class Kept(NamedTuple):
    """The committed record of a run at another size, and whether the present code would give its numbers."""

    record: Record
    current: bool

    @property
    def profile(self) -> str:
        return self.record.profile + ("" if self.current else " (earlier code)")


class State(NamedTuple):
    """A page, the job that makes the book's numbers, and what there is of it."""

    page: Page
    job: Job
    record: Record | None = None
    acceptance: Acceptance | None = None
    kept: list[Kept] = []

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts over all accepted seeds where there are any, else those of the one run; none without a run."""
        over_all = {c: v.all for c, v in self.acceptance.numbers.verdicts.items()} if self.acceptance else {}
        found = self.record.verdicts if self.record else {}
        return {claim: over_all.get(claim, verdict) for claim, verdict in found.items()}

    @property
    def seeds(self) -> dict[str, str]:
        """By check and by claim: on how many of the accepted seeds, `6 of 6`."""
        return self.acceptance.seeds if self.acceptance else {}


def state_of(project: Project, page: Page, job: Job) -> State:
    return State(page, job, stored_record(project, job), read_acceptance(project, job), kept_records(project, page))


def kept_records(project: Project, page: Page) -> list[Kept]:
    """The committed records of a page at other sizes, each with the word whether the present code gives its numbers."""
    kept = []
    for profile in (profile for profile in KEPT if profile in page.profiles):
        if record := read_record(project.kept / profile / f"{page.id}.json", alone=True):
            device = {name: value for name, value in record.parameters.items() if name == "device"}
            present = numbers_key(project, make_job(project, page, profile, device))
            kept.append(Kept(record, current=record.numbers_key == present))
    return kept
