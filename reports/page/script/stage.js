// The machine in space: built once, posed at every instant, drawn when something has changed.

const BEHIND = 0.3; // of the machine's size, how far another run's machine stands behind
const VIEWS = { oblique: [0.52, 0.24], side: [0, 0], above: [0.5, 0.85] }; // turn and height of the eye, rad

function stage3(holder, scene) {
  const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  const canvas = renderer.domElement;
  holder.append(canvas);
  const world = new THREE.Scene();
  const root = new THREE.Group();
  world.add(root);
  const paint = painter();
  const basis = upright(scene);
  root.quaternion.copy(basis);
  const films = scene.runs.map((run) => poses(run, { solids: scene.solids.length, rams: scene.rams.length }));
  const box = extent(reached(scene, films[0]), basis);
  const machines = films.map((film, i) => machine(scene, film, box.size, paint, i > 0));
  const back = new THREE.Vector3(0, 0, -BEHIND * box.size);
  machines.forEach((m, i) => {
    m.group.position.copy(back).multiplyScalar(i).applyQuaternion(basis.clone().invert());
    root.add(m.group);
  });
  box.low.z -= BEHIND * box.size * (machines.length - 1);
  box.middle.z = (box.low.z + box.high.z) / 2;
  const wanted = unpacked(scene.wanted);
  if (wanted.length) {
    const asked = track(vectors(wanted), 0.0024 * box.size, paint("wanted"));
    if (asked) root.add(asked.mesh);
  }
  const ground = surroundings(world, scene, box, basis, paint);
  const eye = camera(canvas, box, scene.view, draw);
  const named = names(holder, machines[0].anchors);
  let due = false;
  function draw() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; renderer.render(world, eye.camera); named.place(eye.camera); });
  }
  function resize() {
    const { clientWidth: w, clientHeight: h } = holder;
    if (!w || !h) return;
    renderer.setSize(w, h, false);
    eye.fit(w / h);
    draw();
  }
  new ResizeObserver(resize).observe(holder);
  themed.push(() => { paint.again(); draw(); });
  themed.forEach((again) => again());
  resize();
  return {
    canvas, grid: ground.grid,
    show(now) { machines.forEach((m) => m.show(now)); draw(); },
    look(name) { eye.look(name); draw(); },
    others(on) { machines.slice(1).forEach((m) => { m.group.visible = on; }); draw(); },
    names(on) { named.show(on); draw(); },
    nearer(factor) { eye.nearer(factor); draw(); },
  };
}

const vectors = (values) => Array.from({ length: values.length / 3 }, (_, i) => new THREE.Vector3(...values.subarray(3 * i, 3 * i + 3)));

// The turn that puts "up" upwards and the joints' axis towards the reader.
function upright(scene) {
  const up = new THREE.Vector3(...scene.up).normalize();
  const toward = new THREE.Vector3(...scene.axis).addScaledVector(up, -up.dot(new THREE.Vector3(...scene.axis)));
  if (toward.length() < 1e-6) toward.set(up.y, up.z, up.x).addScaledVector(up, -(up.x * up.y + up.y * up.z + up.z * up.x));
  toward.normalize();
  const right = new THREE.Vector3().crossVectors(up, toward);
  return new THREE.Quaternion().setFromRotationMatrix(new THREE.Matrix4().makeBasis(right, up, toward)).invert();
}

function extent(points, basis) {
  const low = new THREE.Vector3(1, 1, 1).multiplyScalar(Infinity), high = low.clone().negate();
  points.forEach((p) => { const v = new THREE.Vector3(...p).applyQuaternion(basis); low.min(v); high.max(v); });
  const size = Math.max(high.distanceTo(low) * 0.8, 1e-6);
  const room = 0.03 * size;
  low.subScalar(room); high.addScalar(room);
  return { low, high, size, middle: low.clone().add(high).multiplyScalar(0.5) };
}

// Materials by kind, whose colours follow the theme.
function painter() {
  const kinds = {
    body: ["--body", { shininess: 28, specular: 0x222222 }], tube: ["--dark-body", { shininess: 28, specular: 0x222222 }],
    case: ["--case", { shininess: 60, specular: 0x3a3a3a }], rod: ["--rod", { shininess: 110, specular: 0x999999 }],
    pin: ["--dark-body", { shininess: 70, specular: 0x555555 }], stand: ["--ground", { shininess: 4, specular: 0x050505 }],
    tool: ["--tool", { shininess: 40, specular: 0x333333 }], trace: ["--tool", { shininess: 0, specular: 0 }],
    wanted: ["--amber", { shininess: 0, specular: 0, transparent: true, opacity: 0.5 }],
    ghost: ["--red", { shininess: 0, specular: 0, transparent: true, opacity: 0.62 }],
  };
  const made = {};
  const paint = (kind) => {
    if (!made[kind]) {
      made[kind] = new THREE.MeshPhongMaterial(kinds[kind][1]);
      made[kind].color.set(colour(kinds[kind][0]));
    }
    return made[kind];
  };
  paint.again = () => Object.entries(made).forEach(([kind, material]) => material.color.set(colour(kinds[kind][0])));
  return paint;
}

