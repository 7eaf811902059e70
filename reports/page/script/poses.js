// Where everything of the machine is at an instant: between two poses of the run, straight lines and the shorter turn.

function poses(run, counts) {
  const t = unpacked(run.t);
  const solids = unpacked(run.solids), rams = unpacked(run.rams), pins = unpacked(run.pins);
  const tip = run.tip ? unpacked(run.tip) : null;
  const at = (now) => {
    let low = 0, high = t.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= now) low = middle; else high = middle;
    }
    const share = t[high] > t[low] ? Math.min(Math.max((now - t[low]) / (t[high] - t[low]), 0), 1) : 0;
    return [low, high, share];
  };
  const mixed = (values, size, [a, b, s]) => {
    const out = new Float32Array(size);
    for (let i = 0; i < size; i++) out[i] = values[a * size + i] * (1 - s) + values[b * size + i] * s;
    return out;
  };
  const turned = (place) => {
    const out = mixed(solids, counts.solids * 7, place);
    const [a, b, s] = place;
    for (let k = 0; k < counts.solids; k++) {
      const p = (a * counts.solids + k) * 7 + 3, q = (b * counts.solids + k) * 7 + 3;
      let along = 0, size = 0;
      for (let i = 0; i < 4; i++) along += solids[p + i] * solids[q + i];
      for (let i = 0; i < 4; i++) {
        out[k * 7 + 3 + i] = solids[p + i] * (1 - s) + solids[q + i] * (along < 0 ? -s : s);
        size += out[k * 7 + 3 + i] ** 2;
      }
      for (let i = 0; i < 4; i++) out[k * 7 + 3 + i] /= Math.sqrt(size) || 1;
    }
    return out;
  };
  const pinCount = pins.length / 3 / t.length;
  return {
    name: run.name, t, tip, all: { solids, rams, pins },
    at(now) {
      const place = at(now);
      return {
        solids: turned(place), rams: mixed(rams, counts.rams * 6, place), pins: mixed(pins, pinCount * 3, place),
        tip: tip ? mixed(tip, 3, place) : null, index: place[0] + place[2],
      };
    },
  };
}

// A point of a solid in the world: v + 2 q × (q × v + w v), then its origin.
function moved(pose, k, [x, y, z]) {
  const [ox, oy, oz, a, b, c, w] = pose.subarray(k * 7, k * 7 + 7);
  const u = b * z - c * y + w * x, v = c * x - a * z + w * y, r = a * y - b * x + w * z;
  return [ox + x + 2 * (b * r - c * v), oy + y + 2 * (c * u - a * r), oz + z + 2 * (a * v - b * u)];
}

// Every point the machine takes, of the first run: for how large the picture is.
function reached(scene, film) {
  const points = [...scene.stands];
  const step = Math.max(1, Math.floor(film.t.length / 60));
  for (let i = 0; i < film.t.length; i += step) {
    const pose = film.at(film.t[i]);
    scene.solids.forEach((solid, k) => solid.points.forEach((p) => points.push(moved(pose.solids, k, p))));
    for (let j = 0; j < pose.rams.length; j += 3) points.push([...pose.rams.subarray(j, j + 3)]);
  }
  return points;
}
