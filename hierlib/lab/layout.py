"""What is put into a page when it is rendered, because a single run does not know it.

The answer box below the title, the name and the hypotheses of each claim for its box, the verdict table with seeds and
other sizes, warnings about what the printed proof rests on, and the errata of the page. The pair of a page stays the exact
pair of its text: all this travels in the notebook's metadata (`hier_parts`), and the Sphinx extension `book/_ext/pages.py`
puts it in place.
"""

import html
from typing import Any

from hierlib.lab import tables
from hierlib.lab.markup import plain
from hierlib.lab.page import Page
from hierlib.lab.record import Record
from hierlib.lab.registry import Erratum, Paper
from hierlib.lab.state import State

CLASSES = {
    "false": "false as printed",
    "gap": "gap in a proof",
    "slip": "misprint",
    "reading": "in our transcription",
    "remark": "remark",
}


def parts(state: State, paper: Paper) -> dict[str, Any]:
    """All generated parts of one page."""
    page, record = state.page, state.record
    titles = {claim: paper.entry(claim).title for claim in page.claims}
    found: dict[str, Any] = {
        "run": run_line(state),
        "answer": answer_box(state, paper),
        "claims": {
            claim: {
                "label": f"{paper.slug}-{claim}".lower(),
                "title": titles[claim] + ("" if paper.entry(claim).ours else f", {paper.short}"),
                "index": paper.entry(claim).number,
                "kind": paper.entry(claim).kind,
                "hypotheses": tables.hypotheses([h for h in record.hypotheses if claim in h.of]) if record else "",
            }
            for claim in page.claims
        },
        "errata": errata_box(page, paper),
        "verdict": "",
    }
    if record:
        made = f"profile {record.profile}, seed {record.parameters['seed']}, {record.device}, "
        made += ", ".join(f"{name} {number}" for name, number in record.versions.items())
        sizes = {k.profile: {check.name: check for check in k.record.checks} for k in state.kept}
        found["verdict"] = tables.checks(record.checks, state.verdicts, tables.Shown(made, titles, state.seeds, sizes))
    return found


def run_line(state: State) -> str:
    """How the page was run, or that it was not."""
    job = state.job
    if state.record is None:
        absent = f"This page has not been run at profile {job.profile} with the present code: it shows no numbers."
        return f"```{{warning}}\n{absent}\n```"
    settings = ", ".join(f"{name} = {value}" for name, value in job.parameters.items())
    return f"```{{div}} hl-run\nRun at profile **{job.profile}** with {settings}.\n```"


def answer_box(state: State, paper: Paper) -> str:
    """Verdicts as badges, the answer, the surprise; what the proof rests on; the size and the seeds behind it."""
    front = state.page.front
    badges = [_badge(paper.entry(c).title, word, state.seeds.get(c)) for c, word in state.verdicts.items()]
    lines = ["````{div} hl-answer", " ".join(badges), ""]
    if front.answer:
        lines += [f"**Answer.** {front.answer}", "", f"**But.** {front.surprise}", ""]
    lines += [f"{sentence}\n" for sentence in shaken(state.page, paper)]
    if state.record:
        lines += [f"<small>{_behind(state, state.record)}</small>", ""]
    return "\n".join([*lines, "````"])


def _badge(title: str, word: str, seeds: str | None) -> str:
    told = f" <small>{seeds} seeds</small>" if seeds else ""
    return f"<span class='hl-badge hl-{word}'>{html.escape(title, quote=False)} · <b>{word}</b>{told}</span>"


def _behind(state: State, record: Record) -> str:
    """The sizes and seeds behind the verdict, in a few words."""
    said = f"Numbers on this page: profile {record.profile}, seed {record.parameters['seed']}."
    if acceptance := state.acceptance:
        seeds = ", ".join(map(str, acceptance.numbers.seeds))
        said += f" Verdicts: over seeds {seeds}{'' if acceptance.current else ', accepted with earlier code'}."
    for k in state.kept:
        said += f" Also run at profile {k.profile}: {', '.join(sorted(set(k.record.verdicts.values())))}."
    return said


def shaken(page: Page, paper: Paper) -> list[str]:
    """What the printed proofs of the page's claims rest on although it is in doubt: one sentence, with what follows if it
    is one thing; if there are several, the errata say it."""
    broken = {claim: errata for claim, errata in paper.shaken().items() if claim in page.claims}
    errata = list({erratum.id: erratum for found in broken.values() for erratum in found}.values())
    if not errata:
        return []
    claims = [paper.entry(claim).title for claim in page.claims if claim in broken]
    named = [f"{paper.entry(e.claim).title} ({{ref}}`{e.id} <{paper.slug}-{e.id.lower()}>`)" for e in errata]
    what = "false as printed" if all(e.class_ == "false" for e in errata) else "false as printed or unproved"
    if len(errata) == 1:
        one = "which is false as printed" if errata[0].class_ == "false" else "which has a gap"
        return [
            f"**The printed proof of {' and of '.join(claims)} rests on** {named[0]}**, {one}.** {plain(errata[0].effect)}"
        ]
    return [f"**Printed proofs on this page ({', '.join(claims)}) rest on what is {what}:** {', '.join(named)}."]


def errata_box(page: Page, paper: Paper) -> str:
    """The errata of the page's claims, folded."""
    found = [erratum for erratum in paper.tested_errata() if erratum.claim in page.claims]
    if not found:
        return ""
    body = "\n\n".join(erratum_text(paper, erratum) for erratum in found)
    return f"````{{dropdown}} Errata on this page ({len(found)})\n{body}\n````"


def erratum_text(paper: Paper, erratum: Erratum) -> str:
    """One erratum as Markdown: what is printed, what it should be, why, and what follows."""
    printed, correct, why, effect, place = map(
        plain, (erratum.printed, erratum.correct, erratum.why, erratum.effect, erratum.place)
    )
    standing = f"; what rests on it is {erratum.standing}" if erratum.standing else ""
    kind = CLASSES[erratum.class_] if erratum.class_ else "not yet put to a test"
    return (
        f"**{erratum.id}. {place}** <span class='hl-tag'>{kind}{standing}</span>\n"
        f": *Printed*: {printed}\n\n  *Should be*: {correct}\n\n  {why} *{effect}* "
        f"Evidence: {{ref}}`on its page <{paper.slug}-{erratum.id.lower()}>`."
    )
