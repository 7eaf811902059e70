// Playing, scrubbing, speed, keys.

const STEPS = 200; // pictures that arrows go through a run with

function transport() {
  const slider = $("time"), length = clock.end - clock.begin;
  $("transport").hidden = !(length > 0);
  if (!(length > 0)) return;
  Object.assign(slider, { min: clock.begin, max: clock.end, value: clock.begin });
  slider.addEventListener("input", () => clock.go(+slider.value));
  $("play").addEventListener("click", () => clock.play());
  $("speed").addEventListener("change", () => { clock.speed = +$("speed").value; });
  if (length > 60) $("speed").value = "3", clock.speed = 3;
  if (length < 3) $("speed").value = "0.25", clock.speed = 0.25;
  DATA.marks.forEach(([at, , word]) => {
    const tick = made("i", word);
    tick.style.left = `${(100 * (at - clock.begin)) / length}%`;
    $("ticks").append(tick);
  });
  const now = $("now"), rest = made("span", "", ` of ${number(clock.end)} s`), told = document.createTextNode("");
  now.append(told, rest);
  clock.onChange((t) => {
    slider.value = t;
    slider.setAttribute("aria-valuetext", `${seconds(t)} seconds`);
    told.textContent = `${seconds(t)} s`;
    $("play").setAttribute("aria-label", clock.playing ? "pause" : "play");
    $("play-sign").setAttribute("d", clock.playing ? "M5 4h3.6v12H5zM11.4 4H15v12h-3.6z" : "M6 4l10 6-10 6z");
  });
  addEventListener("keydown", pressed);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target, own = at.closest("input:not([type=range]),textarea,select,summary");
  if (own || (event.key === " " && at.closest("button,a"))) return;
  const step = ((clock.end - clock.begin) / STEPS) * (event.shiftKey ? 10 : 1);
  const go = (t) => clock.go(t);
  const acts = {
    " ": () => clock.play(), ArrowRight: () => go(clock.now + step), ArrowLeft: () => go(clock.now - step),
    Home: () => go(clock.begin), End: () => go(clock.end), "]": () => neighbour(1), "[": () => neighbour(-1), d: switchTheme, D: switchTheme,
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

// The next worst instant in a direction.
function neighbour(side) {
  const times = [...new Set(DATA.marks.map(([at]) => at))].sort((a, b) => side * (a - b));
  const next = times.find((at) => side * (at - clock.now) > 1e-6);
  if (next !== undefined) jump(next, DATA.marks.find(([at]) => at === next)[1]);
}

function jump(at, claim) {
  clock.go(at);
  $("told").textContent = `${seconds(at)} seconds: ${claim}`;
}
