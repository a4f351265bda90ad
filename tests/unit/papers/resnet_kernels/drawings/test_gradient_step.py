import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest

from hierlib.figures.data_link import plotted
from hierlib.figures.style import panels
from hierlib.measures.fits import loglog_slope
from hierlib.papers.resnet_kernels.drawings.gradient_step import draw_direction, draw_first_block, draw_remainder, draw_sizes
from hierlib.papers.resnet_kernels.step_views import StepView

WHEN = [0, 1, 10]
VIEWS = {
    name: StepView(*(np.arange(6.0).reshape(2, 3) + 10 * field + shift for field in range(9)))
    for name, shift in (("theory", 1), ("equal", 2), ("free", 3))
}


@pytest.fixture
def drawn():
    fig, axes = panels(2)
    yield axes, lambda: {(series, float(x)): float(y) for _, series, x, y in plotted(fig)}
    matplotlib.pyplot.close(fig)


def test_bounds_of_claim_d5_are_laid_over_the_sizes(drawn):
    (left, right), rows = drawn
    draw_sizes(left, right, [1.0, 3.0], [1.1, 1.2], [[0.0, 4.0], [0.0, 2.0]], [[0.7, 1.0], [0.6, 0.9]])
    assert rows()[r"$2(\sigma_v+1)$", 3.0] == 8 and rows()[r"$2(\|W\|_F+1)$", 4.0] == 10
    assert rows()["gradient in $V$, network 2", 2.0] == 0.9


def test_the_first_block_shows_the_worst_network(drawn):
    (left, _), rows = drawn
    draw_first_block(left, WHEN, VIEWS)
    assert rows()["free", 10.0] == VIEWS["free"].away_ratio[1, 2] and rows()["bound", 10.0] == 1


def test_the_direction_shows_the_first_and_the_last_regime(drawn):
    (left, _), rows = drawn
    draw_direction(left, WHEN, VIEWS)
    assert rows()["Err, free", 10.0] == VIEWS["free"].err[0, 2] and ("Err, equal", 10.0) not in rows()
    assert rows()["bound on Err, theory", 1.0] == VIEWS["theory"].err_bound[0, 1]


def test_an_exact_power_lies_on_its_prediction(drawn):
    (left, _), rows = drawn
    widths = [100, 1000, 10000]
    sizes = [[2 * w**-0.125] * 3 for w in widths]
    draw_remainder(left, widths, sizes, loglog_slope(widths, sizes))
    assert rows()["slope -0.125", 1000.0] == pytest.approx(rows()["slope $-1/8$", 1000.0])
