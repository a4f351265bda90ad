"""The memory horizon in a browser: its numbers are the page's, its sliders obey the keyboard."""

import pytest

from hierlib.papers.rnn.drawings.memory_horizon import Setting, memory_horizon_figure

NAME = "notebooks/rnn/memory-horizon"
GRID = [
    Setting(v, 1.0, length, [round(0.1 * p + v, 3) for p in range(length)], [0.5] * length)
    for v in (0.001, 0.1)
    for length in (4, 8)
]


@pytest.fixture
def small(alone):
    return alone(memory_horizon_figure(GRID, (0.1, 1.0, 4)).data)


def press(figure, name, *keys):
    figure.page.get_by_role("slider", name=name).focus()
    for key in keys:
        figure.page.keyboard.press(key)


def test_it_starts_where_it_was_told_at_the_first_token(small):
    found = small.readings()
    assert found["measured"] == 0.1 and found["predicted"] == 0.5 and found["horizon"] == pytest.approx(3.2, abs=0.05)
    assert small.page.locator(".hl-memory-horizon svg >> nth=0").locator("circle[data-measured]").count() == 4


def test_each_slider_moves_what_it_names(small):
    press(small, "token", "ArrowRight", "ArrowRight")
    assert small.readings()["measured"] == 0.3
    press(small, "length L", "End")
    press(small, "token", "End")
    assert small.readings()["measured"] == 0.8
    press(small, "input variance", "Home")
    assert small.readings()["measured"] == 0.701 and small.readings()["horizon"] == pytest.approx(14.9, abs=0.05)


def test_a_token_beyond_a_shorter_sequence_becomes_its_last_one(small):
    press(small, "token", "End")
    assert small.readings()["measured"] == 0.4
    assert small.page.get_by_role("slider", name="token").get_attribute("aria-valuetext") == "4"


def test_the_data_are_those_of_the_setting(small):
    rows = small.rows()
    assert {row[0] for row in rows} == {"variance 0.1 gain 1 length 4"} and len(rows) == 8


def test_on_the_page_small_inputs_recall_the_first_token_and_large_ones_do_not(visited):
    figure = visited(NAME)
    press(figure, "token", "Home")
    press(figure, "input variance", "Home")
    kept = figure.readings()["measured"]
    press(figure, "input variance", "End")
    assert kept > 0.5 > figure.readings()["measured"]
