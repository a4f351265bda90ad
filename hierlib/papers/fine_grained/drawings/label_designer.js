/* global all, eachFigure, handOut, line, plane, polyline, text */ // from interactive.js
eachFigure("hl-label-designer", (root, { eta, values, parts, presets }) => {
  const n = values.length, weights = all(root, "[data-weight]"), bounds = all(root, "[data-rank]");
  const buttons = all(root, ".hl-presets button"), [lossChart, shareChart] = all(root, "svg");

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

  // Drawing.
  const { left, top, bottom, wide, tall, axes } = plane({ right: 410 }), floor = -4;
  const toX = (k) => left + (wide * Math.log10(k)) / decades;
  const toY = (value) => top + (tall * Math.log10(Math.max(value, 1e-9))) / floor;
  const raised = (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)];
  const power = (exponent) => "10" + [...String(exponent)].map(raised).join("");
  const curve = (a, look) => polyline(steps.map((k) => [toX(k), toY(loss(a, k))]), look);
  const circle = ([k, value]) =>
    `<circle cx="${toX(k)}" cy="${toY(value)}" r="3.4" fill="none" stroke="var(--hl-dot)" stroke-width="1.6"/>`;

  const drawLoss = (a, vectors, k50, measured) => {
    const box = `${left} ${top} ${wide} ${tall}`;         // an inner svg cuts off what falls below the floor
    lossChart.innerHTML = [
      axes(range(decades + 1).map((e) => [toX(10 ** e), power(e)]), range(1 - floor).map((e) => [toY(10 ** -e), power(-e)]),
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
      axes(range(bins.length - 1).map((b) => [left + (b + 0.5) * step, bins[b]]),
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
    all(root, "dd").forEach((field) => {
      const number = numbers[field.dataset.of];
      field.dataset.value = number ?? "";
      field.textContent = !a ? "–" : field.dataset.of === "half" ? number : number.toPrecision(3);
    });
    if (!a) {
      lossChart.innerHTML = shareChart.innerHTML = text(210, 130, "All weights are zero: there is nothing to learn.");
      rows = [];
      return;
    }
    drawLoss(a, vectors, numbers.half, measured);
    drawShares(a, numbers.half);
    rows = [
      ...steps.map((k) => ["loss", "predicted", k, loss(a, k)]),
      ...measured.map(([k, value]) => ["loss", "trained", k, value]),
      ...a.map((projection, i) => ["share of the labels", "mixture", i + 1, projection ** 2 / n]),
    ];
  };

  const choose = (preset) => {
    weights.forEach((slider, j) => { slider.value = Math.round(100 * preset.weights[j]); });
    bounds.forEach((slider, j) => { slider.value = ranks.indexOf(preset.band[j]); });
    update();
  };
  bounds.forEach((slider) => { slider.max = ranks.length - 1; });
  buttons.forEach((button, index) => button.addEventListener("click", () => choose(presets[index])));
  [...weights, ...bounds].forEach((slider) => slider.addEventListener("input", update));
  handOut(root, () => rows);
  choose(presets.at(-1));
});
