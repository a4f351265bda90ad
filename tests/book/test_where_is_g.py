"""The storage figure in a browser: its numbers are the run's, its slider obeys the keyboard, its notebook keeps it."""

import csv
import json
from pathlib import Path

import pytest

from hierlib.papers.resnet_kernels.drawings.where_is_g import SERIES, Storage, storage_figure

NAME = "notebooks/resnet-kernels/where-is-g"
SITE = Path(__file__).parents[2] / "_build" / "html"
SAMPLES = [0, 100, 400]
FULL = Storage([0, 0.5, 1.1], [0, 0.2, -0.1], [0, 0, 0.02], [0, 0.1, 0.9], [2.0, 0.5, 0.01])
FROZEN = Storage([0, 0.6, 1], [0, 0, 0], [0, 0, 0.01], [0, 0, 0], [2.0, 0.6, 0.09])


def shown(page):
    read = page.eval_on_selector_all(".hl-storage dd", "all => all.map(e => [e.dataset.of, parseFloat(e.dataset.value)])")
    return {SERIES[int(of)] if int(of) < 4 else "error": number for of, number in read}


def table(page, folder):
    """The rows of the CSV that the page offers, as {series: {samples: value}}."""
    with page.expect_download() as arriving:
        page.get_by_text("Data of this network").click()
    arriving.value.save_as(folder / "run.csv")
    header, *rows = csv.reader((folder / "run.csv").open())
    assert header == ["panel", "series", "x", "y"]
    found = {}
    for _, series, x, y in rows:
        found.setdefault(series, {})[int(x)] = float(y)
    return found


def heights(page):
    """Bars in units of the share of one, read off the picture."""
    read = page.eval_on_selector_all(
        ".hl-storage rect[data-series]", "all => all.map(e => [Number(e.dataset.series), Number(e.getAttribute('height'))])"
    )
    return dict(read)


@pytest.fixture
def small(browser):
    """Two runs and three moments."""
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(storage_figure(SAMPLES, {"full": FULL, "V frozen": FROZEN}).data)
    yield page
    assert complaints == []
    page.close()


def test_it_starts_at_the_end_of_the_first_run(small):
    assert shown(small) == {"G in the second block": 0.9, "G in the first block": 0.02, "error": 0.01}
    assert small.get_by_role("button", name="full").get_attribute("aria-pressed") == "true"
    bars = heights(small)
    assert bars[3] / bars[0] == pytest.approx(0.9 / 1.1) and bars[1] / bars[0] == pytest.approx(0.1 / 1.1)


def test_the_slider_is_time(small):
    slider = small.get_by_role("slider", name="samples seen")
    slider.focus()
    small.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "100 samples" and shown(small)["error"] == 0.5
    small.keyboard.press("Home")
    assert shown(small) == {"G in the second block": 0, "G in the first block": 0, "error": 2}
    now = small.locator(".hl-storage line[data-now]")
    start = float(now.get_attribute("x1"))
    small.keyboard.press("End")
    assert float(now.get_attribute("x1")) > start and slider.input_value() == "2"


def test_a_run_is_chosen_with_the_keyboard_and_keeps_the_moment(small):
    small.get_by_role("slider", name="samples seen").focus()
    small.keyboard.press("ArrowLeft")
    small.get_by_role("button", name="V frozen").focus()
    small.keyboard.press("Enter")
    assert shown(small) == {"G in the second block": 0, "G in the first block": 0, "error": 0.6}
    assert small.get_by_role("button", name="full").get_attribute("aria-pressed") == "false"
    label = small.locator(".hl-storage svg >> nth=0").get_attribute("aria-label")
    assert "F in the first block 0.60" in label and "G in the second block 0.00" in label


def test_play_runs_from_the_start_to_the_end_and_stops(small):
    play = small.get_by_role("button", name="Play")
    play.click()
    assert small.get_by_role("slider").input_value() == "0"
    assert small.locator("[data-play]").get_attribute("aria-pressed") == "true"
    small.wait_for_function("document.querySelector('[data-play]').textContent === 'Play'", timeout=20000)
    assert small.get_by_role("slider").input_value() == "2" and shown(small)["error"] == 0.01


def test_the_slider_stops_the_film(small):
    small.get_by_role("button", name="Play").click()
    small.get_by_role("slider").focus()
    small.keyboard.press("End")
    assert small.locator("[data-play]").text_content() == "Play" and shown(small)["error"] == 0.01


def test_the_data_are_those_of_the_chosen_run(small, tmp_path):
    small.get_by_role("button", name="V frozen").click()
    found = table(small, tmp_path)
    assert list(found) == [*SERIES, "error"]
    for series, given in zip(found.values(), FROZEN, strict=True):
        assert series == pytest.approx(dict(zip(SAMPLES, given, strict=True)))


def test_the_page_shows_where_g_is(visit, tmp_path):
    page = visit.open(NAME)
    full, here = table(page, tmp_path), shown(page)
    last = max(full["error"])
    assert here["error"] == full["error"][last] and full["G in the second block"][last] > 0.5
    page.get_by_role("button", name="V frozen").click()
    assert abs(shown(page)["G in the second block"]) < 0.1
    assert visit.complaints == [] and visit.strangers == []


def test_the_downloaded_notebook_keeps_it(visit, browser):
    here = shown(visit.open(NAME))
    source = visit.page.locator("a.btn-download-source-button").get_attribute("href")
    notebook = json.loads((SITE / NAME).parent.joinpath(source).resolve().read_text())
    htmls = ["".join(o["data"].get("text/html", "")) for c in notebook["cells"] for o in c.get("outputs", []) if "data" in o]
    alone = browser.new_page()
    alone.set_content(next(html for html in htmls if "hl-storage" in html))
    assert shown(alone) == here and alone.locator(".hl-storage polyline").count() == 4
    alone.close()
