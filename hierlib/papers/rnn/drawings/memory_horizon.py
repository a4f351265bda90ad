"""The memory horizon: sliders over input variance, gain, length and position, and what is recalled of a token, in the page.

For every setting it holds the recall of each token, measured and predicted; memory_horizon.js draws them. (Not in Wang et
al. 2021, whose scale of the inputs it explains.)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hierlib.figures.interactive import charts, csv_link, digits, interactive, readings, slider

if TYPE_CHECKING:
    from IPython.display import HTML


class Setting(NamedTuple):
    """Recall of the tokens of a sequence, first to last, for one input variance, gain and length."""

    variance: float
    gain: float
    length: int
    measured: Sequence[float]
    predicted: Sequence[float]


def memory_horizon_figure(settings: Sequence[Setting], start: tuple[float, float, int]) -> "HTML":
    """The figure for a full grid of settings; `start` is the variance, gain and length it opens with, at the first token."""
    variances, gains = sorted({s.variance for s in settings}), sorted({s.gain for s in settings})
    lengths = sorted({s.length for s in settings})
    found = {(s.variance, s.gain, s.length): s for s in settings}
    grid = [(variance, gain, length) for variance in variances for gain in gains for length in lengths]
    if missing := [at for at in grid if at not in found]:
        raise ValueError(f"the grid of settings has a hole at {missing[0]}")
    numbers = {
        "variances": variances,
        "gains": gains,
        "lengths": lengths,
        "start": [variances.index(start[0]), gains.index(start[1]), lengths.index(start[2])],
        "recall": [[digits(found[at].measured, 3), digits(found[at].predicted, 3)] for at in grid],
    }
    instead = "The sliders need JavaScript; the figure below shows some of the settings on paper."
    return interactive(
        Path(__file__), numbers, _body([len(variances) - 1, len(gains) - 1, len(lengths) - 1], lengths[-1] - 1), instead
    )


def _body(last: list[int], tokens: int) -> str:
    names = ("input variance", "gain of W", "length L")
    sliders = [slider(name, f"max='{end}'") for name, end in zip(names, last, strict=True)]
    sliders.append(slider("token", f"max='{tokens}' value='0'"))
    return (
        f"<div class='hl-sliders'>{''.join(sliders)}</div>"
        + charts(
            "What is recalled of each token. Circles: regression with the limit kernel. Line: predicted, nothing fitted. "
            "Dotted: the memory horizon, counted from the end.",
            "The chosen token at this length and gain, for all input variances. Dotted: the paper's, L⁻³.",
        )
        + readings({"measured": "recall, measured", "predicted": "predicted", "horizon": "horizon in steps"})
        + f"<p class='hl-numbers'>{csv_link('memory-horizon', 'Data of this setting')}</p>"
    )
