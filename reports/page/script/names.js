// Names of bodies and cylinders beside them, over the picture; none lies on another.

function names(holder, anchors) {
  const layer = made("div", "names");
  layer.setAttribute("aria-hidden", "true"); // the picture's own label lists them
  const labels = anchors.map(({ name, at, pushes }) => {
    const label = made("span", pushes ? "pushes" : "", name);
    layer.append(label);
    return { label, at, spot: new THREE.Vector3() };
  });
  holder.append(layer);
  const place = (eye) => {
    if (layer.hidden) return;
    const { clientWidth: w, clientHeight: h } = holder;
    labels.forEach((one) => one.at.getWorldPosition(one.spot).project(eye));
    const taken = [];
    [...labels].sort((a, b) => b.spot.y - a.spot.y).forEach(({ label, spot }) => {
      const wide = label.offsetWidth + 4, high = label.offsetHeight + 1;
      const x = Math.min(Math.max(((spot.x + 1) / 2) * w, wide / 2), w - wide / 2);
      let y = ((1 - spot.y) / 2) * h;
      const over = (box) => Math.abs(box.x - x) < (box.wide + wide) / 2 && Math.abs(box.y - y) < high;
      for (let k = 0; k < taken.length; k++) { const box = taken.find(over); if (box) y = box.y + high; }
      taken.push({ x, y, wide });
      label.style.transform = `translate(${x}px,${y}px) translate(-50%,-50%)`;
    });
  };
  return { place, show(on) { layer.hidden = !on; } };
}
