"""The figure of the memory horizon carries its numbers. (tests/book runs it.)"""

import json
import re

import pytest

from hierlib.papers.rnn.drawings.memory_horizon import Setting, memory_horizon_figure

GRID = [Setting(v, g, length, [v] * length, [g] * length) for v in (0.1, 0.01) for g in (1.0, 0.9) for length in (2, 3)]


def test_the_numbers_inside_are_those_of_the_grid_in_ascending_order():
    page = memory_horizon_figure(GRID, (0.1, 0.9, 3)).data
    numbers = json.loads(re.search(r"<script type='application/json'>(.*?)</script>", page, re.DOTALL)[1])
    assert [numbers["variances"], numbers["gains"], numbers["lengths"]] == [[0.01, 0.1], [0.9, 1.0], [2, 3]]
    assert numbers["start"] == [1, 0, 1]
    assert numbers["recall"][(1 * 2 + 0) * 2 + 1] == [[0.1] * 3, [0.9] * 3]


def test_a_hole_in_the_grid_is_refused():
    with pytest.raises(ValueError, match=r"hole at \(0.01, 1.0, 3\)"):
        memory_horizon_figure([s for s in GRID if s[:3] != (0.01, 1.0, 3)], (0.1, 0.9, 3))
