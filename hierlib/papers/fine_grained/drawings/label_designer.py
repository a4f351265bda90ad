"""The label designer: sliders that mix labels, and what linear theory says about the mixture, live in the page.

The figure is one piece of HTML that holds its numbers, its look and its script. It needs no kernel, no server and no
network, and a downloaded notebook keeps it. The browser gets the eigenvalues of H_inf and the projections of the parts,
and computes (Arora et al. 2019, eq. 8, lemma 5.3 and eq. 10) for a mixture with projections a_i, scaled to |y| = sqrt(n):

    loss(k) = 1/2 sum_i (1 - eta lambda_i)^(2k) a_i^2,   path = sqrt(sum_i a_i^2 / lambda_i),   measure = sqrt(2/n) path.
"""

import html
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from torch import Tensor

from hierlib.figures.interactive import FRAME, LINE_AND_TEXT, SAVE_ROWS, look

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
    from IPython.display import HTML

    state = {
        "eta": eta,
        "values": _digits(values),
        "parts": [{"name": name, "projections": _digits(projections)} for name, projections in parts.items()],
        "presets": [_preset(name, preset) for name, preset in presets.items()],
    }
    names = [*parts, "eigenvectors"]
    weights = [_slider(name, f"data-weight style='--hl-part: var(--hl-{j})'") for j, name in enumerate(names)]
    bounds = [_slider(name, "data-rank") for name in ("from number", "to number")]
    buttons = "".join(f"<button type='button'>{html.escape(name)}</button>" for name in presets)
    data = json.dumps(state, separators=(",", ":")).replace("<", "\\u003c")
    sliders = "".join(f"<div>{''.join(group)}</div>" for group in (weights, bounds))
    body = BODY.format(sliders=sliders, buttons=buttons, n=len(values))
    return HTML(
        f"<style>{STYLE}</style><div class='hl-designer' hidden><script type='application/json'>{data}</script>{body}</div>"
        "<noscript><p>The label designer needs JavaScript; the figure below shows some fixed mixtures.</p></noscript>"
        f"<script>{SCRIPT}</script>"
    )


def _digits(numbers: Tensor) -> list[float]:
    """Ten digits: half the bytes of all of them, and far more than anyone can see."""
    return [float(f"{number:.10g}") for number in numbers.tolist()]


def _preset(name: str, preset: Preset) -> dict[str, object]:
    measured: list[list[float]] = []
    if preset.losses is not None:
        steps = np.unique(np.geomspace(1, len(preset.losses) - 1, MARKS).round().astype(int)).tolist()
        measured = [[k, float(f"{preset.losses[k].item():.6g}")] for k in steps]
    return {"name": name, "weights": list(preset.weights), "band": list(preset.band), "measured": measured}


def _slider(name: str, attributes: str) -> str:
    field = f"<input type='range' min='0' max='100' value='0' autocomplete='off' {attributes}>"
    return f"<label><span>{html.escape(name)}</span>{field}<output></output></label>"


BODY = """
<div class="hl-sliders">{sliders}</div>
<p class="hl-presets">Start from: {buttons}</p>
<div class="hl-charts">
<figure><svg viewBox="0 0 420 290" role="img"></svg>
<figcaption>Predicted loss per sample. Dashed: the mixture. Coloured lines: its parts alone.
<span class="hl-trained" hidden>Circles: a lazy network trained on exactly these labels.</span></figcaption></figure>
<figure><svg viewBox="0 0 420 290" role="img"></svg>
<figcaption>Where the labels live: share of |y|² on the {n} eigenvectors. Solid: what is left of it at
step k<sub>50</sub>.</figcaption></figure>
</div>
<dl aria-live="polite">
<div><dt>half of the loss is gone at k<sub>50</sub> =</dt><dd data-of="half"></dd></div>
<div><dt>path length √(y⊤H⁻¹y) =</dt><dd data-of="path"></dd></div>
<div><dt>complexity √(2 y⊤H⁻¹y / n) =</dt><dd data-of="measure"></dd></div>
</dl>
<p class="hl-numbers">Every mixture is rescaled to |y| = √n: only ratios of the weights count.
<a href="#" download="label-designer.csv">Data of this mixture (CSV)</a></p>
"""

