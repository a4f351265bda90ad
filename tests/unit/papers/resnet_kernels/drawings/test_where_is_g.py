"""The figure of where G is carries its numbers. (tests/book runs it.)"""

import json
import re

import pytest

from hierlib.papers.resnet_kernels.drawings.where_is_g import SERIES, Storage, where_is_g_figure

SAMPLES = [0, 100, 400]
FULL = Storage([0, 0.51234567, 1], [0, 0.2, -0.1], [0, 0, 0.02], [0, 0.1, 0.9], [2.0, 0.5, 0.01])
FROZEN = Storage([0, 0.6, 1], [0, 0, 0], [0, 0, 0.01], [0, 0, 0], [2.0, 0.6, 0.09])


@pytest.fixture(scope="module")
def page():
    return where_is_g_figure(SAMPLES, {"full": FULL, "V frozen": FROZEN}).data


def test_the_numbers_inside_are_those_that_were_given(page):
    numbers = json.loads(re.search(r"<script type='application/json'>(.*?)</script>", page, re.DOTALL)[1])
    assert numbers["samples"] == SAMPLES and tuple(numbers["series"]) == SERIES
    assert [run["name"] for run in numbers["runs"]] == ["full", "V frozen"]
    for run, given in zip(numbers["runs"], (FULL, FROZEN), strict=True):
        for values, series in zip(run["values"], given, strict=True):
            assert values == pytest.approx(series, rel=1e-4)


def test_the_slider_covers_every_moment_and_starts_at_the_last(page):
    assert "<span>samples seen</span><input type='range' min='0' max='2' value='2'" in page


def test_a_series_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="one number per moment"):
        where_is_g_figure([0, 1], {"full": FULL})
