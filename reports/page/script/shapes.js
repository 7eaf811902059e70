// Bodies as meshes: plates and bars rounded around their pins, cylinders with rods, pins, what they stand on.

const ROUND = 0.021, THIN = 0.0105, CASE = 0.0165, PIN = 0.0075; // of the machine's size
const Y = new THREE.Vector3(0, 1, 0), Z = new THREE.Vector3(0, 0, 1);

// The axis across which points lie flat (0, 1, 2), preferring z; −1 where they do not.
function flatAcross(points, size) {
  const spread = [0, 1, 2].map((i) => Math.max(...points.map((p) => p[i])) - Math.min(...points.map((p) => p[i])));
  const near = [2, 1, 0].filter((i) => spread[i] < 0.06 * size);
  return near.length ? near[0] : -1;
}

function hull(points) {
  const order = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const across = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (all) => {
    const kept = [];
    for (const p of all) {
      while (kept.length > 1 && across(kept.at(-2), kept.at(-1), p) <= 1e-12) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  const found = [...half(order), ...half(order.reverse())];
  const apart = found.filter((p, i) => i === 0 || Math.hypot(p[0] - found[i - 1][0], p[1] - found[i - 1][1]) > 1e-9);
  return apart.length ? apart : [points[0]];
}

// The line at distance r around a convex polygon, its corners round.
function rounded(points, r) {
  const shape = new THREE.Shape();
  const n = points.length;
  if (n === 1) {
    shape.absarc(...points[0], r, 0, 2 * Math.PI, false);
    return shape;
  }
  const out = (i) => {
    const [a, b] = [points[i % n], points[(i + 1) % n]];
    return Math.atan2(-(b[0] - a[0]), b[1] - a[1]);
  };
  for (let i = 0; i < n; i++) {
    const from = out(i + n - 1);
    let to = out(i);
    while (to < from) to += 2 * Math.PI;
    shape.absarc(...points[i], r, from, to, false);
  }
  shape.closePath();
  return shape;
}

function extruded(shape, half, bevel) {
  const options = { depth: 2 * (half - bevel), bevelEnabled: true, bevelSize: bevel, bevelOffset: -bevel, bevelThickness: bevel, bevelSegments: 3, curveSegments: 14 };
  return new THREE.ExtrudeGeometry(shape, options).translate(0, 0, bevel - half);
}

// A plate through points that lie flat across an axis, in the solid's own frame.
function plate(points, across, r, half) {
  const [u, v] = [[1, 2], [2, 0], [0, 1]][across];
  const level = points.reduce((sum, p) => sum + p[across], 0) / points.length;
  const geometry = extruded(rounded(hull(points.map((p) => [p[u], p[v]])), r), half, 0.22 * half);
  geometry.translate(0, 0, level);
  const axes = [0, 1, 2].map((i) => new THREE.Vector3(+(i === 0), +(i === 1), +(i === 2)));
  return geometry.applyMatrix4(new THREE.Matrix4().makeBasis(axes[u], axes[v], axes[across]));
}

// A round bar between two points, for what does not lie flat.
function strut(a, b, r) {
  const from = new THREE.Vector3(...a), along = new THREE.Vector3(...b).sub(from);
  const length = along.length() || 1e-9;
  const geometry = new THREE.CylinderGeometry(r, r, length, 20).translate(0, length / 2, 0);
  geometry.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(Y, along.divideScalar(length)));
  return geometry.translate(from.x, from.y, from.z);
}

function block(points) {
  const [low, high] = [Math.min, Math.max].map((end) => [0, 1, 2].map((i) => end(...points.map((p) => p[i]))));
  const half = high.map((h, i) => (h - low[i]) / 2);
  const r = 0.12 * Math.min(half[0], half[1]);
  const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => [x * (half[0] - r), y * (half[1] - r)]);
  return extruded(rounded(corners, r), half[2], 0.6 * r).translate(...high.map((h, i) => (h + low[i]) / 2));
}

// Geometries of a solid; k tells neighbours apart, so that their faces do not lie in one another.
function solidShapes(solid, k, size) {
  const r = ROUND * size, half = THIN * size * (1 + 0.14 * (k % 3));
  const points = solid.points;
  if (solid.kind === "block") return [block(points)];
  const across = flatAcross(points, size);
  if (across < 0) return points.slice(1).map((p) => strut(points[0], p, 0.6 * r));
  if (solid.kind === "plate") return [plate(points, across, r, half)];
  const wide = solid.kind === "tube" ? [1.25 * r, 1.9 * half] : [0.92 * r, 1.3 * half];
  return points.slice(1).map((p, i) => plate([points[i], p], across, ...wide));
}

const lathe = (r, length, sides = 28) => new THREE.CylinderGeometry(r, r, length, sides).translate(0, length / 2, 0);

// A cylinder: case and rod along +y, of length one where they stretch; `pose(a, b)` puts them between two points.
function ram(spec, size, material) {
  const group = new THREE.Group();
  const long = spec.retracted || size;
  const r = spec.bore ? spec.bore / 2 : Math.min(CASE * size, 0.1 * long);
  const add = (geometry, kind) => {
    const mesh = new THREE.Mesh(geometry, material(kind));
    mesh.castShadow = mesh.receiveShadow = true;
    group.add(mesh);
    return mesh;
  };
  const thick = spec.kind === "slide" ? 0.8 * r : 0.5 * r;
  const rod = add(lathe(thick, 1), spec.kind === "slide" ? "body" : "rod");
  if (spec.kind === "cylinder") {
    const mouth = 0.92 * spec.retracted, begin = Math.min(0.07 * spec.retracted, 1.4 * r);
    add(lathe(r, mouth - begin).translate(0, begin, 0), "case");
    add(lathe(1.14 * r, 0.5 * r).translate(0, mouth - 0.5 * r, 0), "case");
    add(lathe(1.14 * r, 0.3 * r).translate(0, begin, 0), "case");
    add(lathe(0.55 * r, begin), "case");
  }
  return {
    group,
    pose(a, b) {
      const along = b.clone().sub(a), length = along.length() || 1e-9;
      group.position.copy(a);
      group.quaternion.setFromUnitVectors(Y, along.divideScalar(length));
      rod.scale.set(1, length, 1);
    },
  };
}

// A path as a thin tube whose first part can be shown alone; null where nothing moves.
function track(points, r, material) {
  const kept = [points[0]], index = [0];
  points.slice(1).forEach((p) => {
    if (p.distanceTo(kept.at(-1)) > 0.15 * r) kept.push(p);
    index.push(kept.length - 1);
  });
  if (kept.length < 3) return null;
  const curve = new THREE.CatmullRomCurve3(kept);
  curve.getPointAt = curve.getPoint;
  curve.getTangentAt = curve.getTangent;
  const along = kept.length - 1, around = 7;
  const mesh = new THREE.Mesh(new THREE.TubeGeometry(curve, along, r, around), material);
  return {
    mesh,
    until(i) {
      const low = Math.floor(i), high = Math.min(low + 1, index.length - 1);
      const at = index[low] + (index[high] - index[low]) * (i - low);
      mesh.geometry.setDrawRange(0, Math.max(0, Math.round(at)) * around * 6);
    },
  };
}
