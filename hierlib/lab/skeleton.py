"""Skeletons: of a page, from the registry; and of a paper, with registry, opening page and a first page that runs."""

import re
from pathlib import Path

from hierlib.files import write_text
from hierlib.lab.project import Project, UserError, nearest
from hierlib.lab.registry import Entry, Paper, parse

PAGE = """\
---
jupytext: {{formats: "md:myst,ipynb"}}
kernelspec: {{name: python3, display_name: Python 3, language: python}}
hier:
  answer: One sentence that answers the question.
  surprise: One sentence with the biggest surprise or caveat.
  smoke: {{n: 10}}
  paper: {{n: 10000}}
---
# Ask the question this page answers?

Why a reader should care, in two or three sentences of plain words {{cite:p}}`{key}`.

```{{code-cell}} ipython3
:tags: [parameters, hide-input]
seed: int = 0        # every random draw follows from it [0..]
n: int = 100         # training samples [2..]
```

```{{code-cell}} ipython3
:tags: [hide-input]
from hierlib.lab.claim import Claim
from hierlib.figures.data_link import publish
from hierlib.figures.style import panels

claim = Claim("{page}")
measured = predicted = untrained = without_it = float("nan")
```

```{{code-cell}} ipython3
---
tags: [hide-input]
mystnb:
  figure:
    name: fig-{label}
    caption: Say what to see.
  image:
    alt: What is seen, for somebody who cannot see it.
---
fig, ax = panels(1)
ax.plot([0, n], [0, n], label="predicted")
publish(fig, "{name}")
```

```{{claim}} {name}
{says}
```

**What we measure.** Name the quantity, what the claim predicts for it, and what would falsify the claim.

One sentence on the next cell: which hypotheses are met, which check decides, who must fail it.

```{{code-cell}} ipython3
claim.assume("samples", "$n$ large enough", here=n, met=False, because="the paper does not state the constant")
claim.check("deviation", abs(measured - predicted), says="Measurement and prediction agree", at_most=0.05,
            source="choice", because="say why", opponents={{"an untrained network": untrained}})
claim.control("deviation_without_it", without_it, breaks="deviation", removes="name the hypothesis")
claim.close()
```

## Where it breaks

What the constants, the hypotheses or the small scale hide; what the authors would reply.

## Exercises

1. `hier run {page} -p n=200`. What changes? *Expect: say what.*
"""

REGISTRY = """\
slug: {slug}
part: {part}
title: "{title}"
authors: "{authors}"
year: {year}
arxiv: "{arxiv}"
cite: {cite}
summary: >-
  One or two sentences on what the paper says.

claims:
  - id: thm1
    kind: theorem
    place: Theorem 1
    says: What it says, in one line; formulas like $a \\le b$ between dollar signs.
    priority: A
    expected: holds
    page: thm1
"""

OPENER = """\
# {title}

*{authors}, {year}* {{cite:p}}`{cite}`

What the paper is about, in plain words; its network as a drawing; which page to read first.
"""

CITATION = """
@article{{{cite},
  title = {{{title}}},
  author = {{{bib_authors}}},
  journal = {{arXiv preprint arXiv:{arxiv}}},
  year = {{{year}}},
}}
"""

CONTENTS = """\
  - caption: "{roman}. {title}"
    chapters:
      - file: book/{slug}
        sections:
          - file: notebooks/{slug}/thm1
"""

LAST_PART = "  - caption: Together\n"  # the new part goes before it


def page_text(paper: Paper, entry: Entry, name: str) -> str:
    """A page that runs at once and whose check fails until it is written."""
    return PAGE.format(
        key=paper.cite,
        label=f"{paper.slug}-{name}".replace(".", "-").lower(),
        says=entry.says,
        page=f"{paper.slug}/{name}",
        name=name,
    )


def write_page(project: Project, registry: dict[str, Paper], claim: str) -> Path:
    """Write `notebooks/<paper>/<claim>.md` for a registered claim; an existing page is never touched."""
    slug, _, name = claim.partition("/")
    names = [f"{paper.slug}/{entry.id}" for paper in registry.values() for entry in paper.claims]
    if claim not in names:
        raise UserError(f"there is no claim {claim!r}; {nearest(claim, names, 'claims')}")
    entry = registry[slug].entry(name)
    path = project.notebooks / slug / f"{name}.md"
    if entry.page or path.exists():
        raise UserError(f"{claim} has a page already: {project.relative(project.notebooks / slug)}/{entry.page or name}.md")
    write_text(path, page_text(registry[slug], entry, name))
    return path


def write_paper(
    project: Project, registry: dict[str, Paper], slug: str, title: str, authors: str, year: int, arxiv: str
) -> list[Path]:
    """Add a paper to the book; returns the files that were written, the registry last, which makes them count."""
    if not re.fullmatch("[a-z0-9][a-z0-9-]*", slug):
        raise UserError(f"{slug!r} cannot be the short name of a paper: lower-case letters, digits and hyphens are allowed")
    if slug in registry:
        raise UserError(f"there is a paper {slug!r} already; `hier list {slug}` shows its claims")
    if wrong := next((text for text in (title, authors, arxiv) if re.search(r'["\\\n{}]', text)), None):
        raise UserError(f"{wrong!r}: no quotation marks, braces or backslashes here; edit the files afterwards")
    toc, bibliography = project.root / "_toc.yml", project.root / "book" / "references.bib"
    part = max((paper.part for paper in registry.values()), default=0) + 1
    words = {"slug": slug, "part": part, "title": title, "authors": authors, "year": year, "arxiv": arxiv}
    words |= {"cite": f"{slug.replace('-', '')}{year}", "roman": _roman(part), "bib_authors": authors.replace(", ", " and ")}
    claims = project.claims / f"{slug}.yml"
    opener, page = project.root / "book" / f"{slug}.md", project.notebooks / slug / "thm1.md"
    for path in (claims, opener, page):
        if path.exists():
            raise UserError(f"{project.relative(path)} exists already, though no paper {slug!r} is registered")
    for path in (toc, bibliography):
        if not path.exists():
            raise UserError(f"there is no {project.relative(path)} to add the paper to")
    contents, before, after = toc.read_text().partition(LAST_PART)
    text = REGISTRY.format(**words)
    paper: Paper = parse(Paper, text, claims.name)
    write_text(page, page_text(paper, paper.claims[0], "thm1"))
    write_text(opener, OPENER.format(**words))
    write_text(bibliography, bibliography.read_text() + CITATION.format(**words))
    write_text(toc, contents + CONTENTS.format(**words) + before + after)
    write_text(claims, text)
    return [page, opener, bibliography, toc, claims]


def _roman(number: int) -> str:
    tens, ones = divmod(number, 10)
    return "X" * tens + ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")[ones]
