"""The figures of Fact D.4 to Claim D.7 of Allen-Zhu and Li 2019: size and direction of a gradient step along runs."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from hierlib.figures.style import COLOURS, PREDICTION
from hierlib.measures.fits import Fit
from hierlib.papers.resnet_kernels.step_views import StepView


def draw_sizes(left: Axes, right: Axes, scales: Sequence[float], in_W: ArrayLike, moved: ArrayLike, in_V: ArrayLike) -> None:
    """Largest gradients in units of |y - out|, with the bounds of Claim D.5 (constant 2).

    Left: in W, against sigma_v (scales). Right: in V (networks, snapshots), against |W - W^(0)|_F (networks, snapshots).
    """
    left.loglog(scales, np.asarray(in_W), "o-", label=r"gradient in $W$")
    left.loglog(scales, 2 * (np.array(scales) + 1), label=r"$2(\sigma_v+1)$", **PREDICTION)
    for index, (x, y) in enumerate(zip(np.asarray(moved), np.asarray(in_V), strict=True)):
        right.plot(x, y, "o-", color=COLOURS[index % len(COLOURS)], label=rf"gradient in $V$, network {index + 1}")
    far = np.asarray(moved).max()
    right.plot([0, far], [2, 2 * far + 2], label=r"$2(\|W\|_F+1)$", **PREDICTION)
    left.set(xlabel=r"scale $\sigma_v$ of the second block", ylabel=r"$\|\nabla\mathrm{Obj}\|_F\,/\,\|y-\mathrm{out}\|$")
    right.set(xlabel=r"distance $\|W\|_F$ from the start", ylim=(0, None))
    left.legend()
    right.legend()


def draw_first_block(ax: Axes, when: Sequence[int], views: Mapping[str, StepView]) -> None:
    """|out_1 - F| over the bound of Claim D.7, worst network; fields of the views are (networks, snapshots)."""
    for colour, (name, view) in zip(COLOURS, views.items(), strict=False):
        ax.semilogx(when, np.asarray(view.away_ratio).max(0), "o-", color=colour, label=name)
    ax.semilogx(when, np.ones(len(when)), label="bound", **PREDICTION)
    ax.set(xlabel="step", ylabel=r"$\|\mathrm{out}_1-\mathcal{F}\|$ / bound", ylim=(0, None))
    ax.legend()


def draw_direction(ax: Axes, when: Sequence[int], views: Mapping[str, StepView]) -> None:
    """Err and its bound for the first network of the first and last regime, and H - out in the first."""
    names = list(views)
    for colour, name in ((COLOURS[0], names[0]), (COLOURS[len(names) - 1], names[-1])):
        ax.loglog(when, np.asarray(views[name].err)[0], "o-", color=colour, label=f"Err, {name}")
    view = views[names[0]]
    ax.loglog(when, np.asarray(view.miss)[0], "s-", color=COLOURS[3], label=rf"$\mathcal{{H}}-$out, {names[0]}")
    ax.loglog(when, np.asarray(view.err_bound)[0], label=f"bound on Err, {names[0]}", **PREDICTION)
    ax.loglog(when, np.asarray(view.remainder)[0], ":", color="black", label="its remainder")
    ax.set(xlabel="step", ylabel="root mean square")
    ax.legend()


def draw_remainder(ax: Axes, widths: Sequence[int], sizes: ArrayLike, fit: Fit) -> None:
    """The size of out_1 at the start (widths, networks), and the power -1/8 through its middle."""
    mean = np.asarray(sizes).mean(1)
    middle = np.exp(np.mean(np.log(mean))) * (np.array(widths) / np.exp(np.mean(np.log(widths)))) ** -0.125
    ax.loglog(widths, mean, "o", label=f"slope {fit.slope:.3f}")
    ax.loglog(widths, middle, label="slope $-1/8$", **PREDICTION)
    ax.set(xlabel="width $m$", ylabel=r"$\|\mathrm{out}_1\|$ at the start")
    ax.legend()
