"""The label designer carries its numbers, exactly enough. (tests/book runs it.)"""

import json
import re

import pytest
import torch

from hierlib.papers.fine_grained.drawings.label_designer import Preset, label_designer
from hierlib.streams import stream

N = 12
VALUES = torch.linspace(3, 0.01, N, dtype=torch.float64)
PARTS = torch.randn(2, N, generator=stream(0, "parts"), dtype=torch.float64)
LOSSES = torch.linspace(0.5, 0.1, 201, dtype=torch.float64)


@pytest.fixture(scope="module")
def page():
    presets = {"plain": Preset((1, 0, 0), (1, 5)), "trained": Preset((0.5, 0.25, 1), (2, N), LOSSES)}
    return label_designer(VALUES, {"first": PARTS[0], "second": PARTS[1]}, 0.3, presets).data


@pytest.fixture(scope="module")
def numbers(page):
    return json.loads(re.search(r"<script type='application/json'>(.*?)</script>", page, re.DOTALL)[1])


def test_the_numbers_inside_are_those_that_were_given_to_nine_digits(numbers):
    assert numbers["eta"] == 0.3
    assert numbers["values"] == pytest.approx(VALUES.tolist(), rel=1e-9)
    assert [part["name"] for part in numbers["parts"]] == ["first", "second"]
    for part, given in zip(numbers["parts"], PARTS, strict=True):
        assert part["projections"] == pytest.approx(given.tolist(), rel=1e-9)


def test_a_preset_keeps_weights_band_and_marks_from_the_first_to_the_last_step(numbers):
    plain, trained = numbers["presets"]
    assert plain == {"name": "plain", "weights": [1, 0, 0], "band": [1, 5], "measured": []}
    assert trained["weights"] == [0.5, 0.25, 1] and trained["band"] == [2, N]
    steps = [k for k, _ in trained["measured"]]
    assert steps[0] == 1 and steps[-1] == 200 and steps == sorted(set(steps))
    assert all(loss == pytest.approx(LOSSES[k].item()) for k, loss in trained["measured"])


def test_there_is_a_slider_per_part_one_for_eigenvectors_and_two_for_their_numbers(page):
    names = re.findall(r"<label><span>([^<]+)</span><input type='range'", page)
    assert names == ["first", "second", "eigenvectors", "from number", "to number"]
