"""The pages that are made from registry and records, never typed: ledger, gallery, errata, status."""

import base64
import html
import io
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from nbformat import NotebookNode
from PIL import Image

from hierlib.files import arriving, write_text
from hierlib.lab.claim import Check
from hierlib.lab.job import Job
from hierlib.lab.project import Project
from hierlib.lab.record import stored_record
from hierlib.lab.registry import Entry, Paper

WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"
THUMBNAIL = 480  # pixels
VERDICTS = ("holds", "partly", "refuted", "undecided")
OUTCOMES = (*VERDICTS, "not run", "not yet tested", "cannot be tested")
ERRATA = """# Errata

Where a paper prints something that is not right, or that we could not reproduce as printed. Entries whose claim has no
page yet are readings that still have to be put to a test; they are marked so.
"""


def write(
    project: Project,
    registry: dict[str, Paper],
    jobs: list[Job],
    executed: dict[str, NotebookNode | None],
    kept: dict[str, dict[str, Any]],
) -> None:
    """Write all four below `book/`. `kept` holds the committed records of full-size runs, by page."""
    records = {job.page: stored_record(project, job) for job in jobs}
    profile = jobs[0].profile if jobs else "quick"
    book = project.root / "book"
    write_text(book / "ledger.md", ledger(registry, records, kept, profile))
    write_text(book / "errata.md", errata(registry, records))
    write_text(book / "status.md", status(records, kept))
    write_text(book / "gallery.md", gallery(project, executed))


def ledger(registry: dict[str, Paper], records: dict[str, Any], kept: dict[str, Any], profile: str) -> str:
    """Every registered claim with its verdict, the tightest measurement and its margin."""
    rows: list[str] = []
    found: dict[str, Counter[str]] = {}
    for paper in registry.values():
        found[paper.paper] = Counter()
        for entry in paper.claims:
            page = f"{paper.paper}/{entry.page}" if entry.page else ""
            row, verdict = _ledger_row(paper, entry, page, records.get(page), kept.get(page))
            rows.append(row)
            if not entry.ours:
                found[paper.paper][verdict] += 1
    counts: Counter[str] = sum(found.values(), Counter())
    total = counts.total()
    tested = sum(counts[word] for word in VERDICTS)
    papers = "".join(f"<option>{slug}</option>" for slug in registry)
    verdicts = "".join(f"<option>{word}</option>" for word in OUTCOMES if counts[word])
    head = "".join(
        f"<th><button type='button'>{name}</button></th>"
        for name in ("claim", "what it says", "verdict", "tightest check", "paper", "margin", "profile", "time")
    )
    return f"""{WIDE}# Ledger

Every claim of the five papers, tested or not: {tested} of {total} tested. Claims of our own that go beyond a paper are in
the table as well, but in no count.

{_coverage(registry, found)}
In the table below, a **margin** is the distance of the tightest check to its bound, in units of the bound; it is negative
where a claim does not hold. Click a column to sort, a claim to see its page. Numbers are those of profile *{profile}*;
*paper* in the column *profile* means that the paper's own sizes were run too.

```{{raw}} html
<form class="hl-filter" role="search" onsubmit="return false">
<label>Search <input type="search" id="hl-words" placeholder="e.g. dropout, Gram"></label>
<label>Paper <select id="hl-paper"><option value="">all</option>{papers}</select></label>
<label>Verdict <select id="hl-verdict"><option value="">all</option>{verdicts}</select></label>
<output id="hl-count">{len(rows)} claims</output>
</form>
<div class="hl-wide"><table id="hl-ledger" class="tex2jax_process mathjax_process"><thead><tr>{head}</tr></thead><tbody>
{"".join(rows)}</tbody></table></div>
```
"""


def profile_of(record: dict[str, Any]) -> str:
    """The profile of a run; a kept one says so when the code has moved on since."""
    return str(record["profile"]) + ("" if record.get("current", True) else " (earlier code)")


def _coverage(registry: dict[str, Paper], found: dict[str, Counter[str]]) -> str:
    """How far each paper is tested, as a table."""
    shown = [word for word in OUTCOMES if any(counts[word] for counts in found.values())]
    lines = [
        "```{table}",
        ":class: hl-small",
        "",
        f"| paper | claims | {' | '.join(shown)} |",
        "|---" * (len(shown) + 2) + "|",
    ]
    for slug, paper in registry.items():
        link = f"[{paper.title}](https://arxiv.org/abs/{paper.arxiv})"
        numbers = " | ".join(str(found[slug][word] or "") for word in shown)
        lines.append(f"| {link}, {paper.year} | {found[slug].total()} | {numbers} |")
    return "\n".join([*lines, "```", ""])


