"""What a search for counter-examples found, beside the run of the scenario."""

from __future__ import annotations

from reports import signals
from reports.page.panels.panel import Curve, Level, Panel, Plot


class Closest(Panel):
    name = "Counter-example"

    def plots(self, content) -> list[Plot]:
        found = content.analysis.get("falsify")
        return [] if not found else [_beside(c, found) for c in found["closest"]["curves"]]


def called(found) -> str:
    """What the run that a search found is called."""
    return "counter-example" if found["closest"]["score"] < 0 else "closest run"


def _beside(curve, found) -> Plot:
    import numpy as np

    (t, own), (at, other) = curve["nominal"], curve["closest"]
    own = np.asarray(own, float)
    other = np.asarray(other, float)
    unit, size = signals.unit_for(curve["unit"], own, other)
    times = np.asarray(t, float)
    seen = np.interp(times, at, other, right=np.nan)
    curves = [Curve("this run", own / size, "aside"), Curve(called(found), seen / size, "other")]
    levels = [Level(edge / size) for edge in curve["edges"]]
    return Plot(curve["name"], unit, times, curves, levels)
