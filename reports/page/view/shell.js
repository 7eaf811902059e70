// Asks the server for its state; shows a new page at the instant at which the old one stood, and what went wrong above it.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  let shown = 0;

  function at() {
    try { return $("page").contentDocument.getElementById("time").value; } catch { return null; }
  }

  function scrolled() {
    try { return $("page").contentWindow.scrollY; } catch { return 0; }
  }

  function show(version) {
    const time = at(), y = scrolled();
    $("page").onload = () => {
      $("page").contentWindow.scrollTo(0, y);
      $("page").contentWindow.focus();
      document.title = $("page").contentDocument.title;
    };
    $("page").src = `/page?version=${version}${time === null || shown === 0 ? "" : `#t=${time}`}`;
    shown = version;
  }

  async function ask() {
    let state;
    try {
      state = await (await fetch("/state", { cache: "no-store" })).json();
    } catch {
      $("state").textContent = "the server has ended";
      return setTimeout(ask, 2000);
    }
    $("state").textContent = state.running ? "verifying …" : "";
    $("trouble").hidden = !state.message;
    $("message").textContent = state.message;
    if (state.version > shown) show(state.version);
    setTimeout(ask, 500);
  }
  ask();
})();