function machine(scene, film, size, paint, ghost) {
  const group = new THREE.Group();
  const material = (kind) => paint(ghost ? "ghost" : kind);
  const solids = scene.solids.map((solid, k) => {
    const part = new THREE.Group();
    solidShapes(solid, k, size).forEach((geometry) => {
      const mesh = new THREE.Mesh(geometry, material(solid.kind === "tube" ? "tube" : "body"));
      mesh.castShadow = mesh.receiveShadow = !ghost;
      part.add(mesh);
    });
    group.add(part);
    return part;
  });
  const anchors = [];
  const anchor = (name, on, pushes) => {
    const at = new THREE.Group();
    on.add(at);
    if (name) anchors.push({ name, at, pushes });
    return at;
  };
  scene.solids.forEach((solid, k) => {
    const at = anchor(solid.name, solids[k]);
    solid.points.forEach((p) => at.position.addScaledVector(new THREE.Vector3(...p), 1 / solid.points.length));
  });
  const middles = scene.rams.map((spec) => anchor(spec.name, group, spec.kind === "cylinder"));
  const rams = scene.rams.map((spec) => { const made = ram(spec, size, material); group.add(made.group); return made; });
  const axis = new THREE.Quaternion().setFromUnitVectors(Y, new THREE.Vector3(...scene.axis).normalize());
  const first = film.at(film.t[0]);
  const pins = Array.from({ length: first.pins.length / 3 }, () => {
    const pin = new THREE.Mesh(new THREE.CylinderGeometry(PIN * size, PIN * size, 0.052 * size, 24), material("pin"));
    pin.quaternion.copy(axis);
    pin.castShadow = !ghost;
    group.add(pin);
    return pin;
  });
  const trace = film.tip ? track(vectors(film.tip), 0.0034 * size, material(ghost ? "ghost" : "trace")) : null;
  const tip = film.tip ? new THREE.Mesh(new THREE.SphereGeometry(0.0095 * size, 24, 16), material("tool")) : null;
  if (tip) group.add(tip);
  if (trace) group.add(trace.mesh);
  const a = new THREE.Vector3(), b = new THREE.Vector3();
  return {
    group, anchors,
    show(now) {
      const pose = film.at(now);
      solids.forEach((part, k) => {
        part.position.set(...pose.solids.subarray(7 * k, 7 * k + 3));
        part.quaternion.set(...pose.solids.subarray(7 * k + 3, 7 * k + 7));
      });
      rams.forEach((r, k) => r.pose(a.set(...pose.rams.subarray(6 * k, 6 * k + 3)), b.set(...pose.rams.subarray(6 * k + 3, 6 * k + 6))));
      middles.forEach((at, k) => at.position.addVectors(a.set(...pose.rams.subarray(6 * k, 6 * k + 3)), b.set(...pose.rams.subarray(6 * k + 3, 6 * k + 6))).divideScalar(2));
      pins.forEach((pin, k) => pin.position.set(...pose.pins.subarray(3 * k, 3 * k + 3)));
      if (tip) tip.position.set(...pose.tip);
      if (trace) trace.until(pose.index);
    },
  };
}

