"""Requirements over time: how much room each sentence has left."""

from __future__ import annotations

import numpy as np

from reports import signals
from reports.page.panels.panel import Curve, Level, Panel, Plot

MOST = 8  # sentences drawn


class Claims(Panel):
    name = "Room of the requirements"

    def plots(self, content) -> list[Plot]:
        entries = (content.analysis.get("requirements") or {}).values()
        drawn = [entry for entry in entries if entry["curve"] is not None]
        return [_room(entry) for entry in drawn[:MOST]]


def _room(entry) -> Plot:
    curve = np.asarray(entry["curve"], float)
    unit, size = signals.unit_for(entry["unit"], curve)
    title = entry["name"] or "requirement"
    zero = [Level(0.0, "violated below")]
    drawn = [Curve("room left", curve / size)]
    return Plot(title, unit, entry["t"], drawn, zero, entry["sentence"])
