"""The accompanying function v of a law that has one, beside its bound, and v̇ beside its own."""

from __future__ import annotations

import numpy as np

from reports import signals
from reports.page.panels.panel import Curve, Level, Panel, Plot


class Storage(Panel):
    name = "Accompanying function"

    def plots(self, content) -> list[Plot]:
        data = content.analysis.get("ledger") or {}
        if "v" not in data:
            return []
        t = data["t"]
        found = [Plot("v", *_in("J", t, data, "v_bound", "bound v̂", "v", "v"), log=True)]
        if "vdot" in data:
            rates = _in("W", t, data, "vdot_bound", "bound of v̇", "vdot", "v̇")
            found.append(Plot("v̇", *rates, [Level(0.0)]))
        return found


def _in(unit: str, t, data, bound: str, bound_label: str, own: str, label: str) -> tuple:
    """(unit, t, curves) of a quantity and its bound."""
    y = np.asarray(data[own], float)
    name, size = signals.unit_for(unit, y)
    curves = [Curve(label, y / size)]
    if bound in data:
        curves.insert(0, Curve(bound_label, np.asarray(data[bound], float) / size, "bound"))
    return name, t, curves
