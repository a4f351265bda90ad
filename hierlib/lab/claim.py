"""A claim under test: its hypotheses, checks that an opponent fails, controls, and the verdict that follows.

    claim = Claim("fine-grained/thm4.1")
    claim.assume("width", r"$m=\\Omega(n^7)$", at_least=1e14, here=16384)
    claim.check("gap", gap, says="The gap is small", at_most=0.02, source="choice", because="a fiftieth of the labels",
                opponents={"an untrained network": untrained})
    claim.control("gap_narrow", narrow, breaks="gap", removes="the width")     # without it the same check must fail
    claim.sanity("closed_form_error", error, at_most=1e-9, says="Both ways to compute it agree")
    claim.close()                                                   # shows the tables, hands the numbers to the runner

A page may test several registered claims. A line counts for all of them unless `of` names the ones it belongs to. What
decides, and how, stands in `hierlib.lab.verdicts`.
"""

import json
import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, SupportsFloat

from hierlib.files import write_text
from hierlib.lab import tables
from hierlib.lab.record import Check, Finding, Hypothesis, Role, RunFolder, Source, Verdict, as_json, short
from hierlib.lab.verdicts import counted, faced, satisfies, settled, verdicts_of, worst

VERSIONED = ("torch", "numpy", "scipy")
Of = str | Sequence[str] | None


