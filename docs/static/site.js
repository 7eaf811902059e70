// What scrolls can be reached by keyboard, and headings of the sidebar say their level.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll(".highlight pre, .table-wrapper")) block.tabIndex = 0;
  for (const head of document.querySelectorAll("p.caption[role=heading]")) head.setAttribute("aria-level", "2");
});
