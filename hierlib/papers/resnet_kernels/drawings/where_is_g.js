/* global all, eachFigure, handOut, line, plane, polyline, text */ // from interactive.js
eachFigure("hl-where-is-g", (root, { samples, series, runs }) => {
  const slider = root.querySelector("input"), play = root.querySelector("[data-play]");
  const buttons = all(root, ".hl-presets button"), [bars, curves] = all(root, "svg");
  const last = samples.length - 1, colour = (s) => `var(--hl-${s < 2 ? 0 : 1})`;

  // Drawing. Heights share one scale over all runs, so that runs compare.
  const { left, right, top, bottom, wide, tall, axes } = plane({ right: 400 });
  const shown = runs.flatMap((run) => run.values.slice(0, 4).flat());
  const low = Math.min(-0.1, ...shown) - 0.1, high = Math.max(1, ...shown) + 0.15;      // room for the numbers
  const toX = (count) => left + (wide * count) / samples[last];
  const toY = (share) => bottom - (tall * (share - low)) / (high - low);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => [toY(share), share]);
  const drawBars = (run, at) => {
    const slot = wide / 4, centre = (s) => left + slot * ([0, 2, 1, 3][s] + 0.5);
    const bar = (s) => {
      const share = run.values[s][at], x = centre(s) - slot * 0.3;
      return `<rect data-series="${s}" x="${x}" width="${slot * 0.6}" y="${toY(Math.max(share, 0))}"
        height="${Math.abs(toY(share) - toY(0))}" fill="${colour(s)}" stroke="${colour(s)}" stroke-width="1.6"
        fill-opacity="${s % 2 ? 0.35 : 1}" ${s % 2 ? 'stroke-dasharray="5 3"' : ""}/>` +
        text(centre(s), toY(Math.max(share, 0)) - 5, share.toFixed(2).replace("-", "−"));
    };
    const names = ["F, first", "F, second", "G, first", "G, second"];
    bars.innerHTML = axes(names.map((name, s) => [centre(s), name]), ticks, "signal, block", "share of the signal") +
      line(left, toY(0), right, toY(0)) +
      line(left, toY(1), right, toY(1), 'stroke-dasharray="4 3"') + [0, 1, 2, 3].map(bar).join("");
    bars.setAttribute("aria-label", series.map((name, s) => `${name} ${run.values[s][at].toFixed(2)}`).join(", "));
  };
  const drawCurves = (run, at) => {
    const curve = (s) => polyline(samples.map((count, i) => [toX(count), toY(run.values[s][i])]),
      `stroke="${colour(s)}" stroke-width="2" ${s % 2 ? 'stroke-dasharray="6 4"' : ""}`);
    const now = toX(samples[at]);
    const dot = (s) => `<circle cx="${now}" cy="${toY(run.values[s][at])}" r="3.6" fill="${colour(s)}"/>`;
    const counts = [0, 0.25, 0.5, 0.75, 1].map((part) => part * samples[last]);
    const short = (count) => (samples[last] < 10000 ? Math.round(count) : `${+(count / 1000).toFixed(1)}k`);
    const times = counts.map((count) => [toX(count), short(count)]);
    curves.innerHTML = axes(times, ticks, "samples seen", "share of the signal") +
      line(left, toY(0), right, toY(0)) + [0, 1, 2, 3].map(curve).join("") +
      line(now, top, now, bottom, 'data-now stroke-dasharray="2 3"') + [0, 1, 2, 3].map(dot).join("");
    curves.setAttribute("aria-label", `Shares of both signals in both blocks over time; now ${samples[at]} samples`);
  };

  let chosen = 0, timer = null;
  const update = () => {
    const run = runs[chosen], at = Number(slider.value);
    slider.nextElementSibling.value = samples[at];
    slider.setAttribute("aria-valuetext", `${samples[at]} samples`);
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", index === chosen));
    drawBars(run, at);
    drawCurves(run, at);
    all(root, "dd").forEach((field) => {
      const number = run.values[field.dataset.of][at];
      field.dataset.value = number;
      field.textContent = number.toFixed(3).replace("-", "−");
    });
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
  handOut(root, () => [...series, "error"].flatMap((name, s) =>
    samples.map((count, i) => [runs[chosen].name, name, count, runs[chosen].values[s][i]])));
  update();
});
