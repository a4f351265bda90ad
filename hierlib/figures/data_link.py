"""A figure on its page, with the numbers that are plotted in it as a CSV link below."""

import base64
import csv
import io
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure


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
