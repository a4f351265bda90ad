import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
import torch

from hierlib.data.labels import random_signs
from hierlib.data.spheres import unit_sphere
from hierlib.figures.data_link import plotted
from hierlib.figures.style import panels
from hierlib.papers.fine_grained.drawings.figure1 import draw_alignment, draw_images, running_median
from hierlib.papers.fine_grained.figure1 import three_labels

OF = three_labels(unit_sphere(40, 6, seed=0), random_signs(40, seed=5), seed=0)


@pytest.fixture
def axes():
    fig, axes = panels(2)
    yield axes
    matplotlib.pyplot.close(fig)


def test_shares_add_up_to_one_and_worst_case_labels_sit_at_the_very_end(axes):
    draw_alignment(*axes, OF.eigen, OF.labels)
    shares = {line.get_label(): np.asarray(line.get_ydata()) for line in axes[1].lines}
    assert all(np.isclose(share[-1], 1) for share in shares.values())
    assert np.isclose(shares["worst labels"][-2], 0, atol=1e-9)
    assert np.allclose(shares["no preference, $k/n$"], np.arange(1, 41) / 40)


def test_the_running_median_keeps_the_first_values_and_looks_a_fifth_to_either_side_of_the_others():
    values = torch.rand(300, generator=torch.Generator().manual_seed(0))
    at, median = running_median(values)
    assert at[0] == 1 and at[-1] == 300
    assert np.allclose(median[:4], values[:4])
    where = int(np.flatnonzero(at >= 100)[0])
    i = at[where]
    near = [value for number, value in enumerate(values.tolist(), start=1) if i / 1.2 <= number <= i * 1.2]
    assert np.isclose(median[where], sorted(near)[(len(near) - 1) // 2])  # torch takes the lower of two middle values


def test_every_plotted_point_reaches_the_csv(axes):
    draw_alignment(*axes, OF.eigen, OF.labels)
    assert sum(1 for _ in plotted(axes[0].figure)) == sum(len(line.get_xdata()) for ax in axes for line in ax.lines)


def test_images_are_upright_with_their_channels_last_and_their_values_above(axes):
    flat = torch.arange(2 * 3 * 4 * 5).double().reshape(2, 60)  # two images of 3 channels, 4 rows, 5 columns
    draw_images(axes, flat, (3, 4, 5), torch.tensor([1.25, -2.0]))
    shown = axes[1].images[0].get_array()
    assert shown.shape == (4, 5, 3) and shown.min() == 0 and shown.max() == 1
    assert np.isclose(shown[1, 2, 0], (1 * 5 + 2) / 59)  # first channel, row 1, column 2
    assert [ax.get_title() for ax in axes] == ["+1.2", "-2.0"]
