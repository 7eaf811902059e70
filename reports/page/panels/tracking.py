"""Tracking: errors, and what was asked for beside what was obtained."""

from __future__ import annotations

import numpy as np

from reports import signals
from reports.page.panels.panel import Curve, Level, Panel, Plot
from workbench.run.log import Log

MOST = 6  # quantities drawn


class Tracking(Panel):
    name = "Tracking"

    def plots(self, content) -> list[Plot]:
        log = content.log
        if tracked := content.analysis.get("tracking"):
            return _of_outputs(tracked, log)
        made = [_error(log, name) for name in signals.errors(log)]
        if signals.wanted_path(log, content.plant) is None or not made:
            made += [_followed(log, name) for name in signals.followed(log)[:MOST]]
        return made


def _error(log: Log, name: str) -> Plot:
    (e,), unit = signals.scaled(log, name)
    title = f"error of {name.removeprefix('e_')}"
    return Plot(title, unit, log.time, [Curve(name, e)], [Level(0.0)], reach=ended(log, e))


def _followed(log: Log, name: str) -> Plot:
    (want, got), unit = signals.scaled(log, f"{name}_d", name)
    curves = [Curve("asked for", want, "wanted"), Curve("obtained", got)]
    return Plot(name, unit, log.time, curves, reach=ended(log, got))


def _of_outputs(tracked, log: Log) -> list[Plot]:
    """Of a plant without a machine: errors, outputs beside their references, what disturbs."""
    t = tracked["t"]
    made = []
    for output in tracked["outputs"][:MOST]:
        unit, size = signals.unit_for(output["unit"], output["error"])
        e = np.asarray(output["error"]) / size
        title = f"error of {output['name']}"
        made.append(Plot(title, unit, t, [Curve("error", e)], [Level(0.0)], reach=ended(log, e)))
    for output in tracked["outputs"][:MOST]:
        unit, size = signals.unit_for(output["unit"], output["wanted"], output["got"])
        want, got = (np.asarray(output[k]) / size for k in ("wanted", "got"))
        curves = [Curve("asked for", want, "wanted"), Curve("obtained", got)]
        made.append(Plot(output["name"], unit, t, curves, reach=ended(log, got)))
    for load in tracked["disturbances"]:
        unit, size = signals.unit_for(load["unit"], load["values"])
        curve = Curve(load["name"], np.asarray(load["values"]) / size)
        made.append(Plot(f"disturbance {load['name']}", unit, t, [curve]))
    return made


def ended(log: Log, *values) -> tuple[float, float] | None:
    """Limits of the axis that show the time before a run blew up."""
    from reports.style import reach

    return None if log.status.completed else reach(*values)
