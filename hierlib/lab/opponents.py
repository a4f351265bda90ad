"""The appendix "Why you should believe a page": every check of a statement with the opponents that fail the same line."""

import html
from collections.abc import Sequence

from hierlib.lab.markup import maths
from hierlib.lab.record import Check, Opponent, short
from hierlib.lab.registry import Paper
from hierlib.lab.state import State
from hierlib.lab.verdicts import decides

COLUMNS = ("claim", "what must hold", "ours", "who goes through the same line", "without a hypothesis")
OUTCOMES = ("holds", "fails", "without power")


def opponents(registry: dict[str, Paper], states: dict[str, State]) -> str:
    """The page as Markdown, from the records that the book shows."""
    rows, found = [], dict.fromkeys(OUTCOMES, 0)
    for page, state in states.items():
        checks = state.record.checks if state.record else []
        for check in checks:
            if check.kind == "check" and check.role == "statement":
                outcome = _outcome(check)
                found[outcome] += 1
                rows.append(_row(registry[page.partition("/")[0]], page, check, outcome, checks))
    papers = "".join(f"<option value='{slug}'>{html.escape(paper.short)}</option>" for slug, paper in registry.items())
    words = "".join(f"<option>{word}</option>" for word in OUTCOMES if found[word])
    head = "".join(f"<th scope='col'><button type='button'>{name}</button></th>" for name in COLUMNS)
    return f"""---
html_theme.sidebar_secondary.remove: true
---
# Why you should believe a page

A check that anything passes proves nothing. So every check has *opponents*: objects without the thing that the claim is
about, and as good as possible otherwise. They go through the same line of code as what is tested. A check that holds counts
for a verdict only if all of its opponents fail; where it is a matter of cells (tasks, sizes, draws), only cells in which all
of them fail are counted. A check that fails needs no opponent: it lowers the verdict as it is.

{found["holds"]} checks hold against their opponents, {found["fails"]} fail, and {found["without power"]} hold without power:
some opponent passes too, so they decide nothing. Numbers are those that the pages show.

```{{raw}} html
<form class="hl-filter" data-what="checks" role="search" onsubmit="return false">
<label>Search <input type="search" name="words" placeholder="e.g. frozen, constant, Theorem 4.1"></label>
<label>Paper <select name="paper"><option value="">all</option>{papers}</select></label>
<label>Outcome <select name="outcome"><option value="">all</option>{words}</select></label>
<output>{len(rows)} checks</output>
</form>
<div class="hl-cards" tabindex="0"><table id="hl-opponents" class="hl-filtered hl-lazy tex2jax_ignore mathjax_ignore">
<thead><tr>{head}</tr></thead><tbody>
{"".join(rows)}</tbody></table></div>
```
"""


def _outcome(check: Check) -> str:
    if not decides(check):
        return "without power"
    return "holds" if check.holds else "fails"


def _row(paper: Paper, page: str, check: Check, outcome: str, checks: Sequence[Check]) -> str:
    titles = ", ".join(html.escape(paper.entry(claim).title) for claim in check.of)
    counted = f"<br>{check.cells[0]} of {check.cells[1]} cells count" if check.cells else ""
    controls = [c for c in checks if c.kind == "control" and check.name in (c.breaks, c.restores)]
    cells = [
        f"<a href='../notebooks/{page}.html'>{titles}</a><br><small><code>{html.escape(check.name)}</code></small>",
        maths(check.says),
        f"{short(check.value)}<br><small>must be {html.escape(check.statement())}{counted}<br>{outcome}</small>",
        "<br>".join(_opponent(opponent) for opponent in check.opponents) or "–",
        "<br>".join(f"{maths(control.removes)}: {short(control.value)}" for control in controls),
    ]
    shown = "".join(f"<td data-label='{name}'>{cell}</td>" for name, cell in zip(COLUMNS, cells, strict=True))
    return f"<tr data-paper='{paper.slug}' data-outcome='{outcome}'>{shown}</tr>\n"


def _opponent(opponent: Opponent) -> str:
    value = "never gets there" if opponent.value is None else short(opponent.value)
    return f"{maths(opponent.name)}: {value}" + ("" if opponent.fails else " <small>passes</small>")
