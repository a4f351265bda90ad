"""A claim under test: named checks with a bound, controls that must break them, and the verdict.

    claim = Claim("fine-grained/thm4.1")
    claim.check("gap", gap, at_most=0.02)
    claim.control("gap_without_width", narrow, breaks="gap")      # a hypothesis removed: the same check must fail
    claim.close()                                                   # shows the table, hands the numbers to the runner

A page may test several registered claims. A check counts for all of them unless `of` names the ones it belongs to.
"""

import html
import json
import math
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, SupportsFloat

from hierlib.files import write_text
from hierlib.lab.record import Check, Finding, RunFolder, Verdict, as_json, short

VERSIONED = ("torch", "numpy", "scipy")


class Claim:
    """The test of one page. Outside the runner (in a notebook by hand) it only shows the table."""

    def __init__(self, page: str):
        self.page = page
        self.run: dict[str, Any] = json.loads(os.environ.get("HIERLIB_RUN", "{}"))
        if self.run and self.run["page"] != page:
            raise ValueError(f"this page is {self.run['page']}, but its claim says {page}")
        self.claims: list[str] = list(self.run.get("claims", [])) or [page.partition("/")[2]]
        self.checks: list[Check] = []

    def check(
        self,
        name: str,
        value: SupportsFloat,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        below: float | None = None,
        above: float | None = None,
        within: tuple[float, float] | None = None,
        paper: float | None = None,
        interval: Sequence[float] | None = None,
        of: str | Sequence[str] | None = None,
    ) -> None:
        """State what must hold: exactly one relation. `paper` is the number the paper printed, if it printed one."""
        given = {"at_most": at_most, "at_least": at_least, "below": below, "above": above, "within": within}
        chosen = [(relation, bound) for relation, bound in given.items() if bound is not None]
        if len(chosen) != 1:
            raise ValueError(f"check {name!r} needs exactly one of {', '.join(given)}")
        relation, bound = chosen[0]
        if isinstance(bound, tuple | list) and not bound[0] < bound[1]:
            raise ValueError(f"check {name!r}: within needs (low, high) with low < high, got {bound}")
        self._add(
            name,
            "check",
            value,
            relation,
            bound,
            of,
            paper=None if paper is None else float(paper),
            interval=_pair(interval),
        )

    def compare(
        self, name: str, value: SupportsFloat, *, paper: float, tolerance: float, of: str | Sequence[str] | None = None
    ) -> None:
        """Our number beside the paper's: holds when they differ by at most `tolerance`, which must be positive."""
        if not tolerance > 0:
            raise ValueError(f"comparison {name!r} needs a positive tolerance, got {tolerance}")
        self._add(name, "comparison", value, "within", (paper - tolerance, paper + tolerance), of, paper=float(paper))

    def control(self, name: str, value: SupportsFloat, *, breaks: str | None = None, restores: str | None = None) -> None:
        """The quantity of an earlier check with one thing changed, such that its outcome must be the opposite.

        `breaks` names a check that holds: without one of the hypotheses its bound must be violated. `restores` names a
        check that fails, because what is printed is wrong: with the correction its bound must be met.
        """
        if (breaks is None) == (restores is None):
            raise ValueError(f"control {name!r} needs exactly one of breaks, restores")
        mirrored = next((c for c in self.checks if c.name == (breaks or restores) and c.kind == "check"), None)
        if mirrored is None:
            raise ValueError(f"control {name!r} names {breaks or restores!r}, but there is no check of that name above it")
        of = mirrored.of
        self._add(name, "control", value, mirrored.relation, mirrored.bound, of, breaks=breaks, restores=restores)

    def _add(self, name: str, kind: Any, value: SupportsFloat, relation: Any, bound: Any, of: Any, **extra: Any) -> None:
        if any(c.name == name for c in self.checks):
            raise ValueError(f"there are two checks named {name!r}")
        owners = [of] if isinstance(of, str) else list(of or self.claims)
        for owner in owners:
            if self.run and owner not in self.claims:
                raise ValueError(f"check {name!r} counts for {owner!r}, which the registry does not give to this page")
        number = float(value)
        bound = (float(bound[0]), float(bound[1])) if relation == "within" else float(bound)
        met = satisfies(number, relation, bound)
        # Not-a-number satisfies nothing, and it is no evidence that a control failed either.
        holds = (not met and math.isfinite(number)) if extra.get("breaks") else met
        self.checks.append(
            Check(name=name, kind=kind, value=number, relation=relation, bound=bound, holds=holds, of=owners, **extra)
        )

    def verdicts(self) -> dict[str, Verdict]:
        """holds, partly or refuted for every claim; undecided without checks or when a control misses its purpose."""
        # By hand there is no registry to ask: the claims are those that the checks name.
        named = dict.fromkeys(owner for c in self.checks for owner in c.of)
        claims = self.claims if self.run or not named else named
        return {claim: verdict([c for c in self.checks if claim in c.of]) for claim in claims}

    def close(self) -> None:
        """Show the verdict table and hand the result to the runner."""
        from IPython.display import HTML, display

        if "folder" in self.run:
            images = sys.modules.get("hierlib.data.images")  # looked up, not imported: most pages load no images
            found = Finding(
                checks=self.checks,
                verdicts=self.verdicts(),
                versions=versions(),
                device=device_name(self.run["parameters"].get("device", "cpu")),
                loaded=sorted(images.loaded) if images else [],
            )
            write_text(RunFolder(Path(self.run["folder"])).finding, as_json(found))
        display(HTML(self._table()))

    def _table(self) -> str:
        parameters = self.run.get("parameters", {})
        made = f"profile {self.run['profile']}, seed {parameters['seed']}" if self.run else "run by hand"
        kind = {"check": "", "comparison": "", "control": " <span class='hl-tag'>control</span>"}
        rows = "".join(
            f"<tr class='{'hl-holds' if c.holds else 'hl-fails'}'><td><code>{html.escape(c.name)}</code>{kind[c.kind]}</td>"
            f"<td>{'–' if c.paper is None else short(c.paper)}</td><td>{short(c.value)}{_interval(c)}</td>"
            f"<td>{html.escape(c.statement())}</td><td>{_outcome(c)}</td></tr>"
            for c in self.checks
        )
        verdicts = ", ".join(f"<code>{claim}</code> <b>{v}</b>" for claim, v in self.verdicts().items())
        made += f", {device_name(parameters.get('device', 'cpu'))}"
        packages = ", ".join(f"{name} {number}" for name, number in versions().items())
        return (
            "<div class='hl-verdict'><table><thead><tr><th>quantity</th><th>paper</th><th>ours</th><th>must be</th>"
            f"<th>holds?</th></tr></thead><tbody>{rows}</tbody></table>"
            f"<p>Verdict: {verdicts}. <small>{made}, {packages}.</small></p></div>"
        )


