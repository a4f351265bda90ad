"""One look for all figures, and the plotted data beside each of them.

fig, ax = panels(1)
laid_over(ax, k, predicted, measured)
publish(fig, "loss-curves")
"""

import base64
import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
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
    return plt.subplots(1, count, figsize=(max(width * count, 6.0 if count == 1 else 0), height), **options)


def laid_over(ax: Axes, x: ArrayLike, predicted: ArrayLike, measured: Mapping[str, ArrayLike], marks: int = 14) -> None:
    """Measurements as coloured marks on lines, the prediction as one dashed black line on top of them."""
    x = np.asarray(x)
    for label, y in measured.items():
        ax.plot(x, np.asarray(y), marker="o", markevery=max(1, len(x) // marks), label=label)
    ax.plot(x, np.asarray(predicted), label="predicted", zorder=5, **PREDICTION)
    ax.legend()


def power_law(ax: Axes, x: ArrayLike, y: ArrayLike, fit: Fit, label: str = "", color: str = COLOURS[0]) -> None:
    """Repeated measurements of a power law as marks, y (len(x), repeats), and the fitted line with its slope, log-log."""
    y = np.asarray(y)
    ax.loglog(x, y[:, 0], "o", color=color, label=f"{label}{', ' if label else ''}slope {fit.slope:.2f}")
    ax.loglog(x, y[:, 1:], "o", color=color)
    ax.loglog(x, fit(x), color=color, linestyle="--", linewidth=1)
    ax.legend()


def publish(fig: Figure, name: str) -> None:
    """Show a figure with a link to the numbers in it, as CSV. The link holds the data: it works wherever the page is."""
    from IPython.display import HTML, display

    content = io.StringIO()
    writer = csv.writer(content)
    writer.writerow(["panel", "series", "x", "y"])
    writer.writerows(plotted(fig))
    encoded = base64.b64encode(content.getvalue().encode()).decode()
    link = f"<a download='{name}.csv' href='data:text/csv;base64,{encoded}'>Plotted data (CSV)</a>"
    display(fig)
    display(HTML(f"<p class='hl-data'>{link}</p>"))
    plt.close(fig)


def plotted(fig: Figure) -> Iterator[tuple[str, str, Any, Any]]:
    """Every line, point cloud, mesh and image of a figure as (panel, series, x, y) rows.

    A mesh gives one series per row, named by its height; an image gives one per row of pixels, and x is the column.
    """
    for number, ax in enumerate(fig.axes):
        panel = ax.get_title() or ax.get_ylabel() or f"panel {number + 1}"
        for index, line in enumerate(ax.lines):
            label = str(line.get_label())
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):  # type: ignore[arg-type]
                yield panel, f"line {index + 1}" if label.startswith("_") else label, x, y
        for index, cloud in enumerate(c for c in ax.collections if isinstance(c, PathCollection)):
            label = str(cloud.get_label())
            for x, y in np.asarray(cloud.get_offsets()):
                yield panel, f"points {index + 1}" if label.startswith("_") else label, x, y
        for mesh in (c for c in ax.collections if isinstance(c, QuadMesh) and ax.get_label() != "<colorbar>"):
            corners, values = np.asarray(mesh.get_coordinates()), np.asarray(mesh.get_array())
            centres = (corners[:-1, :-1] + corners[1:, 1:]) / 2
            for heights, row in zip(centres, values.reshape(centres.shape[:2]), strict=True):
                for (x, height), value in zip(heights, row, strict=True):
                    yield panel, f"height {height:.4g}", x, value
        for index, image in enumerate(ax.images):
            for row, values in enumerate(np.asarray(image.get_array())):
                for column, value in enumerate(values):
                    yield panel, f"image {index + 1}, row {row}", column, value
