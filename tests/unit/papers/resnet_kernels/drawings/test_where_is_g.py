"""The storage figure carries all it needs and nothing that points elsewhere. (tests/book runs it.)"""

import json
import re

import pytest

from hierlib.papers.resnet_kernels.drawings.where_is_g import SERIES, Storage, storage_figure

SAMPLES = [0, 100, 400]
FULL = Storage([0, 0.51234567, 1], [0, 0.2, -0.1], [0, 0, 0.02], [0, 0.1, 0.9], [2.0, 0.5, 0.01])
FROZEN = Storage([0, 0.6, 1], [0, 0, 0], [0, 0, 0.01], [0, 0, 0], [2.0, 0.6, 0.09])


@pytest.fixture(scope="module")
def page():
    return storage_figure(SAMPLES, {"full": FULL, "V <frozen> </script>": FROZEN}).data


def test_the_numbers_inside_are_those_that_were_given(page):
    state = json.loads(re.search(r"<script type='application/json'>(.*?)</script>", page, re.DOTALL)[1])
    assert state["samples"] == SAMPLES and tuple(state["series"]) == SERIES
    assert [run["name"] for run in state["runs"]] == ["full", "V <frozen> </script>"]
    for run, given in zip(state["runs"], (FULL, FROZEN), strict=True):
        for values, series in zip(run["values"], given, strict=True):
            assert values == pytest.approx(series, rel=1e-4)


def test_names_cannot_break_the_page(page):
    assert page.count("</script>") == 2 and "V &lt;frozen&gt; &lt;/script&gt;" in page


def test_the_slider_is_a_native_one_inside_its_label_and_covers_every_moment(page):
    assert re.search(r'<label><span>samples seen</span><input type="range" min="0" max="2" value="2"', page)


def test_nothing_comes_from_elsewhere(page):
    assert not re.search(r"https?:|//[a-z]|\bsrc=|@import|url\(", re.sub(r"^\s*//.*|\s// .*", "", page, flags=re.MULTILINE))


def test_a_reader_without_scripts_is_told(page):
    assert "<noscript>" in page and "class='hl-storage' hidden" in page


def test_a_series_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="one number per moment"):
        storage_figure([0, 1], {"full": FULL})
