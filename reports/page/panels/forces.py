"""Piston forces: required by the law, and true."""

from __future__ import annotations

from reports import signals
from reports.page.panels.panel import Curve, Panel, Plot
from reports.page.panels.tracking import ended


class Forces(Panel):
    name = "Piston forces"

    def plots(self, content) -> list[Plot]:
        log = content.log
        made = []
        for label, need, got in signals.forces(log):
            (want, have), unit = signals.scaled(log, need, got)
            curves = [Curve("required", want, "wanted"), Curve("achieved", have)]
            title = signals.title_of(content.plant, label)
            made.append(Plot(title, unit, log.time, curves, reach=ended(log, want, have)))
        return made