STYLE = """
.hl-designer { --hl-0: #0072b2; --hl-1: #d55e00; --hl-2: #00845f; --hl-dot: #aa3377; font-size: .9em;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 6px; padding: .8rem; margin: 1rem 0; }
html[data-theme="dark"] .hl-designer, [data-jp-theme-light="false"] .hl-designer {
  --hl-0: #56b4e9; --hl-1: #ff9a55; --hl-2: #35c99c; --hl-dot: #f2a0cf; }
""" + look("hl-designer")

SCRIPT = (
    r"""
document.querySelectorAll(".hl-designer[hidden]").forEach((root) => {
  const { eta, values, parts, presets } = JSON.parse(root.querySelector("script").textContent);
  const n = values.length, all = (query) => [...root.querySelectorAll(query)];
  const weights = all("[data-weight]"), bounds = all("[data-rank]"), buttons = all("button");
  const [lossChart, shareChart] = all("svg");

  // The theory. Labels are the list of their projections; decay is what one step leaves of a squared error.
  const decay = values.map((value) => (1 - eta * value) ** 2);
  const sum = (term) => values.reduce((total, _, i) => total + term(i), 0);
  const eigenvectors = ([from, to]) =>
    values.map((_, i) => (i + 1 >= from && i < to ? Math.sqrt(n / (to - from + 1)) : 0));
  const mix = (vectors, amounts) => {
    const raw = values.map((_, i) => vectors.reduce((total, vector, j) => total + amounts[j] * vector[i], 0));
    const norm = Math.hypot(...raw);
    return norm > 0 ? raw.map((a) => (a * Math.sqrt(n)) / norm) : null;
  };
  const loss = (a, k) => sum((i) => decay[i] ** k * a[i] ** 2) / 2 / n;
  const path = (a) => Math.sqrt(sum((i) => a[i] ** 2 / values[i]));
  const half = (a) => {                                   // the first whole step with half of the loss, by bisection
    const open = (k) => loss(a, k) > loss(a, 0) / 2;
    let low = 0, high = 1;
    while (open(high) && high < 1e12) [low, high] = [high, 2 * high];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (open(middle)) low = middle; else high = middle;
    }
    return high;
  };

  // Whole numbers from 1 to `end`, evenly spaced on a log scale, without repetitions.
  const range = (count) => [...Array(count).keys()];
  const spaced = (end, count) => [...new Set(range(count + 1).map((t) => Math.round(end ** (t / count))))];
  const ranks = [...new Set([...spaced(n, 80), ...presets.flatMap((preset) => preset.band)])].sort((a, b) => a - b);
  const decades = Math.max(1, Math.ceil(Math.log10(5 / (eta * values[n - 1]))));
  const steps = spaced(10 ** decades, 150), bins = spaced(n + 1, 11);

  // Drawing: data within [left, right] x [top, bottom], ticks and titles outside.
  const left = 52, right = 410, top = 10, bottom = 240, floor = -4, wide = right - left, tall = bottom - top;
  const toX = (k) => left + (wide * Math.log10(k)) / decades;
  const toY = (value) => top + (tall * Math.log10(Math.max(value, 1e-9))) / floor;
"""
    + LINE_AND_TEXT
    + r"""  const raised = (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)];
  const power = (exponent) => "10" + [...String(exponent)].map(raised).join("");
"""
    + FRAME
    + r"""  const curve = (a, look) => {
    const points = steps.map((k) => `${toX(k).toFixed(1)},${toY(loss(a, k)).toFixed(1)}`);
    return `<polyline points="${points.join(" ")}" fill="none" ${look}/>`;
  };
  const circle = ([k, value]) =>
    `<circle cx="${toX(k)}" cy="${toY(value)}" r="3.4" fill="none" stroke="var(--hl-dot)" stroke-width="1.6"/>`;

  const drawLoss = (a, vectors, k50, measured) => {
    const box = `${left} ${top} ${wide} ${tall}`;         // an inner svg cuts off what falls below the floor
    lossChart.innerHTML = [
      frame(range(decades + 1).map((e) => [toX(10 ** e), power(e)]), range(1 - floor).map((e) => [toY(10 ** -e), power(-e)]),
        "gradient step k", "loss per sample"),
      `<svg x="${left}" y="${top}" width="${wide}" height="${tall}" viewBox="${box}">`,
      ...vectors.map((vector, j) => curve(vector, `stroke="var(--hl-${j})" stroke-width="1.6"`)),
      line(toX(k50), toY(loss(a, k50)), toX(k50), bottom, 'stroke-dasharray="2 3"'),
      text(toX(k50) + 5, bottom - 6, "k₅₀", "start"),
      curve(a, 'stroke="currentColor" stroke-width="2.4" stroke-dasharray="7 4"'),
      "</svg>",
      ...measured.filter(([, value]) => value >= 10 ** floor).map(circle),
    ].join("");
    lossChart.setAttribute("aria-label", `Predicted loss curve of the mixture: half of the loss is gone at step ${k50}`);
  };

  const drawShares = (a, k50) => {
    const step = wide / (bins.length - 1), toBar = (share) => bottom - tall * share;
    const bar = (b, share, opacity) => `<rect x="${left + b * step + 1}" width="${step - 2}" y="${toBar(share)}"
      height="${tall * share}" fill="currentColor" opacity="${opacity}"/>`;
    const within = (b, term) => sum((i) => (i + 1 >= bins[b] && i + 1 < bins[b + 1] ? term(i) / n : 0));
    shareChart.innerHTML = range(bins.length - 1).map((b) =>
      bar(b, within(b, (i) => a[i] ** 2), 0.3) + bar(b, within(b, (i) => decay[i] ** k50 * a[i] ** 2), 0.75)).join("") +
      frame(range(bins.length - 1).map((b) => [left + (b + 0.5) * step, bins[b]]),
        [0, 0.25, 0.5, 0.75, 1].map((share) => [toBar(share), `${100 * share}%`]),
        "eigenvectors, from this number on", "share of the labels");
    shareChart.setAttribute("aria-label", "Share of the labels on groups of eigenvectors, and what is left at step k50");
  };

  let rows = [];                                          // what the CSV link hands out
  const update = () => {
    const band = bounds.map((slider) => ranks[slider.value]).sort((a, b) => a - b);
    const amounts = weights.map((slider) => slider.value / 100);
    const vectors = [...parts.map((part) => part.projections), eigenvectors(band)], a = mix(vectors, amounts);
    weights.forEach((slider) => { slider.nextElementSibling.value = `${slider.value} %`; });
    bounds.forEach((slider) => {
      slider.nextElementSibling.value = ranks[slider.value];
      slider.setAttribute("aria-valuetext", ranks[slider.value]);
    });
    const same = (preset) => preset.weights.every((weight, j) => Math.round(100 * weight) === Number(weights[j].value)) &&
      (amounts[parts.length] === 0 || preset.band.every((rank, j) => rank === band[j]));
    const here = presets.findIndex(same), measured = here < 0 ? [] : presets[here].measured;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", index === here));
    root.querySelector(".hl-trained").hidden = !measured.length;
    const numbers = a ? { half: half(a), path: path(a), measure: path(a) * Math.sqrt(2 / n) } : {};
    all("dd").forEach((field) => {
      const number = numbers[field.dataset.of];
      field.dataset.value = number ?? "";
      field.textContent = !a ? "–" : field.dataset.of === "half" ? number : number.toPrecision(3);
    });
    rows = [["panel", "series", "x", "y"]];
    if (!a) {
      lossChart.innerHTML = shareChart.innerHTML = text(210, 130, "All weights are zero: there is nothing to learn.");
      return;
    }
    drawLoss(a, vectors, numbers.half, measured);
    drawShares(a, numbers.half);
    rows.push(...steps.map((k) => ["loss", "predicted", k, loss(a, k)]));
    rows.push(...measured.map(([k, value]) => ["loss", "trained", k, value]));
    rows.push(...a.map((projection, i) => ["share of the labels", "mixture", i + 1, projection ** 2 / n]));
  };

  const choose = (preset) => {
    weights.forEach((slider, j) => { slider.value = Math.round(100 * preset.weights[j]); });
    bounds.forEach((slider, j) => { slider.value = ranks.indexOf(preset.band[j]); });
    update();
  };
  bounds.forEach((slider) => { slider.max = ranks.length - 1; });
  buttons.forEach((button, index) => button.addEventListener("click", () => choose(presets[index])));
  [...weights, ...bounds].forEach((slider) => slider.addEventListener("input", update));
"""
    + SAVE_ROWS
    + r"""  root.hidden = false;
  choose(presets.at(-1));
});
"""
)
