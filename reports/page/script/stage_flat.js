// The machine from the side in lines, where a browser has no WebGL.

function stageFlat(holder, scene) {
  const canvas = made("canvas");
  holder.append(canvas);
  const film = poses(scene.runs[0], { solids: scene.solids.length, rams: scene.rams.length });
  const up = scene.up, axis = scene.axis;
  const right = [up[1] * axis[2] - up[2] * axis[1], up[2] * axis[0] - up[0] * axis[2], up[0] * axis[1] - up[1] * axis[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const flat = (p) => [dot(p, right), dot(p, up)];
  const all = reached(scene, film).map(flat);
  const ends = [0, 1].map((i) => [Math.min(...all.map((p) => p[i])), Math.max(...all.map((p) => p[i]))]);
  let now = clock.begin;
  function draw() {
    const ratio = devicePixelRatio, w = holder.clientWidth, h = holder.clientHeight;
    canvas.width = w * ratio; canvas.height = h * ratio;
    const pen = canvas.getContext("2d");
    const scale = 0.84 * ratio * Math.min(w / (ends[0][1] - ends[0][0] || 1), h / (ends[1][1] - ends[1][0] || 1));
    const put = (p) => {
      const [x, y] = flat(p);
      return [ratio * w / 2 + scale * (x - (ends[0][0] + ends[0][1]) / 2), ratio * h / 2 - scale * (y - (ends[1][0] + ends[1][1]) / 2)];
    };
    const line = (points, name, width) => {
      pen.beginPath();
      points.forEach((p, i) => pen[i ? "lineTo" : "moveTo"](...put(p)));
      Object.assign(pen, { strokeStyle: colour(name), lineWidth: width * ratio, lineCap: "round", lineJoin: "round" });
      pen.stroke();
    };
    const pose = film.at(now);
    scene.solids.forEach((solid, k) => {
      const points = solid.points.map((p) => moved(pose.solids, k, p));
      line(solid.kind === "plate" ? [...points, points[0]] : points, "--body", 6);
    });
    scene.rams.forEach((spec, k) => {
      const [a, b] = [pose.rams.subarray(6 * k, 6 * k + 3), pose.rams.subarray(6 * k + 3, 6 * k + 6)];
      line([a, b], "--grey", 3);
      const length = Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) || 1;
      const share = Math.min((0.92 * spec.retracted) / length, 1);
      if (spec.retracted) line([a, [0, 1, 2].map((i) => a[i] + share * (b[i] - a[i]))], "--case", 8);
    });
  }
  new ResizeObserver(draw).observe(holder);
  themed.push(draw);
  draw();
  return { canvas, grid: null, show(t) { now = t; draw(); }, look() {}, others() {}, nearer() {} };
}
