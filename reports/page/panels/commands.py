"""What the controller commands and what the valves make of it, with the largest command either way."""

from __future__ import annotations

import numpy as np

from reports import signals
from reports.page.panels.panel import Curve, Level, Panel, Plot
from reports.page.panels.tracking import ended
from workbench.contract.declared import UNKNOWN

NEAR = 0.15  # share of the limit: from there on it is drawn


class Commands(Panel):
    name = "Commands and valves"

    def plots(self, content) -> list[Plot]:
        limited = content.analysis.get("limits") or ()
        own = [_limited(entry) for entry in limited]
        if any(entry["kind"] == "command" for entry in limited):
            return own
        return [_command(content, *c) for c in signals.commands(content.log, content.plant)] + own


def _command(content, label: str, name: str) -> Plot:
    log = content.log
    plant = UNKNOWN if content.plant is None else content.plant
    unit = log.signal(name).unit
    spool = f"u_s_{label}"
    drawn = [name, *([spool] if spool in log and log.signal(spool).unit == unit else [])]
    values, shown = signals.scaled(log, *drawn)
    if unit == "V":
        values, shown = [log.array(n) for n in drawn], "V"
    most = dict(zip(plant.labels, (c.valve.u_max for c in plant.cylinders))).get(label)
    near = most is not None and float(np.nanmax(np.abs(values[0]))) > NEAR * most
    levels = [Level(most, "limit"), Level(-most)] if near else []
    words = f"limit ± {most:g} V, beyond this axis" if most and not near else ""
    labels = ["command", "spool"]
    curves = [Curve(f"{said} {n}", y) for said, n, y in zip(labels, drawn, values)]
    title = signals.title_of(plant, label) if signals.numbered(label) else name
    return Plot(title, shown, log.time, curves, levels, words, reach=ended(log, *values))


def _limited(entry) -> Plot:
    """What has limits that a plant or a law states."""
    value = np.asarray(entry["value"], float)
    ends = [(end, name) for end, name in ((entry["low"], ""), (entry["high"], "limit"))]
    finite = [(end, name) for end, name in ends if np.isfinite(end)]
    unit, size = signals.unit_for(entry["unit"], value, *([end] for end, _ in finite))
    kind = {"slew": "rate of change of "}.get(entry["kind"], "")
    curve = Curve(entry["name"], value / size)
    levels = [Level(end / size, name) for end, name in finite]
    return Plot(f"{kind}{entry['name']}", unit, entry["t"], [curve], levels)
