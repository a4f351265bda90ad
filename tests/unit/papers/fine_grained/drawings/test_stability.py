import matplotlib

matplotlib.use("Agg")

import torch

from hierlib.figures.style import panels
from hierlib.papers.fine_grained.drawings.stability import draw_watched
from hierlib.papers.fine_grained.stability import Watched


def test_a_watched_run_is_drawn_beside_the_limit_of_stability():
    fig, axes = panels(3)
    run = Watched(torch.tensor([1.0, 5.0, 0.5]), torch.tensor([0.5, 0.2]), torch.tensor([3.0, 1.0]))
    draw_watched(axes, [0, 2], {"beyond": run})
    assert [list(ax.lines[0].get_ydata()) for ax in axes[1:]] == [run.active.tolist(), run.sharpness.tolist()]
    assert set(axes[2].lines[1].get_ydata()) == {2}
    matplotlib.pyplot.close(fig)
