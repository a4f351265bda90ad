"""Sphinx extension: how the pages of this book differ from what jupyter-book makes of a notebook.

- What a single run does not know (the answer box, hypotheses, seeds, errata; `hierlib.lab.layout`) stands in the notebook's
  metadata and is put in place while Sphinx reads the file, so that the file itself stays the exact pair of its text.
- `{claim} thm4.1` is the box of a claim: its title is the paper's own number, and its hypotheses follow the text. Prose
  refers to it as {ref}`fine-grained-thm4.1`.
- `{value}` is a number from a record: {value}`fine-grained/thm4.1 gap_exponent`, with `@long` at its end from that size.
- `{shown} fig-thm4-1-curves` is a figure of another page, as the last run drew it, with a link to its page.
- Plotted data become files beside the page.
- No page asks another host for anything: jupyter-book always loads sphinx-thebe, which puts a script from a CDN on
  every page, twice. There is no live code in this book, so it goes.
- Every page can show formulas: Sphinx puts MathJax only where it saw one, but those of the ledger stand in raw HTML.
"""

import base64
import html
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

DATA_LINK = re.compile(r"<a download='([\w.-]+)' href='data:text/csv;base64,([^']*)'>")
PARTS = {}  # docname -> the generated parts of its page


def lay_out(app, docname, source):
    """Before a notebook is parsed: the generated parts in their places, and data links below figures."""
    if not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = json.loads(source[0])
    PARTS[docname] = parts = notebook["metadata"]["hier_parts"]
    cells = [part for cell in notebook["cells"] for part in data_link_below(cell, docname)]
    for cell in cells:
        for output in cell.get("outputs", []):
            if "class='hl-verdict" in "".join(output.get("data", {}).get("text/html", "")) and parts["verdict"]:
                output["data"]["text/html"] = parts["verdict"]
    text = "".join(cells[0]["source"])
    title, _, rest = text.partition("\n")
    cells[0:1] = [prose(title), prose(parts["answer"]), prose(rest)]
    first_code = next((i for i, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    cells.insert(first_code, prose(parts["run"]))
    if parts["errata"]:
        insert_errata(cells, parts["errata"])
    notebook["cells"] = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells)]
    source[0] = json.dumps(notebook)


def insert_errata(cells, errata):
    """Above the exercises, which end a page."""
    for number, cell in enumerate(cells):
        before, heading, after = "".join(cell["source"]).partition("\n## Exercises")
        if cell["cell_type"] == "markdown" and heading:
            cells[number : number + 1] = [prose(before), prose(errata), prose(heading + after)]
            return
    cells.append(prose(errata))


def data_link_below(cell, docname):
    """A figure cell and its link to the plotted data apart: myst-nb makes a captioned figure of every output."""
    if "figure" not in cell["metadata"].get("mystnb", {}):
        return [cell]
    shown = [(output, "".join(output.get("data", {}).get("text/html", ""))) for output in cell["outputs"]]
    links = [data_file(text, docname) for _, text in shown if "hl-data" in text]
    return [cell | {"outputs": [output for output, text in shown if "hl-data" not in text]}, *map(prose, links)]


def data_file(link, docname):
    """The link with the data in it, as a file beside the page: `book/_static/data/<paper>/<figure>.csv`."""
    found = DATA_LINK.search(link)
    if not found:
        return link
    name, content = found.groups()
    place = f"data/{docname.split('/')[-2]}/{name}"
    path = Path(__file__).parents[1] / "_static" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(base64.b64decode(content))
    up = "../" * docname.count("/")
    return link.replace(found[0], f"<a download='{name}' href='{up}_static/{place}'>")


def prose(text):
    return {"cell_type": "markdown", "metadata": {}, "source": text}


class ClaimBox(SphinxDirective):
    """The printed statement of a claim, under the number that the paper gave it, with its table of hypotheses."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        known = PARTS.get(self.env.docname, {}).get("claims", {})
        if name not in known:
            raise self.error(f"the registry gives this page no claim {name!r}, but {', '.join(known)}")
        claim = known[name]
        label, place = claim["label"], f"claim-{nodes.make_id(name)}"
        standard = self.env.get_domain("std")
        standard.anonlabels[label] = (self.env.docname, place)
        standard.labels[label] = (self.env.docname, place, claim["title"])
        box = nodes.admonition(classes=["proof", claim["kind"]], ids=[place])
        box += nodes.title("", claim["title"])
        self.state.nested_parse(self.content, self.content_offset, box)
        if claim["hypotheses"]:
            box += nodes.raw("", claim["hypotheses"], format="html")
        if not claim["index"]:
            return [box]
        # Searching for "Theorem 4.1" leads to an index entry before it leads to a page that mentions it.
        return [addnodes.index(entries=[("single", claim["index"], place, "", None)]), box]


def known_values(app):
    """What the book may quote: numbers and figures of the last runs (`hierlib.lab.book.write_values`)."""
    return json.loads((Path(app.srcdir) / "_build" / "values.json").read_text())


class Shown(SphinxDirective):
    """A figure of another page, drawn or interactive, as its last run left it; a sentence where it was not run."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        figure = known_values(self.env.app)["figures"].get(name)
        if figure is None:
            return [nodes.paragraph("", f"(The figure {name} stands here once its page was run.)")]
        up = "../" * self.env.docname.count("/")
        link, alt = f"{up}notebooks/{figure['page']}.html", html.escape(figure["alt"], quote=True)
        shown = f"<a href='{link}'><img src='{up}_static/{figure['file']}' alt='{alt}'></a>"
        body = figure.get("interactive") or shown
        caption = nodes.container(classes=["hl-shown-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        return [nodes.raw("", f"<figure class='hl-shown'>{body}</figure>", format="html"), caption]


class Value(SphinxRole):
    """A number from a record, by page and check; `@long` names another size than the one that the book is built with."""

    def run(self):
        known = known_values(self.env.app)
        shown = "(not run)" if self.text.split()[0] in known["not run"] else known["values"].get(self.text)
        if shown is None:
            message = self.inliner.reporter.error(f"there is no number {self.text!r} in the records", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        return [nodes.inline("", shown, classes=["hl-value"])], []


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove sphinx-thebe's scripts, named or inline, from a page."""

    def is_thebe(script):
        body = getattr(script, "attributes", {}).get("body") or ""
        return "thebe" in str(getattr(script, "filename", None)) or "thebe" in body[:200].lower()

    context["script_files"] = [script for script in context["script_files"] if not is_thebe(script)]


def setup(app):
    app.set_html_assets_policy("always")
    app.add_directive("claim", ClaimBox)
    app.add_directive("shown", Shown)
    app.add_role("value", Value())
    app.connect("source-read", lay_out)
    app.connect("html-page-context", drop_thebe, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
