"""Where is G? in a browser: its numbers are the run's, its slider obeys the keyboard."""

import pytest

from hierlib.papers.resnet_kernels.drawings.where_is_g import SERIES, Storage, where_is_g_figure

NAME = "notebooks/resnet-kernels/where-is-g"
SAMPLES = [0, 100, 400]
FULL = Storage([0, 0.5, 1.1], [0, 0.2, -0.1], [0, 0, 0.02], [0, 0.1, 0.9], [2.0, 0.5, 0.01])
FROZEN = Storage([0, 0.6, 1], [0, 0, 0], [0, 0, 0.01], [0, 0, 0], [2.0, 0.6, 0.09])


def shown(figure):
    return {[*SERIES, "error"][int(of)]: number for of, number in figure.readings().items()}


def table(figure):
    """What the figure hands out, as {series: {samples: value}}."""
    found = {}
    for _, series, x, y in figure.rows():
        found.setdefault(series, {})[int(x)] = float(y)
    return found


def heights(figure):
    """Bars in units of the share of one, read off the picture."""
    read = figure.page.eval_on_selector_all(
        ".hl-where-is-g rect[data-series]",
        "all => all.map(e => [Number(e.dataset.series), Number(e.getAttribute('height'))])",
    )
    return dict(read)


@pytest.fixture
def small(alone):
    """Two runs and three moments."""
    return alone(where_is_g_figure(SAMPLES, {"full": FULL, "V frozen": FROZEN}).data)


def test_it_starts_at_the_end_of_the_first_run(small):
    assert shown(small) == {"G in the second block": 0.9, "G in the first block": 0.02, "error": 0.01}
    assert small.page.get_by_role("button", name="full").get_attribute("aria-pressed") == "true"
    bars = heights(small)
    assert bars[3] / bars[0] == pytest.approx(0.9 / 1.1) and bars[1] / bars[0] == pytest.approx(0.1 / 1.1)


def test_the_slider_is_time(small):
    slider = small.page.get_by_role("slider", name="samples seen")
    slider.focus()
    small.page.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "100 samples" and shown(small)["error"] == 0.5
    small.page.keyboard.press("Home")
    assert shown(small) == {"G in the second block": 0, "G in the first block": 0, "error": 2}
    now = small.page.locator(".hl-where-is-g line[data-now]")
    start = float(now.get_attribute("x1"))
    small.page.keyboard.press("End")
    assert float(now.get_attribute("x1")) > start and slider.input_value() == "2"


def test_a_run_is_chosen_with_the_keyboard_and_keeps_the_moment(small):
    small.page.get_by_role("slider", name="samples seen").focus()
    small.page.keyboard.press("ArrowLeft")
    small.page.get_by_role("button", name="V frozen").focus()
    small.page.keyboard.press("Enter")
    assert shown(small) == {"G in the second block": 0, "G in the first block": 0, "error": 0.6}
    assert small.page.get_by_role("button", name="full").get_attribute("aria-pressed") == "false"
    label = small.page.locator(".hl-where-is-g svg >> nth=0").get_attribute("aria-label")
    assert "F in the first block 0.60" in label and "G in the second block 0.00" in label


def test_play_runs_from_the_start_to_the_end_and_stops(small):
    play = small.page.get_by_role("button", name="Play")
    play.click()
    assert small.page.get_by_role("slider").input_value() == "0"
    assert small.page.locator("[data-play]").get_attribute("aria-pressed") == "true"
    small.page.wait_for_function("document.querySelector('[data-play]').textContent === 'Play'", timeout=20000)
    assert small.page.get_by_role("slider").input_value() == "2" and shown(small)["error"] == 0.01


def test_the_slider_stops_the_film(small):
    small.page.get_by_role("button", name="Play").click()
    small.page.get_by_role("slider").focus()
    small.page.keyboard.press("End")
    assert small.page.locator("[data-play]").text_content() == "Play" and shown(small)["error"] == 0.01


def test_the_data_are_those_of_the_chosen_run(small):
    small.page.get_by_role("button", name="V frozen").click()
    found = table(small)
    assert list(found) == [*SERIES, "error"]
    for series, given in zip(found.values(), FROZEN, strict=True):
        assert series == pytest.approx(dict(zip(SAMPLES, given, strict=True)))


def test_the_page_shows_where_g_is(visited):
    figure = visited(NAME)
    full, here = table(figure), shown(figure)
    last = max(full["error"])
    assert here["error"] == full["error"][last] and full["G in the second block"][last] > 0.5
    figure.page.get_by_role("button", name="V frozen").click()
    assert abs(shown(figure)["G in the second block"]) < 0.1
