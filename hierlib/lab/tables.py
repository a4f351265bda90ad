"""The two tables of a page as HTML: the hypotheses of its claims, and its checks with the verdicts.

A page shows them when its claim is closed. The book shows them again, from the record, with what a single run does not know:
the paper's own numbers of the claims, the seeds, and runs at other sizes.
"""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hierlib.lab.markup import maths
from hierlib.lab.record import Check, Hypothesis, Opponent, Verdict, short
from hierlib.lab.verdicts import decides

SOURCES = {"paper": "the paper", "proof": "the proof", "theory": "derived here", "choice": "our choice", None: ""}
ROLES = {"step": "step of the proof", "ours": "ours", "sanity": "guard"}


class Shown(NamedTuple):
    """What stands beside the numbers of one run."""

    made: str  # profile, seed, device, versions
    titles: Mapping[str, str] = {}  # claim -> what the paper calls it
    seeds: Mapping[str, str] = {}  # check or claim -> "6 of 6"; check -> "holds on 5 of 6"
    sizes: Mapping[str, Mapping[str, Check]] = {}  # another size -> its checks by name


def hypotheses(found: Sequence[Hypothesis]) -> str:
    """Hypothesis, needed, here, met: one row each; nothing where there is none."""
    if not found:
        return ""
    rows = "".join(
        f"<tr class='{'hl-holds' if h.met else 'hl-missed'}'><td>{maths(h.name)}<br><small>{maths(h.says)}</small></td>"
        f"<td data-label='needed'>{h.needed or 'in words'}</td><td data-label='here'>{maths(h.here)}</td>"
        f"<td data-label='met?'>{_met(h)}</td></tr>"
        for h in found
    )
    head = "<th scope='col'>hypothesis</th><th scope='col'>needed</th><th scope='col'>here</th><th scope='col'>met?</th>"
    return (
        "<div class='hl-hypotheses hl-cards tex2jax_process mathjax_process'><table><thead><tr>"
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _met(hypothesis: Hypothesis) -> str:
    word = "✓ yes" if hypothesis.met else "✗ no"
    if hypothesis.missed_by is not None:
        word += f", by a factor of {short(float(f'{hypothesis.missed_by:.2g}'))}"
    return word + (f"<br><small>{maths(hypothesis.because)}</small>" if hypothesis.because else "")


def checks(found: Sequence[Check], verdicts: Mapping[str, Verdict], shown: Shown) -> str:
    """The verdict table: what decides, grouped by claim, with opponents and controls below their check; guards folded."""
    controls = [check for check in found if check.kind == "control"]
    lines = [check for check in found if check.kind != "control"]
    deciding = [check for check in lines if check.role == "statement"]
    guards = [check for check in lines if check.role != "statement"]
    body = ""
    for owners in dict.fromkeys(tuple(check.of) for check in deciding):
        of_these = [check for check in deciding if tuple(check.of) == owners]
        body += f"<tr class='hl-group'><th colspan='4' scope='colgroup'>{_heading(owners, verdicts, shown)}</th></tr>"
        body += "".join(_rows(check, controls, shown) for check in of_these)
    folded = "".join(_rows(check, controls, shown) for check in guards)
    below = (
        f"<details><summary>{len(guards)} more that decide nothing: steps, guards, laws of our own</summary>"
        f"{_table(folded)}</details>"
        if guards
        else ""
    )
    # Claims that stand in no heading: nothing decides them.
    rest = [claim for claim in verdicts if not any(claim in check.of for check in deciding)]
    said = f"<p>{_heading(rest, verdicts, shown)}</p>" if rest else ""
    return (
        f"<div class='hl-verdict hl-cards tex2jax_process mathjax_process'>{_table(body) if body else ''}{below}{said}"
        f"<p><small>{html.escape(shown.made)}.</small></p></div>"
    )


def _table(rows: str) -> str:
    head = "".join(f"<th scope='col'>{word}</th>" for word in ("what must hold", "ours", "bound", "outcome"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _heading(owners: Iterable[str], verdicts: Mapping[str, Verdict], shown: Shown) -> str:
    return ", ".join(
        f"{html.escape(shown.titles.get(owner, owner))}: <span class='hl-{verdicts.get(owner, 'undecided')}'>"
        f"{verdicts.get(owner, 'undecided')}</span>{_seeds(owner, shown)}"
        for owner in owners
    )


def _rows(check: Check, controls: Sequence[Check], shown: Shown) -> str:
    """A check, and indented below it its opponents and its controls."""
    rows = [_row(check, shown)]
    rows += [_opponent(opponent, check) for opponent in check.opponents]
    rows += [_row(control, shown) for control in controls if check.name in (control.breaks, control.restores)]
    return "".join(rows)


def _row(check: Check, shown: Shown) -> str:
    name = f"<code>{html.escape(check.name)}</code>"
    says = maths(check.says)
    if check.kind == "control":
        what = "without" if check.breaks else "corrected"
        says = f"<span class='hl-tag'>control</span> {f'{what}: {maths(check.removes)}' if check.removes else name}"
    elif check.role != "statement":
        says = f"<span class='hl-tag'>{ROLES[check.role]}</span> {says}"
    style = "hl-idle" if _idle(check) else "hl-holds" if check.holds else "hl-fails"
    style += " hl-below" if check.kind == "control" else ""
    paper = f"<br><small>paper: {short(check.paper)}</small>" if check.paper is not None else ""
    there = {size: others[check.name] for size, others in shown.sizes.items() if check.name in others}
    sizes = "".join(
        f"<br><small>{html.escape(size)}: {short(other.value)} {'✓' if other.holds else '✗'}</small>"
        for size, other in there.items()
    )
    source = f"<br><small title='{html.escape(check.because, quote=True)}'>{SOURCES[check.source]}</small>"
    bound = "as above" if check.kind == "control" else html.escape(check.statement()) + (source if check.source else "")
    return (
        f"<tr class='{style}' title='{html.escape(check.name, quote=True)}'><td>{says}</td>"
        f"<td data-label='ours'>{_value(check)}{paper}{sizes}</td><td data-label='bound'>{bound}</td>"
        f"<td data-label='outcome'>{_outcome(check)}{_seeds(check.name, shown)}</td></tr>"
    )


def _value(check: Check) -> str:
    interval = f" <small>[{short(check.interval[0])}, {short(check.interval[1])}]</small>" if check.interval else ""
    cells = f"<br><small>{check.cells[0]} of {check.cells[1]} cells count</small>" if check.cells else ""
    value = "not reached" if math.isnan(check.value) else short(check.value)
    return f"{value}{interval}{cells}"


def _opponent(opponent: Opponent, check: Check) -> str:
    value = "never gets there" if opponent.value is None else short(opponent.value)
    style, outcome = ("hl-holds", "✓ fails, as it must") if opponent.fails else ("hl-idle", "passes too")
    if check.cells is not None:
        style = "hl-holds" if check.cells[0] else "hl-idle"
        outcome = "✓ fails in every cell that counts" if check.cells[0] else "no cell in which all opponents fail"
    return (
        f"<tr class='hl-below {style}'><td><span class='hl-tag'>opponent</span> "
        f"{maths(opponent.name)}</td><td data-label='ours'>{value}</td><td data-label='bound'>as above</td>"
        f"<td data-label='outcome'>{outcome}</td></tr>"
    )


def _outcome(check: Check) -> str:
    if check.breaks:
        return "✓ fails, as it must" if check.holds else "✗ does not fail"
    if check.restores:
        return "✓ holds, as it must" if check.holds else "✗ still fails"
    if _idle(check):
        return "without power: decides nothing"
    return ("✓ holds" + (", loosely" if check.loose else "")) if check.holds else "✗ does not hold here"


def _idle(check: Check) -> bool:
    """Whether a check of the statement decides nothing, because anything passes it: no failure, and no success."""
    return check.kind == "check" and check.role == "statement" and not decides(check)


def _seeds(name: str, shown: Shown) -> str:
    return f"<br><small>{shown.seeds[name]} seeds</small>" if name in shown.seeds else ""
