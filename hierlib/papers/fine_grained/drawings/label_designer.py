"""The label designer: sliders that mix labels, and what linear theory says about the mixture, live in the page.

The browser gets the eigenvalues of H_inf and the projections of the parts, and computes (Arora et al. 2019, eq. 8,
lemma 5.3 and eq. 10; in label_designer.js) for a mixture with projections a_i, scaled to |y| = sqrt(n):

    loss(k) = 1/2 sum_i (1 - eta lambda_i)^(2k) a_i^2,   path = sqrt(sum_i a_i^2 / lambda_i),   measure = sqrt(2/n) path.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from torch import Tensor

from hierlib.figures.interactive import charts, choices, csv_link, digits, interactive, readings, slider

if TYPE_CHECKING:
    from IPython.display import HTML

MARKS = 16  # measured points per preset


class Preset(NamedTuple):
    """A mixture with a button: a weight in [0, 1] for every part and one for the eigenvectors first..last.

    `losses` (steps + 1,) are those of a network trained on it, per sample; they are drawn when the sliders are there.
    """

    weights: Sequence[float]
    band: tuple[int, int]
    losses: Tensor | None = None


def label_designer(values: Tensor, parts: Mapping[str, Tensor], eta: float, presets: Mapping[str, Preset]) -> "HTML":
    """The figure: eigenvalues (n,) in descending order and, by name, the projections v_i' p_j (n,) of up to two parts.

    Equal amounts of the eigenvectors first..last are the last part; the sliders start at the last preset.
    """
    numbers = {
        "eta": eta,
        "values": digits(values.tolist(), 10),
        "parts": [{"name": name, "projections": digits(of.tolist(), 10)} for name, of in parts.items()],
        "presets": [_preset(name, preset) for name, preset in presets.items()],
    }
    instead = "The label designer needs JavaScript; the figure below shows some fixed mixtures."
    return interactive(Path(__file__), numbers, _body(parts, presets, len(values)), instead)


def _preset(name: str, preset: Preset) -> dict[str, object]:
    measured: list[tuple[int, float]] = []
    if preset.losses is not None:
        steps = np.unique(np.geomspace(1, len(preset.losses) - 1, MARKS).round().astype(int)).tolist()
        measured = list(zip(steps, digits(preset.losses[steps].tolist(), 6), strict=True))
    return {"name": name, "weights": list(preset.weights), "band": list(preset.band), "measured": measured}


def _body(parts: Iterable[str], presets: Iterable[str], n: int) -> str:
    start = "max='100' value='0'"
    names = enumerate([*parts, "eigenvectors"])
    weights = "".join(slider(name, f"{start} data-weight style='--hl-part: var(--hl-{j})'") for j, name in names)
    bounds = "".join(slider(name, f"{start} data-rank") for name in ("from number", "to number"))
    return (
        f"<div class='hl-sliders'><div>{weights}</div><div>{bounds}</div></div>"
        + choices("Start from", presets)
        + charts(
            "Predicted loss per sample. Dashed: the mixture. Coloured lines: its parts alone. "
            "<span class='hl-trained' hidden>Circles: a lazy network trained on exactly these labels.</span>",
            f"Where the labels live: share of |y|² on the {n} eigenvectors. "
            "Solid: what is left of it at step k<sub>50</sub>.",
        )
        + readings(
            {
                "half": "half of the loss is gone at k<sub>50</sub>",
                "path": "path length √(y⊤H⁻¹y)",
                "measure": "complexity √(2 y⊤H⁻¹y / n)",
            }
        )
        + "<p class='hl-numbers'>Every mixture is rescaled to |y| = √n: only ratios of the weights count. "
        + f"{csv_link('label-designer', 'Data of this mixture')}</p>"
    )
