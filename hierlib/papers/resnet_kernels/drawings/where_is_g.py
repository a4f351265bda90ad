"""Where is G? A slider over training time, and how much of the two signals each block of the network holds, in the page.

One piece of HTML with its numbers, its look and its script; it needs no kernel, no server and no network. For every run
and moment it holds four shares (of F and of G, in out_1 and in what the second block adds; 1 is all of it) and the error.
"""

import html
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hierlib.figures.interactive import FRAME, LINE_AND_TEXT, SAVE_ROWS, look

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


def storage_figure(samples: Sequence[int], runs: Mapping[str, Storage]) -> "HTML":
    """The figure: how many samples were seen at each moment, ascending, and the runs by name. It starts at the first run."""
    from IPython.display import HTML

    if any(len(series) != len(samples) for run in runs.values() for series in run):
        raise ValueError("every series needs one number per moment")
    state = {
        "samples": list(samples),
        "series": SERIES,
        "runs": [{"name": name, "values": [[_digits(v) for v in series] for series in run]} for name, run in runs.items()],
    }
    data = json.dumps(state, separators=(",", ":")).replace("<", "\\u003c")
    buttons = "".join(f"<button type='button' data-run>{html.escape(name)}</button>" for name in runs)
    body = BODY.format(buttons=buttons, last=len(samples) - 1)
    return HTML(
        f"<style>{STYLE}</style><div class='hl-storage' hidden><script type='application/json'>{data}</script>{body}</div>"
        "<noscript><p>The time slider needs JavaScript; the figure below shows the same runs on paper.</p></noscript>"
        f"<script>{SCRIPT}</script>"
    )


def _digits(number: float) -> float:
    """Five digits are more than anyone can see."""
    return float(f"{float(number):.5g}")


BODY = """
<p class="hl-presets">Network: {buttons}</p>
<div class="hl-sliders hl-time"><label><span>samples seen</span><input type="range" min="0" max="{last}" value="{last}"
autocomplete="off"><output></output></label><p><button type="button" data-play aria-pressed="false">Play</button></p></div>
<div class="hl-charts">
<figure><svg viewBox="0 0 420 290" role="img"></svg>
<figcaption>How much of each signal the two blocks hold at this moment. A perfect output has 1 of
each.</figcaption></figure>
<figure><svg viewBox="0 0 420 290" role="img"></svg>
<figcaption>The same over time. Solid: first block. Dashed: second block.
<span class="hl-f">F</span>, <span class="hl-g">G</span>.</figcaption></figure>
</div>
<dl aria-live="polite">
<div><dt>G in the second block =</dt><dd data-of="3"></dd></div>
<div><dt>G in the first block =</dt><dd data-of="2"></dd></div>
<div><dt>error E|out − H|² =</dt><dd data-of="4"></dd></div>
</dl>
<p class="hl-numbers"><a href="#" download="where-is-g.csv">Data of this network (CSV)</a></p>
"""

STYLE = """
.hl-storage { --hl-0: #0072b2; --hl-1: #d55e00; font-size: .9em;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 6px; padding: .8rem; margin: 1rem 0; }
html[data-theme="dark"] .hl-storage, [data-jp-theme-light="false"] .hl-storage { --hl-0: #56b4e9; --hl-1: #ff9a55; }
.hl-storage .hl-f { color: var(--hl-0); font-weight: 700; }
.hl-storage .hl-g { color: var(--hl-1); font-weight: 700; }
.hl-storage .hl-time p { margin: 0; }
""" + look("hl-storage").replace("8rem 1fr 3rem", "6.5rem 1fr 4rem")

