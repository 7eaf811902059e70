// Light and dark: what the reader's system says, until the reader says otherwise; drawings ask for their colours here.

const themed = [];
const LOOKS = { wanted: "--amber", bound: "--amber", aside: "--grey", other: "--red" };
const CYCLE = ["--blue", "--red", "--green", "--purple", "--sky", "--ochre"];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const isDark = () => document.documentElement.dataset.theme === "dark";

function remembered() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").setAttribute("aria-pressed", String(dark));
  themed.forEach((again) => again());
}

function switchTheme() {
  setTheme(!isDark());
  try { localStorage.setItem("theme", isDark() ? "dark" : "light"); } catch { /* a reader who keeps nothing */ }
}

const system = matchMedia("(prefers-color-scheme: dark)");
setTheme((remembered() ?? (system.matches ? "dark" : "light")) === "dark");
system.addEventListener("change", () => remembered() === null && setTheme(system.matches));
$("theme").addEventListener("click", switchTheme);