def _ledger_row(paper: Paper, entry: Entry, page: str, record: Any, kept: Any) -> tuple[str, str]:
    name = html.escape(f"{paper.paper}/{entry.id}")
    link = f"<a href='../notebooks/{page}.html'>{name}</a>" if page else name
    verdict, cells, why = "not yet tested", ["", "", "", "", ""], ""
    if entry.untestable:
        verdict, why = "cannot be tested", f"<br><small>{_maths(entry.untestable)}</small>"
    elif page and record is None:
        verdict = "not run"
    elif page:
        verdict = record["verdicts"][entry.id]
        tight = min(
            (c for c in record["checks"] if entry.id in c["of"] and c["kind"] != "control"), key=lambda c: c["margin"]
        )
        check = Check(**{key: value for key, value in tight.items() if key != "margin"})
        cells = [
            f"<code>{html.escape(check.name)}</code> = {check.value:.3g} {html.escape(check.statement())}",
            "" if check.paper is None else f"{check.paper:.3g}",
            f"{100 * tight['margin']:.0f}&nbsp;%",
            record["profile"] + ("" if kept is None else f", {profile_of(kept)}"),
            f"{record['seconds']:.0f}&nbsp;s",
        ]
    place = f"<small>{html.escape(entry.kind)}, {_maths(entry.place)}</small>"
    columns = [
        f"{link}<br>{place}",
        f"{_maths(entry.says)}{why}",
        f"<span class='hl-{verdict.split()[0]}'>{verdict}</span>",
        *cells,
    ]
    row = f"<tr data-paper='{paper.paper}' data-verdict='{verdict}'>" + "".join(f"<td>{c}</td>" for c in columns) + "</tr>\n"
    return row, verdict


def errata(registry: dict[str, Paper], records: dict[str, Any]) -> str:
    """What is printed and not right, with a link to the place `(<paper>-<erratum>)=` on the page that shows it."""
    parts = [ERRATA]
    for paper in registry.values():
        if not paper.errata:
            continue
        parts.append(f"\n## {paper.title}\n\n{paper.authors}, {paper.year} {{cite:p}}`{paper.cite}`\n")
        for erratum in paper.errata:
            page = f"{paper.paper}/{paper.entry(erratum.claim).page}"
            evidence = "Not yet put to a test."
            if records.get(page):
                verdict = records[page]["verdicts"][erratum.claim]
                evidence = f"Evidence: {{ref}}`{page} <{paper.paper}-{erratum.id.lower()}>`, verdict *{verdict}*."
            parts.append(
                f"\n**{erratum.id}. {erratum.place}** (`{paper.paper}/{erratum.claim}`)\n"
                f": *Printed*: {erratum.printed}\n\n  *Should be*: {erratum.correct}\n\n"
                f"  {erratum.why} *{erratum.effect}* {evidence}\n"
            )
    return "".join(parts)


def status(records: dict[str, Any], kept: dict[str, Any]) -> str:
    """When, where and with what every number was made."""
    made = [(page, r) for group in (records, kept) for page, r in group.items() if r is not None]
    if not made:
        return "# Status\n\nNo page has been run yet.\n"
    oldest = min(datetime.fromisoformat(r["started"]) for _, r in made)
    age = datetime.now(UTC) - oldest
    versions = ", ".join(f"{name} {number}" for name, number in made[0][1]["versions"].items())
    shown = f"{age.days} days" if age.days else f"{age.seconds // 3600} h {age.seconds % 3600 // 60} min"
    lines = [
        f"{WIDE}# Status\n\n",
        f"{len(made)} runs with {versions}. The oldest number in this book was {shown} old when it was built.\n\n",
        "```{table}\n:class: hl-small\n\n",
        "| page | profile | verdicts | run at (UTC) | seconds | peak MB | threads | device | seed | commit |\n",
        "|---|---|---|---|---|---|---|---|---|---|\n",
    ]
    for page, r in made:
        verdicts = ", ".join(f"{claim}: {verdict}" for claim, verdict in r["verdicts"].items())
        when, commit = r["started"][:16].replace("T", " "), f"`{r['commit'][:7]}`" if r["commit"] else "–"
        values = [f"[{page}](../notebooks/{page}.ipynb)", profile_of(r), verdicts, when, f"{r['seconds']:.1f}"]
        values += [r["peak_mb"], r["threads"], r["device"], r["parameters"]["seed"], commit]
        lines.append("| " + " | ".join(map(str, values)) + " |\n")
    return "".join(lines) + "```\n"


def gallery(project: Project, executed: dict[str, NotebookNode | None]) -> str:
    """One thumbnail per figure, linked to the figure."""
    cards = []
    for page, notebook in executed.items():
        for cell in notebook.cells if notebook else []:
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            images = [o["data"]["image/png"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
            if figure.get("name") and images:
                name = figure["name"]
                with arriving(project.root / "book" / "_static" / "thumbs" / f"{name}.png") as file:
                    thumbnail(images[0], file)
                caption = html.escape(re.sub(r"\s+", " ", figure.get("caption", "")).split(". ")[0].strip(" .") + ".")
                cards.append(
                    f"<a class='hl-card' href='../notebooks/{page}.html#{name}'><img loading='lazy' alt='Figure of {page}' "
                    f"src='../_static/thumbs/{name}.png'><span><b>{page}</b><br>{_maths(caption, escaped=True)}</span></a>\n"
                )
    body = "".join(cards) or "<p>No page has been run yet.</p>"
    return f"""{WIDE}# Gallery

Every figure of the book; a click leads to the page that makes it.

```{{raw}} html
<div class="hl-gallery tex2jax_process mathjax_process">
{body}</div>
```
"""


def thumbnail(png: str, file: Any) -> None:
    image = Image.open(io.BytesIO(base64.b64decode(png)))
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    image.save(file, "PNG", optimize=True)


def _maths(text: str, escaped: bool = False) -> str:
    """Text with $maths$ for a raw HTML cell, where MathJax looks for \\( and \\)."""
    safe = text if escaped else html.escape(text, quote=False)
    return re.sub(r"\$([^$]+)\$", r"\\(\1\\)", safe)
