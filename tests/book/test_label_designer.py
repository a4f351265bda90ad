"""The label designer in a browser: its numbers are Python's, its sliders obey the keyboard, its notebook keeps it."""

import csv
import json
import math
import re
from pathlib import Path

import pytest
import torch

from hierlib.data.images import two_class
from hierlib.data.labels import random_signs
from hierlib.kernels.relu import relu_gram
from hierlib.kernels.spectrum import inverse_norm, spectrum
from hierlib.papers.fine_grained.drawings.label_designer import Preset, label_designer
from hierlib.papers.fine_grained.mixtures import coefficients, eigenvector_labels, oriented
from hierlib.theory.linear_dynamics import iterated_residuals

NAME = "notebooks/fine-grained/label-designer"
SITE = Path(__file__).parents[2] / "_build" / "html"
PARTS = ("true labels", "random labels", "eigenvectors")


def slider(page, name):
    return page.get_by_role("slider", name=name)


def set_slider(page, name, position):
    slider(page, name).evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", position)


def set_rank(page, name, rank):
    """Find the position of a slider on a log scale at which it shows a given number."""
    for position in range(int(slider(page, name).get_attribute("max")) + 1):
        set_slider(page, name, position)
        if slider(page, name).get_attribute("aria-valuetext") == str(rank):
            return
    raise AssertionError(f"{name} cannot be {rank}")


def shown(page):
    read = page.eval_on_selector_all(".hl-designer dd", "all => all.map(e => [e.dataset.of, parseFloat(e.dataset.value)])")
    return dict(read)


def table(page, folder):
    """The rows of the CSV that the page offers, without the header."""
    with page.expect_download() as arriving:
        page.get_by_text("Data of this mixture").click()
    arriving.value.save_as(folder / "mixture.csv")
    header, *rows = csv.reader((folder / "mixture.csv").open())
    assert header == ["panel", "series", "x", "y"]
    return rows


@pytest.fixture
def small(browser):
    """A designer whose numbers can be done by hand: H = diag(1, 1/2, 1/100), eta = 1, n = 3, two parts on one axis each."""
    root = math.sqrt(3)
    parts = {"true labels": torch.tensor([root, 0, 0]), "random labels": torch.tensor([0, 0, root])}
    presets = {"one": Preset((1, 0, 0), (1, 1)), "both": Preset((1, 1, 0), (1, 3), torch.tensor([0.5, 0.3, 0.2]))}
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(label_designer(torch.tensor([1, 0.5, 0.01]).double(), parts, 1.0, presets).data)
    yield page
    assert complaints == []
    page.close()


def test_two_orthogonal_parts_by_hand(small, tmp_path):
    # a^2 = (3/2, 0, 3/2): the first part is gone after one step, 0.99^(2k) is left of the second.
    assert shown(small) == pytest.approx({"half": 1, "path": math.sqrt(1.5 + 150), "measure": math.sqrt(101)})
    rows = table(small, tmp_path)
    losses = {int(k): float(y) for panel, series, k, y in rows if series == "predicted"}
    assert all(loss == pytest.approx(0.25 * 0.99 ** (2 * k)) for k, loss in losses.items())
    assert [float(y) for panel, _, _, y in rows if panel.startswith("share")] == pytest.approx([0.5, 0, 0.5])
    trained = {int(k): float(y) for _, series, k, y in rows if series == "trained"}
    assert trained == pytest.approx({1: 0.3, 2: 0.2})


def test_only_ratios_of_weights_count(small):
    before = shown(small)
    for name in PARTS[:2]:
        set_slider(small, name, 30)
    assert shown(small) == pytest.approx(before)


def test_one_eigenvector_is_a_pure_exponential(small):
    for name, weight in zip(PARTS, (0, 0, 100), strict=True):
        set_slider(small, name, weight)
    for name in ("to number", "from number"):
        set_rank(small, name, 3)
    half = math.ceil(math.log(1 / 2) / math.log(0.99) / 2)
    assert shown(small) == pytest.approx({"half": half, "path": math.sqrt(300), "measure": math.sqrt(200)}) and half == 35


def test_the_order_of_the_two_numbers_does_not_matter(small):
    set_slider(small, "eigenvectors", 100)
    set_rank(small, "from number", 1)
    set_rank(small, "to number", 2)
    before = shown(small)
    set_rank(small, "from number", 2)
    set_rank(small, "to number", 1)
    assert shown(small) == before


