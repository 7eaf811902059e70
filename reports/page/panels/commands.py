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
    drawn = [name]
    if spool in log and log.signal(spool).unit == unit:
        drawn.append(spool)
    values, shown = signals.scaled(log, *drawn)
    if unit == "V":
        shown = unit
        values = [log.array(signal) for signal in drawn]
    largest = {k: c.valve.u_max for k, c in zip(plant.labels, plant.cylinders)}
    most = largest.get(label)
    levels = []
    words = ""
    if most is not None and float(np.nanmax(np.abs(values[0]))) > NEAR * most:
        levels = [Level(most, "limit"), Level(-most)]
    elif most:
        words = f"limit ± {most:g} V, beyond this axis"
    called = zip(("command", "spool"), drawn, values)
    curves = [Curve(f"{what} {signal}", y) for what, signal, y in called]
    title = signals.title_of(plant, label) if signals.numbered(label) else name
    return Plot(title, shown, log.time, curves, levels, words, reach=ended(log, *values))


def _limited(entry) -> Plot:
    """What has limits that a plant or a law states."""
    value = np.asarray(entry["value"], float)
    ends = {"": entry["low"], "limit": entry["high"]}
    finite = {words: end for words, end in ends.items() if np.isfinite(end)}
    unit, size = signals.unit_for(entry["unit"], value, *([end] for end in finite.values()))
    title = entry["name"]
    if entry["kind"] == "slew":
        title = f"rate of change of {title}"
    curve = Curve(entry["name"], value / size)
    levels = [Level(end / size, words) for words, end in finite.items()]
    return Plot(title, unit, entry["t"], [curve], levels)
