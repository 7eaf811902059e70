// What is either so or not, as bars over time.

function rows(spec) {
  const grid = made("div", "rows");
  const length = clock.end - clock.begin || 1;
  const made_ = Object.entries(spec.rows).map(([name, stretches]) => {
    const label = made("span", "name", name), bar = made("div", "bar");
    stretches.forEach(([begin, end]) => {
      const part = made("i");
      part.style.left = `${(100 * (begin - clock.begin)) / length}%`;
      part.style.width = `${(100 * (end - begin)) / length}%`;
      bar.append(part);
    });
    const line = made("div", "head-line");
    bar.append(line);
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", `${name}: ${stretches.length ? `open ${stretches.length} times, first at ${seconds(stretches[0][0])} s` : "never open"}`);
    grid.append(label, bar);
    scrubbed(bar, (x) => clock.begin + (x / bar.clientWidth) * length);
    return { label, line, bar, stretches };
  });
  synced.push((now) => made_.forEach(({ label, line, stretches }) => {
    line.style.left = `${(100 * (now - clock.begin)) / length}%`;
    label.classList.toggle("on", stretches.some(([begin, end]) => begin <= now && now <= end));
  }));
  return grid;
}
