"""Sphinx extension: how the pages of this book differ from what jupyter-book makes of a notebook.

- A notebook's page gets a line that says how it was run, and the link to the plotted data below each figure. Both are
  put in while Sphinx reads the file, so that the file itself stays the exact pair of its text.
- No page asks another host for anything: jupyter-book always loads sphinx-thebe, which puts a script from a CDN on
  every page, twice. There is no live code in this book, so it goes.
- Every page can show formulas: Sphinx puts MathJax only where it saw one, but those of the ledger stand in raw HTML.
"""

import json


def lay_out(app, docname, source):
    """Before a notebook is parsed: the line about its run, and data links below figures."""
    if not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = json.loads(source[0])
    cells = [part for cell in notebook["cells"] for part in data_link_below(cell)]
    first_code = next((i for i, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    cells.insert(first_code, prose(notebook["metadata"]["hier_run"]))
    notebook["cells"] = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells)]
    source[0] = json.dumps(notebook)


def data_link_below(cell):
    """A figure cell and its link to the plotted data apart: myst-nb makes a captioned figure of every output."""
    if "figure" not in cell["metadata"].get("mystnb", {}):
        return [cell]
    shown = [(output, "".join(output.get("data", {}).get("text/html", ""))) for output in cell["outputs"]]
    links = [html for _, html in shown if "hl-data" in html]
    return [cell | {"outputs": [output for output, html in shown if "hl-data" not in html]}, *map(prose, links)]


def prose(text):
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove sphinx-thebe's scripts, named or inline, from a page."""

    def is_thebe(script):
        body = getattr(script, "attributes", {}).get("body") or ""
        return "thebe" in str(getattr(script, "filename", None)) or "thebe" in body[:200].lower()

    context["script_files"] = [script for script in context["script_files"] if not is_thebe(script)]


def setup(app):
    app.set_html_assets_policy("always")
    app.connect("source-read", lay_out)
    app.connect("html-page-context", drop_thebe, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
