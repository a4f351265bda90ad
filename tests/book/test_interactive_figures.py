"""What every interactive figure of the book promises, whatever it shows."""

import json
import re
from pathlib import Path

import pytest
import torch

from hierlib.papers.fine_grained.drawings.label_designer import Preset, label_designer
from hierlib.papers.resnet_kernels.drawings.where_is_g import Storage, where_is_g_figure

SITE = Path(__file__).parents[2] / "_build" / "html"
DESIGNER = label_designer(torch.tensor([1, 0.5]), {"true labels": torch.tensor([1, 1])}, 1, {"all": Preset((1, 0), (1, 2))})
WHERE = where_is_g_figure([0, 10], {"full": Storage(*5 * [[0, 1]])})
every_figure = pytest.mark.parametrize(
    "name", ["notebooks/fine-grained/label-designer", "notebooks/resnet-kernels/where-is-g", "notebooks/rnn/memory-horizon"]
)


@every_figure
def test_the_downloaded_notebook_keeps_it(visit, visited, alone, name):
    here = visited(name).readings()
    source = visit.page.locator("a.btn-download-source-button").get_attribute("href")
    notebook = json.loads((SITE / name).parent.joinpath(source).resolve().read_text())
    htmls = ["".join(o["data"].get("text/html", "")) for c in notebook["cells"] for o in c.get("outputs", []) if "data" in o]
    kept = alone(next(html for html in htmls if "hl-interactive" in html))
    assert kept.readings() == here and kept.page.locator(".hl-interactive polyline").count() >= 2


@every_figure
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_curve_stands_out_from_the_paper(visit, name, scheme):
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(name)
    colours = page.eval_on_selector_all(
        ".hl-interactive :is(polyline, circle), .hl-interactive :is(text, figcaption, dt)",
        "all => all.map(e => { const s = getComputedStyle(e); return s.stroke !== 'none' ? s.stroke : s.color; })",
    )
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for colour in set(colours):
        assert contrast(colour, paper) >= 3, f"{colour} on {paper}"


def contrast(one, other):
    """The contrast ratio of WCAG 2, from 1 to 21, of two colours in CSS's rgb() notation."""

    def luminance(colour):
        channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
        r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("figures", [(DESIGNER, WHERE), (WHERE, DESIGNER), (WHERE, WHERE)], ids=["first", "last", "twice"])
def test_figures_on_one_page_keep_their_numbers_and_their_looks(alone, figures):
    def seen(page):
        look = "all => all.map(e => [getComputedStyle(e).gridTemplateColumns.split(' ')[0], e.textContent])"
        return page.eval_on_selector_all(".hl-interactive :is(label, dd)", look)

    one, other = (seen(alone(figure.data).page) for figure in figures)
    page = alone("".join(figure.data for figure in figures)).page
    assert seen(page) == one + other
    assert page.evaluate("typeof eachFigure") == "undefined", "the scripts leave no names behind"
