"""The pages that are made from registry and records, never typed: ledger, gallery, errata, status."""

import base64
import html
import io
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any, NamedTuple

from nbformat import NotebookNode
from PIL import Image

from hierlib.files import atomic_write, write_text
from hierlib.lab.job import Job
from hierlib.lab.project import Project
from hierlib.lab.record import Record
from hierlib.lab.registry import Entry, Paper
from hierlib.lab.store import stored_record

WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"
THUMBNAIL = 480  # pixels
VERDICTS = ("holds", "partly", "refuted", "undecided")
OUTCOMES = (*VERDICTS, "not run", "not yet tested", "cannot be tested")
ERRATA = """# Errata

Where a paper prints something that is not right, or that we could not reproduce as printed. Entries whose claim has no
page yet are readings that still have to be put to a test; they are marked so.
"""


class Kept(NamedTuple):
    """The committed record of a full-size run, and whether the present code would give its numbers."""

    record: Record
    current: bool

    @property
    def profile(self) -> str:
        return self.record.profile + ("" if self.current else " (earlier code)")


Records = dict[str, Record | None]


def write(
    project: Project,
    registry: dict[str, Paper],
    jobs: list[Job],
    executed: dict[str, NotebookNode | None],
    kept: dict[str, Kept],
) -> None:
    """Write all four below `book/`. `kept` holds the committed records of full-size runs, by page."""
    records = {job.page: stored_record(project, job) for job in jobs}
    profile = jobs[0].profile if jobs else "quick"
    book = project.root / "book"
    write_text(book / "ledger.md", ledger(registry, records, kept, profile))
    write_text(book / "errata.md", errata(registry, records))
    write_text(book / "status.md", status(records, kept))
    write_text(book / "gallery.md", gallery(project, executed))


def ledger(registry: dict[str, Paper], records: Records, kept: dict[str, Kept], profile: str) -> str:
    """Every registered claim with its verdict, the tightest measurement and its margin."""
    rows: list[str] = []
    found: dict[str, Counter[str]] = {}
    for paper in registry.values():
        found[paper.slug] = Counter()
        for entry in paper.claims:
            page = f"{paper.slug}/{entry.page}" if entry.page else ""
            row, verdict = _ledger_row(paper, entry, page, records.get(page), kept.get(page))
            rows.append(row)
            if not entry.ours:
                found[paper.slug][verdict] += 1
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
        link = f"[{_plain(paper.title)}](https://arxiv.org/abs/{_plain(paper.arxiv)})"
        numbers = " | ".join(str(found[slug][word] or "") for word in shown)
        lines.append(f"| {link}, {paper.year} | {found[slug].total()} | {numbers} |")
    return "\n".join([*lines, "```", ""])


def _ledger_row(paper: Paper, entry: Entry, page: str, record: Record | None, kept: Kept | None) -> tuple[str, str]:
    name = html.escape(f"{paper.slug}/{entry.id}")
    link = f"<a href='../notebooks/{page}.html'>{name}</a>" if page else name
    verdict, cells, why = "not yet tested", ["", "", "", "", ""], ""
    if entry.untestable:
        verdict, why = "cannot be tested", f"<br><small>{_maths(entry.untestable)}</small>"
    elif page and record is None:
        verdict = "not run"
    elif page and record:
        verdict = record.verdicts.get(entry.id, "not run")
        judged = [check for check in record.checks if entry.id in check.of and check.kind != "control"]
        if judged:
            tight = min(judged, key=lambda check: check.margin)
            cells[:3] = [
                f"<code>{html.escape(tight.name)}</code> = {tight.value:.3g} {html.escape(tight.statement())}",
                "" if tight.paper is None else f"{tight.paper:.3g}",
                f"{100 * tight.margin:.0f}&nbsp;%",
            ]
        cells[3:] = [
            html.escape(", ".join([record.profile, *([kept.profile] if kept else [])])),
            f"{record.seconds:.0f}&nbsp;s",
        ]
    place = f"<small>{html.escape(entry.kind)}, {_maths(entry.place)}</small>"
    columns = [
        f"{link}<br>{place}",
        f"{_maths(entry.says)}{why}",
        f"<span class='hl-{verdict.split()[0]}'>{verdict}</span>",
        *cells,
    ]
    row = f"<tr data-paper='{paper.slug}' data-verdict='{verdict}'>" + "".join(f"<td>{c}</td>" for c in columns) + "</tr>\n"
    return row, verdict


def errata(registry: dict[str, Paper], records: Records) -> str:
    """What is printed and not right, with a link to the place `(<paper>-<erratum>)=` on the page that shows it."""
    parts = [ERRATA]
    for paper in registry.values():
        if not paper.errata:
            continue
        parts.append(f"\n## {_plain(paper.title)}\n\n{_plain(paper.authors)}, {paper.year} {{cite:p}}`{paper.cite}`\n")
        for erratum in paper.errata:
            page = f"{paper.slug}/{paper.entry(erratum.claim).page}"
            evidence = "Not yet put to a test."
            if record := records.get(page):
                verdict = record.verdicts.get(erratum.claim, "not run")
                evidence = f"Evidence: {{ref}}`{page} <{paper.slug}-{erratum.id.lower()}>`, verdict *{verdict}*."
            printed, correct, why, effect, place = map(
                _plain, (erratum.printed, erratum.correct, erratum.why, erratum.effect, erratum.place)
            )
            parts.append(
                f"\n**{erratum.id}. {place}** (`{paper.slug}/{erratum.claim}`)\n"
                f": *Printed*: {printed}\n\n  *Should be*: {correct}\n\n"
                f"  {why} *{effect}* {evidence}\n"
            )
    return "".join(parts)


def status(records: Records, kept: dict[str, Kept]) -> str:
    """When, where and with what every number was made."""
    made = [(r, r.profile) for r in records.values() if r] + [(k.record, k.profile) for k in kept.values()]
    if not made:
        return "# Status\n\nNo page has been run yet.\n"
    oldest = min(datetime.fromisoformat(r.started) for r, _ in made)
    age = datetime.now(UTC) - oldest
    versions = ", ".join(f"{name} {number}" for name, number in made[0][0].versions.items())
    shown = f"{age.days} days" if age.days else f"{age.seconds // 3600} h {age.seconds % 3600 // 60} min"
    lines = [
        f"{WIDE}# Status\n\n",
        f"{len(made)} runs with {_plain(versions)}. The oldest number in this book was {shown} old when it was built.\n\n",
        "```{table}\n:class: hl-small\n\n",
        "| page | profile | verdicts | run at (UTC) | seconds | peak MB | threads | device | seed | commit |\n",
        "|---|---|---|---|---|---|---|---|---|---|\n",
    ]
    for r, profile in made:
        verdicts = ", ".join(f"{claim}: {verdict}" for claim, verdict in r.verdicts.items())
        when, commit = r.started[:16].replace("T", " "), f"`{r.commit[:7]}`" if r.commit else "–"
        values = [f"[{r.page}](../notebooks/{r.page}.ipynb)", profile, verdicts, when, f"{r.seconds:.1f}"]
        values += [str(r.peak_mb), str(r.threads), _plain(r.device), str(r.parameters["seed"]), commit]
        lines.append("| " + " | ".join(values) + " |\n")
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
                with atomic_write(project.root / "book" / "_static" / "thumbs" / f"{name}.png") as file:
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


def _plain(text: str) -> str:
    """Text for a Markdown page, in which only formulas keep their `<`: a registry or a record may come from elsewhere."""
    return re.sub(r"\$[^$]+\$|<", lambda found: "&lt;" if found[0] == "<" else found[0], text)