class Claim:
    """The test of one page. Outside the runner (in a notebook by hand) it only shows the tables."""

    def __init__(self, page: str):
        self.page = page
        self.run: dict[str, Any] = json.loads(os.environ.get("HIERLIB_RUN", "{}"))
        if self.run and self.run["page"] != page:
            raise ValueError(f"this page is {self.run['page']}, but its claim says {page}")
        self.claims: list[str] = list(self.run.get("claims", [])) or [page.partition("/")[2]]
        self.checks: list[Check] = []
        self.hypotheses: list[Hypothesis] = []
        self.undecidable: dict[str, str] = {}

    def assume(
        self,
        name: str,
        says: str,
        *,
        here: float | str,
        at_least: float | None = None,
        at_most: float | None = None,
        met: bool | None = None,
        because: str = "",
        of: Of = None,
    ) -> None:
        """A hypothesis of the statement: what it needs and what there is here. Numbers are compared; else `met` says it.

        A hypothesis with a constant that the paper does not state ("large enough") is not met, unless the page shows that
        nothing changes beyond the size it uses: `because` says so.
        """
        if sum(given is not None for given in (at_least, at_most, met)) != 1:
            raise ValueError(f"hypothesis {name!r} needs exactly one of at_least, at_most, met")
        if any(hypothesis.name == name for hypothesis in self.hypotheses):
            raise ValueError(f"there are two hypotheses named {name!r}")
        if met is not None and not because:
            raise ValueError(f"hypothesis {name!r} says {met}, but not why: because= is missing")
        needed, missed_by = "", None
        if at_least is not None:
            number, needed = float(here), f"≥ {short(at_least)}"
            met, missed_by = number >= at_least, _factor(at_least, number)
        elif at_most is not None:
            number, needed = float(here), f"≤ {short(at_most)}"
            met, missed_by = number <= at_most, _factor(number, at_most)
        self.hypotheses.append(
            Hypothesis(
                name=name,
                says=says,
                needed=needed,
                here=here if isinstance(here, str) else short(here),
                met=bool(met),
                of=self._owners(name, of),
                missed_by=None if met else missed_by,
                because=because,
            )
        )

    def check(
        self,
        name: str,
        value: SupportsFloat | Mapping[str, float],
        *,
        says: str = "",
        at_most: float | None = None,
        at_least: float | None = None,
        below: float | None = None,
        above: float | None = None,
        within: tuple[float, float] | None = None,
        source: Source | None = None,
        because: str = "",
        opponents: Mapping[str, Any] | None = None,
        paper: float | None = None,
        interval: Sequence[float] | None = None,
        predicts: float | None = None,
        role: Role = "statement",
        of: Of = None,
    ) -> None:
        """State what must hold: one sentence, exactly one relation, where its bound comes from, and who fails it.

        `value` may be a mapping by cell (task, size, draw); each opponent is then one too. Cells that every opponent fails
        count, and cells in which the check itself fails; the worst of them is judged. An opponent that never got there is
        None. `paper` is the number that the paper printed, if it printed one; `predicts` the number that a law predicts,
        which the interval must contain.
        """
        given = {"at_most": at_most, "at_least": at_least, "below": below, "above": above, "within": within}
        chosen = [(relation, bound) for relation, bound in given.items() if bound is not None]
        if len(chosen) != 1:
            raise ValueError(f"check {name!r} needs exactly one of {', '.join(given)}")
        relation, bound = chosen[0]
        if isinstance(bound, tuple | list):
            if not bound[0] < bound[1]:
                raise ValueError(f"check {name!r}: within needs (low, high) with low < high, got {bound}")
            bound = (float(bound[0]), float(bound[1]))
            if predicts is not None and not satisfies(predicts, relation, bound):
                raise ValueError(f"check {name!r}: the predicted {predicts} lies outside its own window {bound}")
        known = _pair(interval)
        self._argue(name, says, source, because, role, relation, known, predicts)
        rivals, cells = dict(opponents or {}), None
        if isinstance(value, Mapping):
            cells_that_count = counted(value, rivals, relation, bound)
            cells = (len(cells_that_count), len(value))
            # Where none counts the check decides nothing, and the table shows what was measured in all of them.
            shown = cells_that_count or list(value)
            rivals = {
                rival: _nearest([results[cell] for cell in shown], relation, bound) for rival, results in rivals.items()
            }
            value = worst([value[cell] for cell in shown], relation, bound)
        number = float(value)
        holds = settled(number, relation, bound, known, predicts) if says else satisfies(number, relation, bound)
        self._add(
            Check(
                name=name, kind="check", value=number, relation=relation, bound=bound, holds=holds,  # type: ignore[arg-type]
                of=self._owners(name, of), paper=None if paper is None else float(paper), interval=known, role=role,
                says=says, source=source, because=because, predicts=predicts, cells=cells,
                opponents=[faced(rival, result, relation, bound) for rival, result in rivals.items()],
            )
        )  # fmt: skip

    def sanity(self, name: str, value: SupportsFloat, *, says: str, of: Of = None, **bound: Any) -> None:
        """An identity, arithmetic, or anything else that is true by construction: it guards the page and decides nothing."""
        self.check(name, value, says=says, role="sanity", of=of, **bound)

    def compare(self, name: str, value: SupportsFloat, *, paper: float, tolerance: float, of: Of = None) -> None:
        """Our number beside the paper's: holds when they differ by at most `tolerance`, which must be positive."""
        if not tolerance > 0:
            raise ValueError(f"comparison {name!r} needs a positive tolerance, got {tolerance}")
        number, bound = float(value), (paper - tolerance, paper + tolerance)
        holds, owners = satisfies(number, "within", bound), self._owners(name, of)
        self._add(
            Check(
                name=name, kind="comparison", value=number, relation="within", bound=bound, holds=holds, of=owners,
                paper=float(paper),
            )
        )  # fmt: skip

    def control(
        self, name: str, value: SupportsFloat, *, breaks: str | None = None, restores: str | None = None, removes: str = ""
    ) -> None:
        """The quantity of an earlier check with one thing changed, such that its outcome must be the opposite.

        `breaks` names a check that holds: without the hypothesis that `removes` names its bound must be violated. `restores`
        names a check that fails, because what is printed is wrong: with the correction that `removes` describes its bound
        must be met.
        """
        if (breaks is None) == (restores is None):
            raise ValueError(f"control {name!r} needs exactly one of breaks, restores")
        mirrored = next((c for c in self.checks if c.name == (breaks or restores) and c.kind == "check"), None)
        if mirrored is None:
            raise ValueError(f"control {name!r} names {breaks or restores!r}, but there is no check of that name above it")
        if not removes:
            raise ValueError(f"control {name!r} does not say which hypothesis it removes: removes= is missing")
        number = float(value)
        met = satisfies(number, mirrored.relation, mirrored.bound)
        # Not-a-number satisfies nothing, and it is no evidence that a control failed either.
        holds = (not met and math.isfinite(number)) if breaks else met
        self._add(
            Check(
                name=name, kind="control", value=number, relation=mirrored.relation, bound=mirrored.bound, holds=holds,
                of=mirrored.of, breaks=breaks, restores=restores, removes=removes, role=mirrored.role,
            )
        )  # fmt: skip

    def open(self, reason: str, of: Of = None) -> None:
        """Nothing that we can run decides this claim, and why."""
        self.undecidable |= dict.fromkeys(self._owners("open", of), reason)

    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of every claim of the page."""
        # By hand there is no registry to ask: the claims are those that the checks name.
        named = dict.fromkeys(owner for c in self.checks for owner in c.of) | dict.fromkeys(self.undecidable)
        claims = self.claims if self.run or not named else list(named)
        return verdicts_of(claims, self.checks, self.hypotheses, self.undecidable)

    def close(self) -> None:
        """Show hypotheses and verdicts, and hand the result to the runner."""
        from IPython.display import HTML, display

        if "folder" in self.run:
            images = sys.modules.get("hierlib.data.images")  # looked up, not imported: most pages load no images
            found = Finding(
                checks=self.checks,
                verdicts=self.verdicts(),
                hypotheses=self.hypotheses,
                undecidable=self.undecidable,
                versions=versions(),
                device=device_name(self.run["parameters"].get("device", "cpu")),
                loaded=sorted(images.loaded) if images else [],
            )
            write_text(RunFolder(Path(self.run["folder"])).finding, as_json(found))
        display(HTML(self._table()))

    def _table(self) -> str:
        parameters = self.run.get("parameters", {})
        made = f"profile {self.run['profile']}, seed {parameters['seed']}" if self.run else "run by hand"
        made += f", {device_name(parameters.get('device', 'cpu'))}, "
        made += ", ".join(f"{name} {number}" for name, number in versions().items())
        hypotheses = tables.hypotheses(self.hypotheses)
        return hypotheses + tables.checks(self.checks, self.verdicts(), tables.Shown(made))

    def _argue(
        self, name: str, says: str, source: Any, because: str, role: str, relation: str, interval: Any, predicts: Any
    ) -> None:
        """What a check owes its reader."""
        if not says:
            raise ValueError(f"check {name!r} has no sentence that says what must hold: says= is missing")
        if role == "statement" and source is None:
            raise ValueError(f"check {name!r} does not say where its bound comes from: source= is missing")
        if source == "choice" and not because:
            raise ValueError(f"check {name!r} has a bound of our own choice, but no reason: because= is missing")
        if relation == "within" and interval is not None and predicts is None:
            raise ValueError(f"check {name!r} has an interval and a window, but not the number that is predicted: predicts=")

    def _add(self, check: Check) -> None:
        if any(c.name == check.name for c in self.checks):
            raise ValueError(f"there are two checks named {check.name!r}")
        self.checks.append(check)

    def _owners(self, name: str, of: Of) -> list[str]:
        owners = [of] if isinstance(of, str) else list(of or self.claims)
        for owner in owners:
            if self.run and owner not in self.claims:
                raise ValueError(f"check {name!r} counts for {owner!r}, which the registry does not give to this page")
        return owners


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {"python": platform.python_version()} | {name: version(name) for name in VERSIONED}


def device_name(device: str) -> str:
    """`cpu`, or the name of the accelerator."""
    if device == "cpu":
        return "cpu"
    import torch

    return torch.cuda.get_device_name() if device.startswith("cuda") and torch.cuda.is_available() else device


def _nearest(results: Sequence[float | None], relation: str, bound: Any) -> float | None:
    """What the opponent achieves in the cell where it comes nearest to passing; None where it never gets there."""
    reached = [result for result in results if result is not None]
    reached = [result for result in reached if not math.isnan(result)] or reached
    if not reached or relation == "within":
        return min(reached, key=lambda result: min(abs(result - bound[0]), abs(result - bound[1])), default=None)
    return min(reached) if relation in ("at_most", "below") else max(reached)


def _factor(larger: float, smaller: float) -> float:
    return abs(larger / smaller) if smaller else math.inf


def _pair(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (float(interval[0]), float(interval[1]))
