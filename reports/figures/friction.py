"""Figures of friction: steady curves, loops over the speed, pre-sliding, and what rubbed in a run.

Arrays come from `workbench.numerics.sliding`: steady(law, v), drive(law, t, v).t, .v, .x, .F.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports import signals
from reports.style import CYCLE, INK, LIMIT, WIDTH, figure, named, panels, reach
from workbench.run.log import Log

FASTEST = 1.0  # m/s, up to which a curve is looked at


def curves(data: Mapping[str, tuple]):
    """Steady friction over speed, {law: (v m/s, F N)}, with measured points as dots where a name ends in "data"."""
    return _plane(data, "v, mm/s", 1e3, 2.5)


def loops(data: Mapping[str, tuple]):
    """Friction along speeds that go to and fro, {name: (v m/s, F N)}: hysteresis at reversal, lag of a film."""
    return _plane(data, "v, mm/s", 1e3, 2.8)


def _plane(data, xlabel: str, size: float, height: float):
    if not data:
        return None
    fig = figure(height, WIDTH * 0.72)
    ax = fig.add_axes((0.13, 0.42 / height, 0.60, 1 - 0.6 / height))
    most = max(float(np.nanmax(np.abs(F))) for _, F in data.values())
    unit, by = ("kN", 1e-3) if most >= 2e3 else ("N", 1.0)
    for x in (ax.axhline, ax.axvline):
        x(0, color=LIMIT, lw=0.5)
    for (name, (x, F)), color in zip(data.items(), CYCLE * (1 + len(data) // len(CYCLE))):
        dots = (
            {"ls": "", "marker": ".", "ms": 3.0, "color": INK}
            if name.endswith("data")
            else {"color": color}
        )
        ax.plot(
            size * np.asarray(x, float), by * np.asarray(F, float), label=named(name, 30), **dots
        )
    ax.set(xlabel=xlabel, ylabel=f"friction, {unit}")
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return fig


def rubbed(log: Log, plant=None):
    """Friction over piston speed in a run, one panel a cylinder.

    None where nothing of both is logged, or no friction has anything to show but its own rising curve.
    """
    found = list(_pairs(log))
    laws = [] if plant is None else plant.friction_laws
    if not found or not any(law.states("") or not law.monotone(FASTEST) for law in laws):
        return None
    fig, axes = panels(1, len(found), 1.6, sharex=False)
    for ax, (label, speed, force) in zip(axes[0], found):
        v = log.array(speed)
        F = log.array(force)
        step = max(1, len(v) // 4000)
        unit, by = ("kN", 1e-3) if np.nanmax(np.abs(F)) >= 2e3 else ("N", 1.0)
        ax.plot(1e3 * v[::step], by * F[::step], lw=0.6)
        ax.set(
            title=signals.title_of(plant, label) if label else "cylinder",
            xlabel="speed, mm/s",
            ylabel=f"friction, {unit}",
        )
        ax.locator_params(nbins=5)
        if not log.status.completed:  # a run that blew up: limits that still show what went before
            for limits, values, by_ in ((ax.set_xlim, v, 1e3), (ax.set_ylim, F, by)):
                limits(*(by_ * x for x in reach(values) or (np.nanmin(values), np.nanmax(values))))
    return fig


def _pairs(log: Log):
    names = [s.name for s in log.signals]
    for name in names:
        if name.startswith("f_f"):
            label = name.removeprefix("f_f")
            speed = next((n for n in (f"dx_{label}", "dY") if n in names), None)
            if speed:
                yield label, speed, name
