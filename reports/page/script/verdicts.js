// A click on a verdict's instant goes there.

function verdicts() {
  document.querySelectorAll(".jump").forEach((button) => button.addEventListener("click", () => {
    jump(+button.dataset.at, button.closest("tr").querySelector(".claim").textContent);
  }));
  const rowsOf = [...document.querySelectorAll(".jump")].map((button) => [+button.dataset.at, button.closest("tr")]);
  clock.onChange((now) => rowsOf.forEach(([at, row]) => row.classList.toggle("now", Math.abs(now - at) < 1e-9)));
}