def satisfies(value: float, relation: str, bound: Any) -> bool:
    """Whether `value relation bound` is true; false for not-a-number."""
    if relation == "within":
        return bool(bound[0] <= value <= bound[1])
    tests = {"at_most": value <= bound, "at_least": value >= bound, "below": value < bound, "above": value > bound}
    return bool(tests[relation])


def verdict(checks: Sequence[Check]) -> Verdict:
    """All checks hold: holds. None: refuted. Some: partly. A control that does not come out as it must: undecided."""
    judged = [c.holds for c in checks if c.kind != "control"]
    if not judged or not all(c.holds for c in checks if c.kind == "control"):
        return "undecided"
    return "holds" if all(judged) else "partly" if any(judged) else "refuted"


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {"python": platform.python_version()} | {name: version(name) for name in VERSIONED}


def device_name(device: str) -> str:
    """`cpu`, or the name of the accelerator."""
    if device == "cpu":
        return "cpu"
    import torch

    return torch.cuda.get_device_name() if device.startswith("cuda") and torch.cuda.is_available() else device


def _outcome(check: Check) -> str:
    if check.breaks:
        return "✓ fails, as it must" if check.holds else "✗ does not fail"
    if check.restores:
        return "✓ holds, as it must" if check.holds else "✗ still fails"
    return "✓ holds" if check.holds else "✗ does not hold here"


def _interval(check: Check) -> str:
    return f" <small>[{short(check.interval[0])}, {short(check.interval[1])}]</small>" if check.interval else ""


def _pair(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (float(interval[0]), float(interval[1]))
