"""At rest: whether the errors stand still once the reference has ended."""

from __future__ import annotations

from reports.chapters.chapter import Chapter, Figures
from reports.figures import settled


class Rest(Chapter):
    name = "rest"
    analysis = {
        "settled": "settled half and rest, list of {signal, unit, floor, rest (s) or None, t (N,), error (N,)}"
    }

    def figures(self, content) -> Figures:
        return {"settled": lambda: settled.settled(content.analysis.get("settled") or ())}
