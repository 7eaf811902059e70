"""The run: tracking, actuators, limits, solver."""

from __future__ import annotations

from collections.abc import Mapping

from reports import signals, tables
from reports.chapters.chapter import Chapter, Figures
from reports.figures import friction, loop, mechanism, run
from reports.metering import course
from reports.style import clean
from workbench.run.log import Log


class Run(Chapter):
    name = "run"
    analysis = {
        "tracking": "errors of the outputs that follow a reference, loads, when it has settled",
        "previews": "output → errors of the run that sees nothing ahead",
        "limits": "list of what has a limit: name, kind, unit, t, value, low, high, share of time at it",
        "solver": "a predictive controller's solver: t, iterations, active, slack (N,), optimal, events",
    }
    printed = {"statistics": "name → (value, unit)"}

    def figures(self, content) -> Figures:
        if content.log is None:
            return {}
        return of_the_run(content.log, content.plant, content.analysis)

    def rows(self, content, drawn: list[str]) -> dict:
        plant = content.plant
        analysis = content.analysis
        tracked = analysis.get("tracking") or {}
        limits = analysis.get("limits") or ()
        statistics, _ = tables.energies_apart(analysis.get("statistics") or {}, drawn)
        return {
            "supply": plant is not None and isinstance(plant.p_s, float),
            "supply_varies": bool(content.log and signals.supplies(content.log, plant)),
            "statistics": tables.statistics_rows(statistics),
            "loaded": bool(tracked.get("disturbances")),
            "load": load_rows(tracked, analysis.get("previews") or {}),
            "limits": [limit_row(entry) for entry in limits],
            "at_limits": at_limits(limits) if limits else "",
            "solver": solver(analysis.get("solver")),
        }


def of_the_run(log: Log, plant, analysis: Mapping) -> Figures:
    """Name → function that draws a figure of the run, in the order of the chapter."""
    beside = signals.wanted_path(log, plant) is not None
    figures = {"path": lambda: run.path(log, plant)}
    if tracked := analysis.get("tracking"):
        figures["under_load"] = lambda: loop.under_load(
            tracked, analysis.get("previews"), log.status.completed
        )
    else:
        figures["tracking"] = lambda: run.tracking(log, beside)
        figures |= {} if beside else {"followed": lambda: run.followed(log)}
    figures |= {
        "forces": lambda: run.forces(log, plant),
        "pressures": lambda: run.pressures(log, plant),
    }
    # Commands of metering valves have a chapter of their own.
    metered = course(log, plant) is not None
    limited = analysis.get("limits") or ()
    said_there = [metered and e["kind"] == "command" and not e["share"] for e in limited]
    if not all(said_there):
        figures["limits"] = lambda: loop.limits(limited)
    if not metered and not any(entry["kind"] == "command" for entry in limited):
        figures["voltages"] = lambda: run.voltages(log, plant)
    figures["friction"] = lambda: friction.rubbed(log, plant)
    if solved := analysis.get("solver"):
        figures["solver"] = lambda: loop.solver(solved)
    return figures | {
        "work_cycle": lambda: mechanism.work_cycle(log),
    }


def load_rows(tracked: Mapping, previews: Mapping) -> list[list[str]]:
    """[output, rms error, largest error, its time, rms and largest error of a run without preview]."""
    rows = []
    for entry in tracked.get("outputs", ()):
        blind = previews.get(entry["name"])
        rows.append(
            [
                clean(entry["name"], 40),
                *(tables.quantity(entry[k], entry["unit"], 3) for k in ("rms", "largest")),
                "t = " + tables.quantity(entry["at"], "s", 4),
                *(
                    tables.quantity(blind[k], entry["unit"], 3) if blind else ""
                    for k in ("rms", "largest")
                ),
            ]
        )
    return rows


def limit_row(entry: Mapping) -> list[str]:
    """[signal, kind, limits, largest value in the run, share of time at it]."""
    import numpy as np

    seen = entry["value"][np.isfinite(entry["value"])]
    largest = float(seen[np.abs(seen).argmax()]) if seen.size else float("nan")
    kind = {"command": "command", "slew": "rate of change", "output": "output"}[entry["kind"]]
    unit = entry["unit"]
    kind = kind + (", soft" if entry["soft"] else "")
    return [
        clean(entry["name"], 40),
        kind,
        tables.range_of(entry["low"], entry["high"], unit),
        tables.quantity(largest, unit, 3),
        tables.percent(entry["share"]) if entry["share"] else "never",
    ]


def at_limits(entries) -> str:
    """One sentence on the limits that the run was at, and how long."""
    at = [e for e in entries if e["share"]]
    if not at:
        return "no limit was reached."
    return (
        "; ".join(
            f"{clean(e['name'], 40)}{' (rate of change)' if e['kind'] == 'slew' else ''} at its limit "
            f"{tables.percent(e['share'])} of the time"
            for e in at
        )
        + "."
    )


def solver(data: Mapping | None) -> dict | None:
    """A sentence on the solver, and whether anything was not solved."""
    if not data:
        return None
    n = len(data["t"])
    most = int(max(data["iterations"]))
    tries = f"at most {most} iteration{'s' if most > 1 else ''}"
    if not data["events"]:
        active = int(max(data["active"]))
        limits = (
            f"at most {active} limit{'s' if active > 1 else ''} active"
            if active
            else "no limit active"
        )
        return {
            "text": f"All {n} samples were solved to optimality, with {tries}, {limits}.",
            "events": False,
        }
    what = ", ".join(f"{clean(name, 60)}: {len(t)}" for name, t in data["events"].items())
    share = tables.percent(data["optimal"], 4)
    return {
        "text": f"{share} of {n} samples were solved to optimality, with {tries}; {what}.",
        "events": True,
    }