// Lights, the ground with its grid and shadow, what the machine stands on.
function surroundings(world, scene, box, basis, paint) {
  const sun = new THREE.DirectionalLight(0xffffff, 2.0);
  sun.position.copy(box.middle).add(new THREE.Vector3(-0.55, 1.25, 0.8).multiplyScalar(box.size));
  sun.target.position.copy(box.middle);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  const reach = 0.85 * box.size;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * box.size, far: 3.5 * box.size });
  sun.shadow.bias = -0.0004;
  sun.shadow.normalBias = 0.002 * box.size;
  sun.shadow.radius = 5;
  world.add(sun, sun.target, new THREE.HemisphereLight(0xffffff, 0xa59d8e, 1.7));
  const level = box.low.y - 0.005 * box.size;
  const shade = new THREE.ShadowMaterial({ opacity: 0.2, transparent: true });
  const floor = new THREE.Mesh(new THREE.PlaneGeometry(6 * box.size, 6 * box.size), shade);
  floor.rotation.x = -Math.PI / 2;
  floor.position.set(box.middle.x, level, box.middle.z);
  floor.receiveShadow = true;
  const grid = mesh(box, level + 0.001 * box.size);
  world.add(floor, grid.lines);
  themed.push(() => {
    shade.opacity = +colour("--shadow");
    grid.material.color.set(colour("--ink"));
    grid.material.opacity = isDark() ? 0.16 : 0.13;
  });
  stands(world, scene, box, basis, level, paint);
  return { grid: grid.step };
}

// Lines on the ground at a round distance, which the page says.
function mesh(box, level) {
  const rough = box.size / 7, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough);
  const lines = [], n = 5, x0 = Math.round(box.middle.x / step) * step, z0 = Math.round(box.middle.z / step) * step;
  for (let i = -n; i <= n; i++) {
    const far = Math.sqrt(n * n - i * i) * step;
    lines.push(x0 + i * step, level, z0 - far, x0 + i * step, level, z0 + far);
    lines.push(x0 - far, level, z0 + i * step, x0 + far, level, z0 + i * step);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(lines, 3));
  const material = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.11 });
  return { lines: new THREE.LineSegments(geometry, material), material, step };
}

// A column under every group of points on the ground, down to the floor.
function stands(world, scene, box, basis, level, paint) {
  const points = scene.stands.map((p) => new THREE.Vector3(...p).applyQuaternion(basis)).sort((a, b) => a.x - b.x);
  const groups = [];
  points.forEach((p) => {
    const last = groups.at(-1);
    if (last && p.x - last.at(-1).x < 0.16 * box.size) last.push(p); else groups.push([p]);
  });
  groups.forEach((group) => {
    const r = 1.3 * ROUND * box.size, half = 0.02 * box.size;
    const low = Math.min(...group.map((p) => p.x)) - r, high = Math.max(...group.map((p) => p.x)) + r;
    const down = [[low - r, level], [high + r, level]];
    const shape = rounded(hull([...group.map((p) => [p.x, p.y]), ...down.map(([x, y]) => [x, y - 0.2 * r])]), 0.9 * r);
    const column = new THREE.Mesh(extruded(shape, half, 0.2 * half), paint("stand"));
    column.position.z = group[0].z;
    column.castShadow = column.receiveShadow = true;
    world.add(column);
  });
}

// The eye: turned by dragging, nearer by pinching or ctrl and wheel, back by `look`.
function camera(canvas, box, first, draw) {
  const eye = new THREE.PerspectiveCamera(24, 1, 0.01 * box.size, 30 * box.size);
  const controls = new THREE.OrbitControls(eye, canvas);
  Object.assign(controls, { enableZoom: false, enablePan: true, maxPolarAngle: 1.62, rotateSpeed: 0.7 });
  controls.target.copy(box.middle);
  controls.addEventListener("change", draw);
  let view = first;
  const nearer = (factor) => {
    eye.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
    controls.update();
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    nearer(Math.exp(event.deltaY * 0.004));
  }, { passive: false });
  // As near as shows the whole box in the view's direction.
  const place = () => {
    const [turn, height] = VIEWS[view];
    const back = new THREE.Vector3(Math.sin(turn) * Math.cos(height), Math.sin(height), Math.cos(turn) * Math.cos(height));
    const right = new THREE.Vector3().crossVectors(Y, back).normalize(), up = new THREE.Vector3().crossVectors(back, right);
    const slope = Math.tan((eye.fov * Math.PI) / 360);
    let far = 0;
    for (let k = 0; k < 8; k++) {
      const p = new THREE.Vector3(k & 1 ? box.high.x : box.low.x, k & 2 ? box.high.y : box.low.y, k & 4 ? box.high.z : box.low.z).sub(box.middle);
      const near = p.dot(back);
      far = Math.max(far, near + Math.abs(p.dot(right)) / (slope * eye.aspect), near + Math.abs(p.dot(up)) / slope);
    }
    controls.target.copy(box.middle);
    eye.position.copy(box.middle).addScaledVector(back, 1.1 * far);
    controls.update();
  };
  return {
    camera: eye, nearer,
    fit(aspect) { eye.aspect = aspect; eye.updateProjectionMatrix(); place(); },
    look(name) { view = name; place(); },
  };
}
