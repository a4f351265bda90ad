"""Sphinx extension: no page asks another host for anything, and every page can show formulas.

jupyter-book always loads sphinx-thebe, which puts a script from a CDN on every page, twice. There is no live code in
this book, so the scripts are dropped again. Sphinx puts MathJax only on pages where it saw a formula; the formulas of
the ledger and the gallery stand in raw HTML, so here it goes on all of them.
"""


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove sphinx-thebe's scripts, named or inline, from a page."""

    def is_thebe(script):
        body = getattr(script, "attributes", {}).get("body") or ""
        return "thebe" in str(getattr(script, "filename", None)) or "thebe" in body[:200].lower()

    context["script_files"] = [script for script in context["script_files"] if not is_thebe(script)]


def setup(app):
    app.set_html_assets_policy("always")
    app.connect("html-page-context", drop_thebe, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
