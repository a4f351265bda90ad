// What the scripts of the interactive figures share. interactive.py puts this text and the script of one figure into one
// function, so that two figures on a page do not see each other's names.

// Start every figure of a class that has not been started: draw(root element, numbers of the figure).
const eachFigure = (name, draw) => document.querySelectorAll(`.${name}[hidden]`).forEach((root) => {
  root.hidden = false;
  draw(root, JSON.parse(root.querySelector("script").textContent));
});

const all = (root, query) => [...root.querySelectorAll(query)];

// Pieces of SVG.
const line = (x1, y1, x2, y2, look = "") =>
  `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="currentColor" ${look}/>`;
const text = (x, y, words, anchor = "middle", more = "") =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${words}</text>`;
const polyline = (points, look) =>
  `<polyline points="${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}" fill="none" ${look}/>`;

// A chart of 420 x 290: data within [left, right] x [top, bottom], ticks ([place, words], ...) and titles outside.
const plane = ({ right }) => {
  const left = 52, top = 10, bottom = 240, wide = right - left, tall = bottom - top;
  const axes = (xTicks, yTicks, xTitle, yTitle) => [
    ...xTicks.map(([x, words]) => line(x, top, x, bottom, 'opacity=".15"') + text(x, bottom + 18, words)),
    ...yTicks.map(([y, words]) => line(left, y, right, y, 'opacity=".15"') + text(left - 6, y + 4, words, "end")),
    line(left, bottom, right, bottom) + line(left, top, left, bottom) + text(left + wide / 2, 282, xTitle),
    text(0, 0, yTitle, "middle", `transform="translate(11 ${top + tall / 2}) rotate(-90)"`),
  ].join("");
  return { left, right, top, bottom, wide, tall, axes };
};

// The link of a figure hands out rows(), a list of [panel, series, x, y], as CSV.
const handOut = (root, rows) => root.querySelector("a[download]").addEventListener("click", (event) => {
  const content = [["panel", "series", "x", "y"], ...rows()].map((row) => row.join(",")).join("\n");
  event.currentTarget.href = `data:text/csv;charset=utf-8,${encodeURIComponent(content)}`;
});
