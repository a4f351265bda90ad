/* global all, eachFigure, handOut, line, plane, polyline, text */ // from interactive.js
eachFigure("hl-memory-horizon", (root, { variances, gains, lengths, start, recall }) => {
  const sliders = all(root, "input"), [tokensChart, variancesChart] = all(root, "svg");
  const at = (v, g, l) => recall[(v * gains.length + g) * lengths.length + l];
  const horizon = (variance) => 1.488 * variance ** (-1 / 3);          // steps, at gain 1

  // Drawing.
  const { left, top, bottom, wide, tall, axes } = plane({ right: 395 }), low = -0.1, high = 1.05;
  const raised = (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)];
  const power = (variance) => "10" + [...String(Math.round(Math.log10(variance)))].map(raised).join("");
  const toY = (value) => bottom - (tall * (Math.max(value, low) - low)) / (high - low);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => [toY(share), share]);
  const both = (xs, [measured, predicted]) => [
    polyline(xs.map((x, i) => [x, toY(predicted[i])]), 'stroke="var(--hl-0)" stroke-width="2"'),
    ...xs.map((x, i) => `<circle data-measured cx="${x}" cy="${toY(measured[i])}" r="3.2" fill="none"
      stroke="var(--hl-1)" stroke-width="1.6"/>`),
  ].join("");
  const marker = (x, words, side) => line(x, top, x, bottom, 'data-marker stroke-dasharray="2 3"') +
    text(x + (side === "end" ? -4 : 4), top + 12, words, side);
  const chosen = (x, value) => `<circle data-chosen cx="${x}" cy="${toY(value)}" r="6" fill="none" stroke="currentColor"
    stroke-width="2"/>`;

  const update = () => {
    const [v, g, l, p] = sliders.map((slider) => Number(slider.value));
    const length = lengths[l], token = Math.min(p, length - 1), curves = at(v, g, l);
    const shown = [power(variances[v]), gains[g], length, token + 1];
    sliders.forEach((slider, i) => {
      slider.nextElementSibling.value = shown[i];
      slider.setAttribute("aria-valuetext", shown[i]);
    });

    const toX = (position) => left + (wide * position) / Math.max(length - 1, 1);
    const positions = curves[0].map((_, i) => i), edge = length - 1 - horizon(variances[v]);
    const places = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * (length - 1)));
    tokensChart.innerHTML = axes(places.map((i) => [toX(i), i + 1]), ticks, "token", "recall") +
      (gains[g] === 1 && edge > 0 ? marker(toX(edge), "horizon", edge > (length - 1) / 2 ? "end" : "start") : "") +
      both(positions.map(toX), curves) + chosen(toX(token), curves[0][token]);
    tokensChart.setAttribute("aria-label",
      `Recall of each of ${length} tokens, from ${curves[0][0]} for the first to ${curves[0][length - 1]} for the last`);

    const row = variances.map((_, i) => at(i, g, l)), series = [0, 1].map((k) => row.map((found) => found[k][token]));
    const logs = variances.map(Math.log10), span = logs.at(-1) - logs[0] || 1;
    const place = (log) => left + (wide * (log - logs[0])) / span, own = -3 * Math.log10(length);
    variancesChart.innerHTML =
      axes(logs.map((log, i) => [place(log), power(variances[i])]), ticks, "input variance", "recall") +
      (own >= logs[0] && own <= logs.at(-1) ? marker(place(own), "L⁻³", "start") : "") +
      both(logs.map(place), series) + chosen(place(logs[v]), series[0][v]);
    variancesChart.setAttribute("aria-label",
      `Recall of token ${token + 1} for input variances from ${variances[0]} to ${variances.at(-1)}`);

    const values = { measured: curves[0][token], predicted: curves[1][token], horizon: horizon(variances[v]) };
    all(root, "dd").forEach((field) => {
      const number = values[field.dataset.of];
      field.dataset.value = number;
      field.textContent = (field.dataset.of === "horizon" ? number.toFixed(1) : number.toFixed(2)).replace("-", "−");
    });
  };
  start.forEach((index, i) => { sliders[i].value = index; });
  sliders.forEach((slider) => slider.addEventListener("input", update));
  handOut(root, () => {
    const [v, g, l] = sliders.map((slider) => Number(slider.value));
    const panel = `variance ${variances[v]} gain ${gains[g]} length ${lengths[l]}`;
    return ["measured", "predicted"].flatMap((name, k) => at(v, g, l)[k].map((value, i) => [panel, name, i + 1, value]));
  });
  update();
});
