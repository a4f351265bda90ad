"""A figure on its page, sharp at every size, with the numbers that are plotted in it as a CSV link below."""

import base64
import csv
import io
from collections.abc import Iterator
from itertools import chain, groupby, product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure

Rows = Iterator[tuple[str, Any, Any]]  # series, x, y
MOST_ROWS = 4000  # of a CSV; what is denser is thinned
HEAVY = 300_000  # bytes of an SVG from which on a picture is the lighter thing


def publish(fig: Figure, name: str) -> None:
    """Show a figure with a link to the numbers in it, as CSV. The link holds the data: it works wherever the page is."""
    from IPython.display import HTML, display

    content = io.StringIO()
    writer = csv.writer(content)
    writer.writerow(["panel", "series", "x", "y"])
    writer.writerows(thinned(list(plotted(fig))))
    encoded = base64.b64encode(content.getvalue().encode()).decode()
    link = f"<a download='{name}.csv' href='data:text/csv;base64,{encoded}'>Plotted data (CSV)</a>"
    display(pictures(fig), raw=True)
    display(HTML(f"<p class='hl-data'>{link}</p>"))
    plt.close(fig)


def pictures(fig: Figure) -> dict[str, str]:
    """The figure by media type: an SVG where it is light, and a PNG, twice as fine where it has to stand for the SVG."""
    # The layout and its border are settled once, for both: they cost more than drawing.
    fig.draw_without_rendering()
    fig.set_layout_engine("none")
    border = fig.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
    drawing = io.BytesIO()
    with plt.rc_context({"svg.hashsalt": "hierlib"}):  # the same figure gives the same file
        fig.savefig(drawing, format="svg", bbox_inches=border, metadata={"Date": None})
    heavy = drawing.tell() > HEAVY
    pixels = io.BytesIO()
    fig.savefig(pixels, format="png", bbox_inches=border, dpi=(2 if heavy else 1) * fig.dpi)
    shown = {"image/png": base64.b64encode(pixels.getvalue()).decode()}
    return shown if heavy else {"image/svg+xml": drawing.getvalue().decode()} | shown


def thinned(rows: list[tuple[str, str, Any, Any]]) -> Iterator[tuple[str, str, str, str]]:
    """The rows with six digits; of more than a few thousand, every so many of each series, and its last."""
    every = -(-len(rows) // MOST_ROWS)
    for _, series in groupby(rows, key=lambda row: row[:2]):
        points = list(series)
        kept = points[::every] + (points[-1:] if (len(points) - 1) % every else [])
        for panel, name, x, y in kept:
            yield panel, name, x if isinstance(x, str) else f"{x:.6g}", f"{y:.6g}"


def plotted(fig: Figure) -> Iterator[tuple[str, str, Any, Any]]:
    """Every line, point cloud, mesh and image of a figure as (panel, series, x, y) rows."""
    for number, ax in enumerate(fig.axes):
        panel = ax.get_title() or ax.get_ylabel() or f"panel {number + 1}"
        for series, x, y in chain(_lines(ax), _clouds(ax), _meshes(ax), _images(ax)):
            yield panel, series, x, y


def _lines(ax: Axes) -> Rows:
    for number, line in enumerate(ax.lines):
        series = _named(line, f"line {number + 1}")
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):  # type: ignore[arg-type]
            yield series, x, y


def _clouds(ax: Axes) -> Rows:
    for number, cloud in enumerate(c for c in ax.collections if isinstance(c, PathCollection)):
        series = _named(cloud, f"points {number + 1}")
        for x, y in np.asarray(cloud.get_offsets()):
            yield series, x, y


def _meshes(ax: Axes) -> Rows:
    """One series per row of a mesh, named by its height; a colour bar holds no data."""
    for mesh in (c for c in ax.collections if isinstance(c, QuadMesh) and ax.get_label() != "<colorbar>"):
        corners, values = np.asarray(mesh.get_coordinates()), np.asarray(mesh.get_array())
        centres = (corners[:-1, :-1] + corners[1:, 1:]) / 2
        for heights, row in zip(centres, values.reshape(centres.shape[:2]), strict=True):
            for (x, height), value in zip(heights, row, strict=True):
                yield f"height {height:.4g}", x, value


def _images(ax: Axes) -> Rows:
    """One series per row of pixels, of a coloured image per colour too; x is the column."""
    for number, image in enumerate(ax.images):
        pixels = np.asarray(image.get_array())
        planes = (
            {"": pixels} if pixels.ndim == 2 else {f", {c}": pixels[..., i] for i, c in enumerate(("red", "green", "blue"))}
        )
        for (colour, plane), row in product(planes.items(), range(len(pixels))):
            for column, value in enumerate(plane[row]):
                yield f"image {number + 1}{colour}, row {row}", column, value


def _named(artist: Artist, otherwise: str) -> str:
    """The label that somebody gave; matplotlib's own begin with an underscore."""
    label = str(artist.get_label())
    return otherwise if label.startswith("_") else label
