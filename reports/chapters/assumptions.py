"""What the verdicts rest on, and its margins along the run."""

from __future__ import annotations

from reports import tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import proof


class Assumptions(Chapter):
    name = "assumptions"
    analysis = {"assumptions": "name → {t, margin}, margin normalised to 1, negative where not met"}

    def figures(self, content) -> Figures:
        return {"assumptions": lambda: proof.assumptions(content.analysis.get("assumptions") or {})}

    def rows(self, content, drawn: list[str]) -> dict:
        return {"assumptions": tables.assumption_rows(content.verdicts)}
