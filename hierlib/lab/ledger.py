"""The ledger: every registered claim with its verdict, the check that comes nearest to its bound, and full-size runs."""

import html
import math
from collections import Counter
from typing import NamedTuple

from hierlib.lab.markup import maths, plain
from hierlib.lab.record import Check, Record, short
from hierlib.lab.registry import Entry, Paper
from hierlib.lab.state import State
from hierlib.lab.verdicts import decides

VERDICTS = ("holds", "consistent", "partly", "refuted", "open", "undecided")
OUTCOMES = (*VERDICTS, "not run", "not yet tested")
COLUMNS = ("claim", "verdict", "what it says", "nearest check", "at other sizes", "time")


class Row(NamedTuple):
    """One claim: the word that is found for it, and its cells as HTML."""

    paper: str
    tested: bool
    word: str
    cells: list[str]


def ledger(registry: dict[str, Paper], states: dict[str, State], profile: str) -> str:
    """The page as Markdown."""
    rows = [row_of(paper, entry, states) for paper in registry.values() for entry in paper.claims]
    found = coverage(registry, states)
    counts: Counter[str] = sum(found.values(), Counter())
    tested = sum(counts[word] for word in VERDICTS)
    papers = "".join(f"<option value='{slug}'>{html.escape(paper.short)}</option>" for slug, paper in registry.items())
    words = "".join(f"<option>{word}</option>" for word in OUTCOMES if any(row.word == word for row in rows))
    head = "".join(f"<th scope='col'><button type='button'>{name}</button></th>" for name in COLUMNS)
    body = "".join(
        f"<tr data-paper='{row.paper}' data-verdict='{row.word}' data-tested='{'yes' if row.tested else 'no'}'>"
        + "".join(f"<td data-label='{name}'>{cell}</td>" for name, cell in zip(COLUMNS, row.cells, strict=True))
        + "</tr>\n"
        for row in rows
    )
    return f"""---
html_theme.sidebar_secondary.remove: true
---
# Ledger

Every claim of the five papers with its verdict: {tested} of {counts.total()} are tested so far. Claims of our own that go
beyond a paper are in the table as well, but in no count. [How to read a page](reading.md) says what the words mean.

{coverage_table(registry, found)}
Numbers are those of profile *{profile}*, verdicts are over all accepted seeds. The nearest check is the one that comes
closest to its bound, or that misses it furthest. Click a column to sort, a claim to see its page.

```{{raw}} html
<form class="hl-filter" data-what="claims" role="search" onsubmit="return false">
<label>Search <input type="search" name="words" placeholder="e.g. eigenvector, Theorem 4.1"></label>
<label>Paper <select name="paper"><option value="">all</option>{papers}</select></label>
<label>Verdict <select name="verdict"><option value="">all</option>{words}</select></label>
<label>Show <select name="tested"><option value="yes">tested</option><option value="">all claims</option></select></label>
<output>{len(rows)} claims</output>
</form>
<div class="hl-cards" tabindex="0"><table id="hl-ledger" class="hl-filtered hl-lazy tex2jax_ignore mathjax_ignore">
<thead><tr>{head}</tr></thead><tbody>
{body}</tbody></table></div>
```
"""


def coverage(registry: dict[str, Paper], states: dict[str, State]) -> dict[str, Counter[str]]:
    """For every paper, how many of its own claims came out with which word."""
    return {
        paper.slug: Counter(word_of(paper, entry, states) for entry in paper.claims if not entry.ours)
        for paper in registry.values()
    }


def coverage_table(registry: dict[str, Paper], found: dict[str, Counter[str]]) -> str:
    """How far each paper is tested, as a table in Markdown."""
    shown = [word for word in OUTCOMES if any(counts[word] for counts in found.values())]
    lines = ["```{table}", ":class: hl-small", ""]
    lines += [f"| paper | claims | {' | '.join(shown)} |", "|---" * (len(shown) + 2) + "|"]
    for slug, paper in registry.items():
        link = f"[{plain(paper.title)}](https://arxiv.org/abs/{plain(paper.arxiv)})"
        numbers = " | ".join(str(found[slug][word] or "") for word in shown)
        lines.append(f"| {link}, {paper.year} | {found[slug].total()} | {numbers} |")
    return "\n".join([*lines, "```", ""])


def word_of(paper: Paper, entry: Entry, states: dict[str, State]) -> str:
    """The verdict of a claim, or why there is none."""
    if entry.untestable:
        return "open"
    if entry.page is None:
        return "not yet tested"
    return states[f"{paper.slug}/{entry.page}"].verdicts.get(entry.id, "not run")


def row_of(paper: Paper, entry: Entry, states: dict[str, State]) -> Row:
    page, word = f"{paper.slug}/{entry.page}", word_of(paper, entry, states)
    state = states.get(page) if entry.page else None
    title = f"{html.escape(entry.title)}<br><small>{paper.short if not entry.ours else paper.slug}</small>"
    named = f"<a href='../notebooks/{page}.html'>{title}</a>" if state else title
    place = f"<br><small><code>{paper.slug}/{entry.id}</code></small>"
    why = f"<br><small>{maths(entry.untestable)}</small>" if entry.untestable else ""
    check = sizes = time = ""
    if state and state.record:
        tight = nearest_check(state.record, entry.id)
        check = _shown(tight) if tight else ""
        sizes = "<br>".join(f"{html.escape(k.profile)}: {_at(k.record, entry.id, tight)}" for k in state.kept)
        time = f"{state.record.seconds:.0f}&nbsp;s"
    cells = [f"{named}{place}", _verdict(word, entry.id, state), f"{maths(entry.says)}{why}", check, sizes, time]
    return Row(paper.slug, word in VERDICTS, word, cells)


def _verdict(word: str, claim: str, state: State | None) -> str:
    said = [f"{state.seeds[claim]} seeds"] if state and claim in state.seeds else []
    if state and state.acceptance and not state.acceptance.current:
        said.append("earlier code")
    return f"<span class='hl-{word.split()[0]}'>{word}</span>" + "".join(f"<br><small>{line}</small>" for line in said)


def nearest_check(record: Record, claim: str) -> Check | None:
    """The deciding check with the least room, if there is any."""
    judged = [check for check in record.checks if claim in check.of and decides(check)]
    return min(judged, key=lambda check: -math.inf if math.isnan(check.margin) else check.margin, default=None)


def _at(record: Record, claim: str, check: Check | None) -> str:
    """What a run at another size says of a claim, with its number for the same check."""
    same = next((c for c in record.checks if check and c.name == check.name), None)
    return record.verdicts.get(claim, "–") + (f" <small>({short(same.value)})</small>" if same else "")


def _shown(check: Check) -> str:
    """The sentence of a check, our number and the bound."""
    return f"{maths(check.says)}<br><small>{short(check.value)}, must be {html.escape(check.statement())}</small>"
