"""One look for all figures."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from hierlib.figures.data_link import plotted
from hierlib.figures.style import overlay, panels


def test_a_prediction_is_laid_over_every_measurement():
    fig, ax = panels(1)
    overlay(ax, [1, 2, 3], [1, 2, 3], {"a": [1, 2, 2], "b": [1, 1, 1]})
    assert {series for _, series, _, _ in plotted(fig)} == {"a", "b", "predicted"}
    plt.close(fig)


@pytest.mark.parametrize("count", [1, 3])
def test_panels_have_the_look_of_the_book(count):
    fig, axes = panels(count)
    assert len(np.atleast_1d(axes)) == count and not np.atleast_1d(axes)[0].spines["top"].get_visible()
    plt.close(fig)
