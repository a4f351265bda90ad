"""What the interactive figures of the book share: their look, and the plain JavaScript that draws axes and hands out data.

An interactive figure is one piece of HTML that holds its numbers, its look and its script. The pieces below are text to be
put into such a script. They expect the names that each of them mentions.
"""

# Layout and type inside the figure's root element, whose class stands for ROOT.
_LOOK = """\
.ROOT :is(.hl-sliders, .hl-charts) { display: grid; gap: .2rem 1.6rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); }
.ROOT label { display: grid; grid-template-columns: 8rem 1fr 3rem; gap: .5rem; align-items: center; margin: 0; }
.ROOT label span { border-left: 4px solid var(--hl-part, transparent); padding-left: .4rem; }
.ROOT input { accent-color: var(--hl-part, currentColor); width: 100%; min-width: 0; height: 1.7rem; }
.ROOT output, .ROOT dd { font-variant-numeric: tabular-nums; }
.ROOT output { text-align: right; }
.ROOT .hl-presets { margin: .6rem 0; }
.ROOT button { font: inherit; color: inherit; background: transparent; border: 1px solid currentColor;
  border-radius: 4px; padding: .1rem .5rem; margin: 0 .3rem .3rem 0; cursor: pointer; }
.ROOT button[aria-pressed="true"] { background: color-mix(in srgb, currentColor 18%, transparent); }
.ROOT .hl-charts figure { margin: 0; }
.ROOT .hl-charts figure figcaption { font-size: .88em; font-weight: 400; margin: 0;
  text-align: left; color: inherit; }
.ROOT figure > svg { width: 100%; height: auto; display: block; }
.ROOT svg text { font-size: 13.5px; fill: currentColor; stroke: none; }
.ROOT dl { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; margin: .6rem 0; }
.ROOT dl div { display: flex; gap: .5rem; align-items: baseline; }
.ROOT dt { font-weight: 400; }
.ROOT dd { margin: 0; font-weight: 700; min-width: 2.6rem; }
.ROOT .hl-numbers { margin: 0; font-size: .88em; }
@media print { .ROOT :is(.hl-sliders, .hl-presets, a) { display: none; } }
"""

# line(x1, y1, x2, y2, look) and text(x, y, words, anchor, more): pieces of SVG.
LINE_AND_TEXT = r"""  const line = (x1, y1, x2, y2, look = "") =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="currentColor" ${look}/>`;
  const text = (x, y, words, anchor = "middle", more = "") =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${words}</text>`;
"""

# frame(xTicks, yTicks, xTitle, yTitle): axes around [left, right] x [top, bottom], which are wide and tall.
FRAME = r"""  const frame = (xTicks, yTicks, xTitle, yTitle) => [
    ...xTicks.map(([x, words]) => line(x, top, x, bottom, 'opacity=".15"') + text(x, bottom + 18, words)),
    ...yTicks.map(([y, words]) => line(left, y, right, y, 'opacity=".15"') + text(left - 6, y + 4, words, "end")),
    line(left, bottom, right, bottom) + line(left, top, left, bottom) + text(left + wide / 2, 282, xTitle),
    text(0, 0, yTitle, "middle", `transform="translate(11 ${top + tall / 2}) rotate(-90)"`),
  ].join("");
"""

# The link hands out `rows`, a list of lists, as CSV.
SAVE_ROWS = r"""  root.querySelector("a").addEventListener("click", (event) => {
    const content = rows.map((row) => row.join(",")).join("\n");
    event.currentTarget.href = `data:text/csv;charset=utf-8,${encodeURIComponent(content)}`;
  });
"""


def look(root: str) -> str:
    """Style rules for the figure whose root element has that class."""
    return _LOOK.replace(".ROOT", f".{root}")
