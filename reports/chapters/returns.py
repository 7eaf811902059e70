"""Other starts: whether disturbed runs come back."""

from __future__ import annotations

from reports.chapters.chapter import Chapter, Figures
from reports.figures import returns


class Returns(Chapter):
    name = "returns"
    analysis = {
        "returns": "other starts, list of {signal, unit, tolerance, curves: [{t (N,), distance (N,), word}]}"
    }

    def figures(self, content) -> Figures:
        return {"returns": lambda: returns.returns(content.analysis.get("returns") or ())}
