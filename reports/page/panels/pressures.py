"""Pressures of the chambers, with those of supply and return."""

from __future__ import annotations

from reports import signals
from reports.page.panels.panel import Curve, Level, Panel, Plot
from reports.page.panels.tracking import ended
from workbench.contract.declared import UNKNOWN

BAR = 1e5


class Pressures(Panel):
    name = "Pressures"

    def plots(self, content) -> list[Plot]:
        log = content.log
        plant = UNKNOWN if content.plant is None else content.plant
        known = ((plant.p_s, "supply"), (plant.p_r, "return"))
        levels = [Level(p / BAR, name) for p, name in known if isinstance(p, float)]
        made = []
        supplies = [Curve(n, log.array(n) / BAR) for n in signals.supplies(log, content.plant)]
        for label, names in signals.pressures(log, content.plant):
            values = [log.array(n) / BAR for n in names]
            title = signals.title_of(content.plant, label) if label else "chambers"
            curves = [*(Curve(n, p) for n, p in zip(names, values)), *supplies]
            made.append(Plot(title, "bar", log.time, curves, levels, reach=ended(log, *values)))
        return made
