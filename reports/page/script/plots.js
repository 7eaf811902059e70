// Plots over time: what stands at the line through all of them, dragging across one goes along the run.

const synced = [];

function plot(spec) {
  const figure = made("figure", "plot");
  figure.style.margin = "0";
  const head = made("h3");
  head.append(phrase(spec.title));
  if (spec.unit && spec.unit !== "1") head.append(made("span", "unit", spec.unit));
  figure.append(head);
  if (spec.words) figure.append(made("p", "words", spec.words));
  if (spec.rows) figure.append(rows(spec)); else lines(figure, spec);
  return figure;
}

function lines(figure, spec) {
  const t = unpacked(spec.t);
  const values = spec.curves.map((curve) => Array.from(unpacked(curve.y), (y) => (Number.isNaN(y) ? null : y)));
  let next = 0;
  const looks = spec.curves.map((curve) => LOOKS[curve.look] ?? CYCLE[next++ % CYCLE.length]);
  const key = legend(spec, values, looks);
  const holder = made("div", "chart");
  holder.setAttribute("role", "img");
  holder.setAttribute("aria-label", summary(spec, values, t));
  figure.append(key.element, holder);
  const chart = new uPlot(settings(spec, looks), [Array.from(t), ...values], holder);
  const over = chart.over;
  const line = made("div", "head-line");
  over.append(line);
  new ResizeObserver(() => chart.setSize({ width: holder.clientWidth, height: 168 })).observe(holder);
  themed.push(() => { key.paint(); chart.redraw(false); });
  scrubbed(over, (x) => chart.posToVal(x, "x"));
  const show = (now) => {
    line.style.transform = `translateX(${chart.valToPos(now, "x")}px)`;
    key.show(nearest(t, now));
  };
  synced.push(show);
  chart.hooks.draw = [() => show(clock.now)];
}

function nearest(t, now) {
  let low = 0, high = t.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= now) low = middle; else high = middle;
  }
  return Math.abs(t[high] - now) <= Math.abs(now - t[low]) ? high : low;
}

function legend(spec, values, looks) {
  const element = made("div", "key");
  const cells = spec.curves.map((curve, i) => {
    const cell = made("span"), sample = made("i"), value = made("b");
    cell.append(sample, phrase(curve.label), value);
    element.append(cell);
    return { value, sample, look: looks[i] };
  });
  const paint = () => cells.forEach((cell) => { cell.sample.style.background = colour(cell.look); });
  paint();
  const unit = spec.unit && spec.unit !== "1" ? ` ${spec.unit}` : "";
  return { element, paint, show(k) { cells.forEach((cell, i) => { cell.value.textContent = number(values[i][k]) + (values[i][k] === null ? "" : unit); }); } };
}

// What a reader who does not see the lines hears.
function summary(spec, values, t) {
  const unit = spec.unit === "1" ? "" : ` ${spec.unit}`;
  const told = spec.curves.map((curve, i) => {
    let low = -1, high = -1;
    values[i].forEach((y, k) => {
      if (y === null) return;
      if (low < 0 || y < values[i][low]) low = k;
      if (high < 0 || y > values[i][high]) high = k;
    });
    if (low < 0) return `${curve.label}: no numbers`;
    return `${curve.label} from ${number(values[i][low])}${unit} at ${seconds(t[low])} s to ${number(values[i][high])}${unit} at ${seconds(t[high])} s`;
  });
  return `${spec.title}: ${told.join("; ")}`;
}

function settings(spec, looks) {
  const axis = { stroke: () => colour("--soft"), font: "11px Inter, sans-serif", ticks: { show: false }, grid: { stroke: () => colour("--hair"), width: 1 } };
  const range = (u, low, high) => {
    if (spec.reach) return spec.reach;
    const levels = spec.levels.map(([y]) => y);
    const [a, b] = [Math.min(low ?? 0, ...levels), Math.max(high ?? 1, ...levels)];
    const room = 0.07 * (b - a) || 0.05 * Math.abs(b) || 1;
    return [a - room, b + room];
  };
  const decades = (u, low, high) => {
    const top = 10 ** Math.ceil(Math.log10(high > 0 ? high : 1));
    const bottom = 10 ** Math.floor(Math.log10(low > 0 ? low : top / 10));
    return [Math.max(bottom, top * 1e-6), top];
  };
  const tens = (u, splits) => splits.map((v) => (Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null));
  const decadesOnly = spec.log ? { filter: tens, grid: { ...axis.grid, filter: tens } } : {};
  const labels = (u, splits) => splits.map((v) => (v === null ? "" : number(v, 6)));
  return {
    width: 300, height: 168, legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
    scales: { x: { time: false, range: () => [clock.begin, clock.end] }, y: spec.log ? { distr: 3, range: decades } : { range } },
    axes: [
      { ...axis, size: 24, gap: 4, space: 56, values: (u, splits) => splits.map((v, i) => number(v, 6) + (i === splits.length - 1 ? " s" : "")) },
      { ...axis, size: 54, gap: 4, space: spec.log ? 22 : 30, values: labels, ...decadesOnly },
    ],
    series: [{}, ...looks.map((look, i) => ({
      stroke: () => colour(look), width: spec.curves[i].look === "wanted" || spec.curves[i].look === "bound" ? 2.6 : 1.25, points: { show: false }, spanGaps: false,
    }))],
    hooks: { drawSeries: [], drawClear: [(u) => levels(u, spec)] },
  };
}

// Dashed lines across, with their names.
function levels(u, spec) {
  const pen = u.ctx, ratio = devicePixelRatio;
  pen.save();
  Object.assign(pen, { strokeStyle: colour("--grey"), fillStyle: colour("--soft"), lineWidth: ratio, font: `${11 * ratio}px Inter, sans-serif`, textAlign: "right" });
  pen.setLineDash([4 * ratio, 3 * ratio]);
  spec.levels.forEach(([y, name]) => {
    const at = Math.round(u.valToPos(y, "y", true)), { left, width } = u.bbox;
    pen.beginPath();
    pen.moveTo(left, at);
    pen.lineTo(left + width, at);
    pen.stroke();
    if (name) pen.fillText(name, left + width - 2 * ratio, at - 4 * ratio);
  });
  pen.restore();
}

// Dragging across an element goes along the run.
function scrubbed(element, time) {
  const go = (event) => clock.go(time(event.clientX - element.getBoundingClientRect().left));
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    go(event);
  });
  element.addEventListener("pointermove", (event) => event.buttons && element.hasPointerCapture(event.pointerId) && go(event));
}