def test_nothing_to_learn_is_said(small):
    for name in PARTS:
        set_slider(small, name, 0)
    assert "nothing to learn" in small.text_content(".hl-charts svg >> nth=0")
    assert all(math.isnan(number) for number in shown(small).values())
    small.get_by_role("button", name="one").click()
    assert shown(small)["half"] == 1


def test_trained_networks_are_shown_only_where_they_were_trained(small):
    circles, words = small.locator(".hl-designer circle"), small.locator(".hl-trained")
    assert circles.count() == 2 and words.is_visible()
    set_slider(small, "true labels", 99)
    assert circles.count() == 0 and not words.is_visible()
    small.get_by_role("button", name="both").click()
    assert circles.count() == 2 and small.get_by_role("button", name="both").get_attribute("aria-pressed") == "true"


def test_the_keyboard_is_enough(small):
    slider(small, "random labels").focus()
    small.keyboard.press("Home")
    assert shown(small)["path"] == pytest.approx(math.sqrt(3))
    small.keyboard.press("ArrowRight")
    assert slider(small, "random labels").input_value() == "1" and shown(small)["path"] > math.sqrt(3)
    small.get_by_role("button", name="both").focus()
    small.keyboard.press("Enter")
    assert shown(small)["measure"] == pytest.approx(math.sqrt(101))


@pytest.fixture(scope="module")
def problem():
    """The labels of the page, made again from its images and the settings of the run that the page names."""
    settings = dict(re.findall(r"(\w+) = ([^,<.]+)", re.search(r"Run at profile.*", (SITE / f"{NAME}.html").read_text())[0]))
    n, seed, top = (int(settings[name]) for name in ("n", "seed", "top"))
    X, true = two_class(settings["dataset"], n, seed)
    H = relu_gram(X)
    return H, oriented(spectrum(H), true), true, random_signs(n, seed), top


@pytest.mark.parametrize(
    ("weights", "band"),
    [((100, 0, 0), None), ((0, 100, 0), None), ((100, 35, 0), None), ((40, 20, 100), "top"), ((0, 0, 100), "worst")],
)
def test_the_browser_finds_what_python_finds_by_mixing_first(visit, problem, tmp_path, weights, band):
    H, eigen, true, signs, top = problem
    first, last = {"worst": (len(H), len(H))}.get(band, (1, top))
    parts = torch.stack([true, signs, eigenvector_labels(eigen.vectors, first, last)])
    y = coefficients(parts, torch.tensor(weights).double()) @ parts
    loss = iterated_residuals(H, y, 1 / eigen.values[0].item(), 5000).square().sum(1) / 2 / len(H)
    half = int((loss <= loss[0] / 2).nonzero()[0])
    length = inverse_norm(H, y).item()

    page = visit.open(NAME)
    for name, weight in zip(PARTS, weights, strict=True):
        set_slider(page, name, weight)
    for name, rank in (("from number", first), ("to number", last)):
        set_rank(page, name, rank)
    expected = {"half": half, "path": length, "measure": length * (2 / len(H)) ** 0.5}
    assert shown(page) == pytest.approx(expected, rel=1e-6)
    rows = table(page, tmp_path)
    predicted = [(int(k), float(value)) for _, series, k, value in rows if series == "predicted" and int(k) <= 5000]
    assert len(predicted) > 50
    assert all(value == pytest.approx(loss[k].item(), rel=1e-6, abs=1e-12) for k, value in predicted)
    shares = torch.tensor([float(value) for panel, _, _, value in rows if panel.startswith("share")]).double()
    assert torch.allclose(shares, (eigen.vectors.T @ y) ** 2 / len(H), atol=1e-8)
    assert visit.complaints == [] and visit.strangers == []


def test_the_downloaded_notebook_keeps_it(visit, browser):
    here = shown(visit.open(NAME))
    source = visit.page.locator("a.btn-download-source-button").get_attribute("href")
    notebook = json.loads((SITE / NAME).parent.joinpath(source).resolve().read_text())
    htmls = ["".join(o["data"].get("text/html", "")) for c in notebook["cells"] for o in c.get("outputs", []) if "data" in o]
    alone = browser.new_page()
    alone.set_content(next(html for html in htmls if "hl-designer" in html))
    assert shown(alone) == here and alone.locator(".hl-designer polyline").count() == 4
    alone.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_curve_stands_out_from_the_paper(visit, scheme):
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(NAME)
    colours = page.eval_on_selector_all(
        ".hl-designer :is(polyline, circle), .hl-designer :is(text, figcaption, dt)",
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