SCRIPT = (
    r"""
document.querySelectorAll(".hl-storage[hidden]").forEach((root) => {
  const { samples, series, runs } = JSON.parse(root.querySelector("script").textContent);
  const all = (query) => [...root.querySelectorAll(query)], slider = root.querySelector("input");
  const buttons = all("[data-run]"), play = root.querySelector("[data-play]"), [bars, curves] = all("svg");
  const last = samples.length - 1, colour = (s) => `var(--hl-${s < 2 ? 0 : 1})`;

  // Drawing: data within [left, right] x [top, bottom]. Heights share one scale over all runs, so that runs compare.
  const left = 52, right = 400, top = 10, bottom = 240, wide = right - left, tall = bottom - top;
  const shown = runs.flatMap((run) => run.values.slice(0, 4).flat());
  const low = Math.min(-0.1, ...shown) - 0.1, high = Math.max(1, ...shown) + 0.15;      // room for the numbers
  const toX = (count) => left + (wide * count) / samples[last];
  const toY = (share) => bottom - (tall * (share - low)) / (high - low);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => [toY(share), share]);
"""
    + LINE_AND_TEXT
    + FRAME
    + r"""  const drawBars = (run, at) => {
    const slot = wide / 4, centre = (s) => left + slot * ([0, 2, 1, 3][s] + 0.5);
    const bar = (s) => {
      const share = run.values[s][at], x = centre(s) - slot * 0.3;
      return `<rect data-series="${s}" x="${x}" width="${slot * 0.6}" y="${toY(Math.max(share, 0))}"
        height="${Math.abs(toY(share) - toY(0))}" fill="${colour(s)}" stroke="${colour(s)}" stroke-width="1.6"
        fill-opacity="${s % 2 ? 0.35 : 1}" ${s % 2 ? 'stroke-dasharray="5 3"' : ""}/>` +
        text(centre(s), toY(Math.max(share, 0)) - 5, share.toFixed(2).replace("-", "−"));
    };
    const names = ["F, first", "F, second", "G, first", "G, second"];
    bars.innerHTML = frame(names.map((name, s) => [centre(s), name]), ticks, "signal, block", "share of the signal") +
      line(left, toY(0), right, toY(0)) +
      line(left, toY(1), right, toY(1), 'stroke-dasharray="4 3"') + [0, 1, 2, 3].map(bar).join("");
    bars.setAttribute("aria-label", series.map((name, s) => `${name} ${run.values[s][at].toFixed(2)}`).join(", "));
  };
  const drawCurves = (run, at) => {
    const points = (s) => samples.map((count, i) => `${toX(count).toFixed(1)},${toY(run.values[s][i]).toFixed(1)}`);
    const curve = (s) => `<polyline fill="none" stroke="${colour(s)}" stroke-width="2" points="${points(s).join(" ")}"
      ${s % 2 ? 'stroke-dasharray="6 4"' : ""}/>`;
    const now = toX(samples[at]);
    const dot = (s) => `<circle cx="${now}" cy="${toY(run.values[s][at])}" r="3.6" fill="${colour(s)}"/>`;
    const counts = [0, 0.25, 0.5, 0.75, 1].map((part) => part * samples[last]);
    const short = (count) => (samples[last] < 10000 ? Math.round(count) : `${+(count / 1000).toFixed(1)}k`);
    const times = counts.map((count) => [toX(count), short(count)]);
    curves.innerHTML = frame(times, ticks, "samples seen", "share of the signal") +
      line(left, toY(0), right, toY(0)) + [0, 1, 2, 3].map(curve).join("") +
      line(now, top, now, bottom, 'data-now stroke-dasharray="2 3"') + [0, 1, 2, 3].map(dot).join("");
    curves.setAttribute("aria-label", `Shares of both signals in both blocks over time; now ${samples[at]} samples`);
  };

  let chosen = 0, timer = null, rows = [];
  const update = () => {
    const run = runs[chosen], at = Number(slider.value);
    slider.nextElementSibling.value = samples[at];
    slider.setAttribute("aria-valuetext", `${samples[at]} samples`);
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", index === chosen));
    drawBars(run, at);
    drawCurves(run, at);
    all("dd").forEach((field) => {
      const number = run.values[field.dataset.of][at];
      field.dataset.value = number;
      field.textContent = number.toFixed(3).replace("-", "−");
    });
    rows = [["panel", "series", "x", "y"], ...[...series, "error"].flatMap((name, s) =>
      samples.map((count, i) => [run.name, name, count, run.values[s][i]]))];
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", false);
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (Number(slider.value) === last) slider.value = 0;
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", true);
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      update();
      if (Number(slider.value) === last) stop();
    }, 6000 / last);
    update();
  });
  slider.addEventListener("input", () => { stop(); update(); });
  buttons.forEach((button, index) => button.addEventListener("click", () => { chosen = index; update(); }));
"""
    + SAVE_ROWS
    + r"""  root.hidden = false;
  update();
});
"""
)
