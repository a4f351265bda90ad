"""The pages that are made from registry and records, never typed: ledger, errata, opponents, gallery, status."""

import base64
import html
import io
import re
from datetime import UTC, datetime
from typing import Any

from docutils.nodes import make_id
from nbformat import NotebookNode
from PIL import Image

from hierlib.files import atomic_write, write_text
from hierlib.lab.layout import CLASSES, erratum_text
from hierlib.lab.ledger import ledger
from hierlib.lab.markup import maths, plain
from hierlib.lab.opponents import opponents
from hierlib.lab.project import Project
from hierlib.lab.registry import Paper
from hierlib.lab.state import State

WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"
THUMBNAIL = 480  # pixels
ERRATA = """# Errata

Where a paper prints something that is not right, with the place on the page that shows it. Only what was put to a test is
printed here. A statement that is **false as printed** fails inside its own hypotheses; a **gap** is a step of a proof that
does not follow; both say what becomes of what rests on them. The rest is of no consequence: misprints, remarks, and what may
be a fault of our transcription, which is an extraction from a PDF.
"""


def write(
    project: Project, registry: dict[str, Paper], states: list[State], executed: dict[str, NotebookNode | None]
) -> None:
    """Write all five below `book/`."""
    by_page = {state.page.id: state for state in states}
    profile = states[0].job.profile if states else "quick"
    book = project.root / "book"
    write_text(book / "ledger.md", ledger(registry, by_page, profile))
    write_text(book / "errata.md", errata(registry))
    write_text(book / "opponents.md", opponents(registry, by_page))
    write_text(book / "status.md", status(states))
    write_text(book / "gallery.md", gallery(project, by_page, executed))


def errata(registry: dict[str, Paper]) -> str:
    """What is printed and not right, with a link to the place `(<paper>-<erratum>)=` on the page that shows it."""
    tested = [(paper, paper.tested_errata()) for paper in registry.values() if paper.tested_errata()]
    papers = "".join(f"<option value='{paper.slug}'>{html.escape(paper.short)}</option>" for paper, _ in tested)
    kinds = {erratum.class_ for _, entries in tested for erratum in entries}
    classes = "".join(f"<option value='{kind}'>{words}</option>" for kind, words in CLASSES.items() if kind in kinds)
    parts = [
        ERRATA,
        "\n```{raw} html\n<form class='hl-filter' data-what='errata' role='search' onsubmit='return false'>"
        "<label>Search <input type='search' name='words'></label>"
        f"<label>Paper <select name='paper'><option value=''>all</option>{papers}</select></label>"
        f"<label>Class <select name='class'><option value=''>all</option>{classes}</select></label>"
        "<output></output></form>\n```\n",
    ]
    for paper, entries in tested:
        parts.append(f"\n## {plain(paper.title)}\n\n{plain(paper.authors)}, {paper.year} {{cite:p}}`{paper.cite}`\n")
        for erratum in entries:
            marks = f"hl-erratum hl-paper-{paper.slug} hl-class-{erratum.class_}"
            about = paper.entry(erratum.claim)
            parts.append(f"\n````{{div}} {marks}\n{erratum_text(paper, erratum)} About {plain(about.title)}.\n````\n")
    return "".join(parts)


def status(states: list[State]) -> str:
    """When, where and with what every number was made, and on which seeds it was accepted."""
    made = [(s.record, s.record.profile, s) for s in states if s.record]
    made += [(k.record, k.profile, None) for s in states for k in s.kept]  # type: ignore[misc]
    if not made:
        return "# Status\n\nNo page has been run yet.\n"
    oldest = min(datetime.fromisoformat(r.started) for r, _, _ in made)
    age = datetime.now(UTC) - oldest
    versions = ", ".join(f"{name} {number}" for name, number in made[0][0].versions.items())
    shown = f"{age.days} days" if age.days else f"{age.seconds // 3600} h {age.seconds % 3600 // 60} min"
    stale = [s.page.id for s in states if s.acceptance and not s.acceptance.current]
    lines = [
        f"{WIDE}# Status\n\n",
        f"{len(made)} runs with {plain(versions)}. The oldest number in this book was {shown} old when it was built. ",
        f"Accepted with earlier code, to be renewed before a release: {', '.join(stale) or 'none'}.\n\n",
        "```{table}\n:class: hl-small\n\n",
        "| page | profile | verdicts | accepted | run at (UTC) | seconds | peak MB | threads | device | seed | commit |\n",
        "|---" * 11 + "|\n",
    ]
    for r, profile, state in made:
        verdicts = ", ".join(f"{claim}: {verdict}" for claim, verdict in r.verdicts.items())
        when, commit = r.started[:16].replace("T", " "), f"`{r.commit[:7]}`" if r.commit else "–"
        accepted = state.acceptance if state else None
        seeds = "–" if accepted is None else ", ".join(map(str, accepted.numbers.seeds))
        values = [f"[{r.page}](../notebooks/{r.page}.ipynb)", profile, verdicts, seeds, when, f"{r.seconds:.1f}"]
        values += [str(r.peak_mb), str(r.threads), plain(r.device), str(r.parameters["seed"]), commit]
        lines.append("| " + " | ".join(values) + " |\n")
    return "".join(lines) + "```\n"


def gallery(project: Project, states: dict[str, State], executed: dict[str, NotebookNode | None]) -> str:
    """One thumbnail per figure, under the question of its page, linked to the figure."""
    cards = []
    for page, notebook in executed.items():
        question = html.escape(title_of(states[page]))
        for cell in notebook.cells if notebook else []:
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            images = [o["data"]["image/png"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
            if figure.get("name") and images:
                name = figure["name"]
                with atomic_write(project.root / "book" / "_static" / "thumbs" / f"{name}.png") as file:
                    thumbnail(images[0], file)
                alt = html.escape(cell.metadata["mystnb"].get("image", {}).get("alt", "") or question, quote=True)
                caption = html.escape(re.sub(r"\s+", " ", figure.get("caption", "")).split(". ")[0].strip(" .") + ".")
                image = f"<img loading='lazy' alt='{alt}' src='../_static/thumbs/{name}.png'>"
                text = f"<span><b>{question}</b><br>{maths(caption, escaped=True)}</span>"
                cards.append(f"<a class='hl-card' href='../notebooks/{page}.html#{make_id(name)}'>{image}{text}</a>\n")
    body = "".join(cards) or "<p>No page has been run yet.</p>"
    return f"""{WIDE}# Gallery

Every figure of the book; a click leads to the page that makes it.

```{{raw}} html
<div class="hl-gallery tex2jax_process mathjax_process">
{body}</div>
```
"""


def title_of(state: State) -> str:
    """The question that a page asks."""
    found = re.search(r"^# (.+)$", state.page.text, re.MULTILINE)
    return found[1] if found else state.page.id


def thumbnail(png: str, file: Any) -> None:
    image = Image.open(io.BytesIO(base64.b64decode(png)))
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    image.save(file, "PNG", optimize=True)
