"""Descent near its limit of stability, drawn: what happens to the loss, to the units and to the largest eigenvalue."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from hierlib.figures.style import COLOURS, PREDICTION
from hierlib.papers.fine_grained.stability import Watched


def draw_watched(axes: Sequence[Axes], marks: Sequence[int], runs: Mapping[str, Watched]) -> None:
    """Three panels: loss per sample, active units, eta lambda_max and the limit."""
    for colour, (name, run) in zip(COLOURS, runs.items(), strict=False):
        axes[0].semilogy(run.loss, color=colour, label=name)
        axes[1].plot(marks, run.active, color=colour, marker="o", label=name)
        axes[2].plot(marks, run.sharpness, color=colour, marker="o", label=name)
    axes[2].axhline(2, label="limit of stability", **PREDICTION)
    axes[0].set(xlabel="gradient step $k$", ylabel="loss per sample")
    axes[1].set(xlabel="gradient step $k$", ylabel="share of active units", ylim=(0, 0.7))
    axes[2].set(xlabel="gradient step $k$", ylabel=r"$\eta\lambda_{\max}(H(k))$", ylim=(0, None))
    axes[0].legend()
