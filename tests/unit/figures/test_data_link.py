"""Figures carry their numbers."""

import base64
import csv
import io
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from hierlib.figures.data_link import MOST_ROWS, pictures, plotted, publish, thinned
from hierlib.figures.style import panels


def test_lines_points_and_images_are_all_in_the_data():
    fig, (left, right) = panels(2)
    left.plot([1, 2], [3, 4], label="line")
    left.scatter([5], [6], label="cloud")
    right.imshow([[7, 8], [9, 10]])
    rows = list(plotted(fig))
    assert ("panel 1", "line", 1, 3) in rows and ("panel 1", "cloud", 5.0, 6.0) in rows
    assert [value for panel, series, _, value in rows if series.startswith("image")] == [7, 8, 9, 10]
    plt.close(fig)


def test_a_coloured_image_has_one_series_per_colour_and_row():
    fig, ax = panels(1)
    ax.imshow([[[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]])
    rows = {(series, x): float(y) for _, series, x, y in thinned(list(plotted(fig)))}
    assert rows["image 1, red, row 0", "1"] == 0.4 and rows["image 1, blue, row 0", "0"] == 0.3
    assert len(rows) == 6


def test_a_mesh_is_in_the_data_by_its_centres_and_its_colour_bar_is_not():
    fig, ax = panels(1)
    mesh = ax.pcolormesh([1, 2, 3], [10, 20], [[7, 8, 9], [4, 5, 6]], shading="nearest")
    fig.colorbar(mesh)
    rows = [(series, x, value) for _, series, x, value in plotted(fig) if series.startswith("height")]
    assert rows[:3] == [("height 10", 1.0, 7), ("height 10", 2.0, 8), ("height 10", 3.0, 9)] and len(rows) == 6
    plt.close(fig)


def test_publish_shows_the_figure_and_a_link_that_holds_the_data(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda thing, **options: shown.append(thing))
    fig, ax = panels(1)
    ax.plot([1, 2], [3, 4], label="line, with a comma")
    publish(fig, "curve")
    assert set(shown[0]) == {"image/svg+xml", "image/png"}
    assert not plt.fignum_exists(fig.number), "it would be shown twice if it stayed open"
    name, encoded = re.search(r"download='([^']+)' href='data:text/csv;base64,([^']+)'", shown[1].data).groups()
    rows = list(csv.reader(io.StringIO(base64.b64decode(encoded).decode())))
    assert name == "curve.csv" and rows[0] == ["panel", "series", "x", "y"]
    assert rows[1][1:] == ["line, with a comma", "1", "3"] and len(rows) == 3


def test_the_same_figure_gives_the_same_file_and_a_heavy_one_becomes_a_fine_picture():
    fig, ax = panels(1)
    ax.plot([1, 2], [3, 4])
    assert pictures(fig) == pictures(fig)
    coarse = len(pictures(fig)["image/png"])
    ax.scatter(range(20000), range(20000))
    heavy = pictures(fig)
    assert set(heavy) == {"image/png"} and len(heavy["image/png"]) > coarse
    plt.close(fig)


def test_a_dense_series_is_thinned_and_keeps_its_ends():
    rows = [("panel", "dense", x, x / 3) for x in range(30001)] + [("panel", "sparse", x, x) for x in range(3)]
    kept = list(thinned(rows))
    assert len(kept) <= MOST_ROWS + 4
    assert kept[0] == ("panel", "dense", "0", "0") and ("panel", "dense", "30000", "10000") in kept
    assert [row for row in kept if row[1] == "sparse"][-1] == ("panel", "sparse", "2", "2")
