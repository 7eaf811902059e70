// Everything is put together.

function stage() {
  if (!DATA.scene) return;
  $("stage").hidden = false;
  $("main").classList.add("with-stage");
  let view;
  try {
    view = stage3($("view"), DATA.scene);
  } catch {
    $("view").replaceChildren();
    view = stageFlat($("view"), DATA.scene);
  }
  view.canvas.setAttribute("role", "img");
  view.canvas.setAttribute("aria-label", `the machine in its pose at the chosen instant: ${DATA.scene.solids.map((s) => s.name).filter(Boolean).join(", ") || "its bodies"}`);
  if (view.grid) tools(view);
  note(view);
  clock.onChange((now) => view.show(now));
}

function tools(view) {
  const add = (text, act, pressed) => {
    const button = made("button", "", text);
    button.type = "button";
    if (pressed !== undefined) button.setAttribute("aria-pressed", String(pressed));
    button.addEventListener("click", () => act(button));
    $("stage-tools").append(button);
  };
  const toggled = (text, act, on) => add(text, (button) => {
    const next = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(next));
    act(next);
  }, on);
  if (DATA.scene.runs.length > 1) {
    toggled(DATA.scene.runs[1].name, view.others, true);
  }
  toggled("names", view.names, true);
  Object.keys(VIEWS).forEach((name) => add(name, () => view.look(name)));
}

function note(view) {
  const add = (look, text) => {
    const part = made("span"), sample = made("i");
    if (look) part.append(sample);
    part.append(text);
    $("stage-note").append(part);
    if (look) {
      const paint = () => { sample.style.background = colour(look); };
      themed.push(paint);
      paint();
    }
  };
  if (view.grid) add("", `grid ${number(view.grid)} m`);
  if (DATA.scene.runs[0].tip) add("--tool", "path of the tool");
  if (unpacked(DATA.scene.wanted).length) add("--amber", "as asked for");
  if (DATA.scene.runs.length > 1) add("--red", `${DATA.scene.runs[1].name}, drawn behind`);
}

DATA.panels.forEach((panel) => {
  const section = made("section", "panel"), plots = made("div", "plots");
  section.append(made("h2", "", panel.name), plots);
  $("panels").append(section);
  panel.plots.forEach((spec) => plots.append(plot(spec)));
});
stage();
transport();
verdicts();
clock.onChange((now) => synced.forEach((show) => show(now)));
clock.set(clock.begin);
const asked = /^#t=([-+.\de]+)$/.exec(location.hash);
if (asked) clock.go(+asked[1]);
