"""The skeleton of a page, from the registry."""

from pathlib import Path

from hierlib.files import write_text
from hierlib.lab.project import Project, UserError, nearest
from hierlib.lab.registry import Paper

TEMPLATE = """\
---
jupytext: {{formats: "md:myst,ipynb"}}
kernelspec: {{name: python3, display_name: Python 3, language: python}}
hier:
  smoke: {{n: 10}}
  paper: {{n: 10000}}
---
# Ask the question this page answers

Why a reader should care, in two or three sentences.

```{{prf:{block}}} {place} of {cite}
:label: {label}
{says}
```

**What we measure.** Name the quantity, what the claim predicts for it, and what would falsify the claim {{cite:p}}`{key}`.

```{{code-cell}} ipython3
:tags: [parameters]
seed: int = 0        # every random draw follows from it [0..]
n: int = 100         # training samples [2..]
```

```{{code-cell}} ipython3
from hierlib.lab.claim import Claim
from hierlib.figures.data_link import publish
from hierlib.figures.style import panels

claim = Claim("{page}")
measured = predicted = float("nan")
```

```{{code-cell}} ipython3
---
tags: [hide-input]
mystnb:
  figure:
    name: fig-{label}
    caption: Say what to see.
---
fig, ax = panels(1)
ax.plot([0, n], [0, n], label="predicted")
publish(fig, "{name}")
```

```{{code-cell}} ipython3
claim.check("deviation", abs(measured - predicted), at_most=0.05)
```

## Take a hypothesis away

Which one, and why the same check must now fail.

```{{code-cell}} ipython3
claim.control("deviation_without_it", measured, breaks="deviation")
claim.close()
```

## Where it breaks

What the constants, the hypotheses or the small scale hide.

## Try it

`hier run {page} -p n=200`
"""

BLOCKS = {"theorem", "lemma", "corollary", "proposition", "definition", "example", "algorithm", "remark"}


def write_skeleton(project: Project, registry: dict[str, Paper], claim: str) -> Path:
    """Write `notebooks/<paper>/<claim>.md` for a registered claim; an existing page is never touched."""
    slug, _, name = claim.partition("/")
    names = [f"{paper.slug}/{entry.id}" for paper in registry.values() for entry in paper.claims]
    if claim not in names:
        raise UserError(f"there is no claim {claim!r}; {nearest(claim, names, 'claims')}")
    paper = registry[slug]
    entry = paper.entry(name)
    path = project.notebooks / slug / f"{name}.md"
    if entry.page or path.exists():
        raise UserError(f"{claim} has a page already: {project.relative(project.notebooks / slug)}/{entry.page or name}.md")
    text = TEMPLATE.format(
        block=entry.kind if entry.kind in BLOCKS else "theorem",
        place=entry.place,
        cite=f"{paper.authors.split(',')[0].split()[-1]} et al. {paper.year}",
        key=paper.cite,
        label=f"{slug}-{name}".replace(".", "-").lower(),
        says=entry.says,
        page=claim,
        name=name,
    )
    write_text(path, text)
    return path
