"""One look for all figures."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from hierlib.figures.data_link import plotted
from hierlib.figures.style import overlay, panels, power_law
from hierlib.measures.fits import loglog_slope


def test_a_prediction_is_laid_over_every_measurement():
    fig, ax = panels(1)
    overlay(ax, [1, 2, 3], [1, 2, 3], {"a": [1, 2, 2], "b": [1, 1, 1]})
    assert {series for _, series, _, _ in plotted(fig)} == {"a", "b", "predicted"}
    plt.close(fig)


def test_a_power_law_shows_all_repetitions_and_the_slope():
    x, y = np.array([1.0, 10.0, 100.0]), np.array([[1.0, 2.0], [0.1, 0.2], [0.01, 0.02]])
    fig, ax = panels(1)
    power_law(ax, x, y, loglog_slope(x, y), "gap")
    assert ax.get_legend().get_texts()[0].get_text() == "gap, slope -1.00"
    assert sum(value in y for _, _, _, value in plotted(fig)) >= y.size
    plt.close(fig)


@pytest.mark.parametrize("count", [1, 3])
def test_panels_have_the_look_of_the_book(count):
    fig, axes = panels(count)
    assert len(np.atleast_1d(axes)) == count and not np.atleast_1d(axes)[0].spines["top"].get_visible()
    plt.close(fig)
