"""One look for all figures.

fig, ax = panels(1)
overlay(ax, k, predicted, measured)
publish(fig, "loss-curves")               # hierlib.figures.data_link
"""

import warnings
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from hierlib.measures.fits import Fit

# Okabe and Ito's palette, which colour-blind readers can tell apart; black is kept for predictions.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PREDICTION: dict[str, Any] = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.3}
STYLE: Any = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "axes.prop_cycle": cycler(color=COLOURS),
    "figure.constrained_layout.use": True,
}


def panels(count: int, width: float = 4.6, height: float = 3.5, **options: Any) -> tuple[Figure, Any]:
    """A row of `count` axes in the book's style; a single Axes when there is one."""
    mpl.rcParams.update(STYLE)
    # matplotlib says so when a second has passed, which on a busy machine it does; a warning would end up on the page.
    warnings.filterwarnings("ignore", message="Creating legend with loc")
    return plt.subplots(1, count, figsize=(max(width * count, 6.0 if count == 1 else 0), height), **options)


def overlay(ax: Axes, x: ArrayLike, predicted: ArrayLike, measured: Mapping[str, ArrayLike]) -> None:
    """Measurements as coloured marks on lines, the prediction as one dashed black line on top of them."""
    x = np.asarray(x)
    for label, y in measured.items():
        ax.plot(x, np.asarray(y), marker="o", markevery=max(1, len(x) // 14), label=label)
    ax.plot(x, np.asarray(predicted), label="predicted", zorder=5, **PREDICTION)
    ax.legend()


def power_law(ax: Axes, x: ArrayLike, y: ArrayLike, fit: Fit, label: str = "", color: str = COLOURS[0]) -> None:
    """Repeated measurements of a power law as marks, y (len(x), repeats), and the fitted line with its slope, log-log."""
    y = np.asarray(y)
    ax.loglog(x, y[:, 0], "o", color=color, label=f"{label}{', ' if label else ''}slope {fit.slope:.2f}")
    ax.loglog(x, y[:, 1:], "o", color=color)
    ax.loglog(x, fit(x), color=color, linestyle="--", linewidth=1)
    ax.legend()
