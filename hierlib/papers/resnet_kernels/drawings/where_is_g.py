"""Where is G? A slider over training time, and how much of the two signals each block of the network holds, in the page.

For every run and moment it holds four shares (of F and of G, in out_1 and in what the second block adds; 1 is all of it)
and the error (Allen-Zhu and Li 2019); where_is_g.js draws them.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hierlib.figures.interactive import charts, choices, csv_link, digits, interactive, readings, slider

if TYPE_CHECKING:
    from IPython.display import HTML

SERIES = ("F in the first block", "F in the second block", "G in the first block", "G in the second block")


class Storage(NamedTuple):
    """Shares of the base signal F and the composite signal G by block, and E|out - H|^2: one number per moment."""

    base_first: Sequence[float]
    base_second: Sequence[float]
    composite_first: Sequence[float]
    composite_second: Sequence[float]
    error: Sequence[float]


def where_is_g_figure(samples: Sequence[int], runs: Mapping[str, Storage]) -> "HTML":
    """The figure: how many samples were seen at each moment, ascending, and the runs by name. It starts at the first run."""
    if any(len(series) != len(samples) for run in runs.values() for series in run):
        raise ValueError("every series needs one number per moment")
    numbers = {
        "samples": list(samples),
        "series": SERIES,
        "runs": [{"name": name, "values": [digits(series, 5) for series in run]} for name, run in runs.items()],
    }
    instead = "The time slider needs JavaScript; the figure below shows the same runs on paper."
    return interactive(Path(__file__), numbers, _body(runs, last=len(samples) - 1), instead)


def _body(runs: Iterable[str], last: int) -> str:
    time = slider("samples seen", f"max='{last}' value='{last}'")
    play = "<p><button type='button' data-play aria-pressed='false'>Play</button></p>"
    return (
        choices("Network", runs)
        + f"<div class='hl-sliders hl-time'>{time}{play}</div>"
        + charts(
            "How much of each signal the two blocks hold at this moment. A perfect output has 1 of each.",
            "The same over time. Solid: first block. Dashed: second block. "
            "<span class='hl-f'>F</span>, <span class='hl-g'>G</span>.",
        )
        + readings({"3": SERIES[3], "2": SERIES[2], "4": "error E|out − H|²"})
        + f"<p class='hl-numbers'>{csv_link('where-is-g', 'Data of this network')}</p>"
    )
