"""Figures of friction: steady curves, loops over the speed, pre-sliding, and what rubbed in a run.

Arrays come from `workbench.sliding`: steady(law, v), drive(law, t, v).t, .v, .x, .F.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.log import Log

from . import signals
from .style import CYCLE, INK, LIMIT, WIDTH, figure, legend, named, panels


def curves(data: Mapping[str, tuple]):
    """Steady friction over speed, {law: (v m/s, F N)}, with measured points as dots where a name ends in "data"."""
    return _plane(data, "v, mm/s", 1e3, 2.5)


def loops(data: Mapping[str, tuple]):
    """Friction along speeds that go to and fro, {name: (v m/s, F N)}: hysteresis at reversal, lag of a film."""
    return _plane(data, "v, mm/s", 1e3, 2.8)


def pre_sliding(data: Mapping[str, tuple]):
    """Friction over small displacements, {name: (x m, F N)}: bristles as springs, and where they let go."""
    return _plane(data, "x, µm", 1e6, 2.5)


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
        dots = {"ls": "", "marker": ".", "ms": 3.0, "color": INK} if name.endswith("data") else {"color": color}
        ax.plot(size * np.asarray(x, float), by * np.asarray(F, float), label=named(name, 30), **dots)
    ax.set(xlabel=xlabel, ylabel=f"friction, {unit}")
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return fig


def rubbed(log: Log, plant=None):
    """Friction over piston speed in a run, one panel a cylinder; None where nothing of both is logged."""
    found = [(label, speed, force) for label, speed, force in _pairs(log)]
    if not found:
        return None
    fig, axes = panels(1, len(found), 1.6, sharex=False)
    for ax, (label, speed, force) in zip(axes[0], found):
        v, F = log.array(speed), log.array(force)
        step = max(1, len(v) // 4000)
        ax.plot(1e3 * v[::step], F[::step] / 1e3, lw=0.6)
        ax.set(title=signals.title_of(plant, label) if label else "cylinder", xlabel="speed, mm/s", ylabel="friction, kN")
        ax.locator_params(nbins=5)
    legend(axes[0, 0])
    return fig


def _pairs(log: Log):
    names = [s.name for s in log.signals]
    for name in names:
        if name.startswith("f_f"):
            label = name.removeprefix("f_f")
            speed = next((n for n in (f"dx_{label}", "dY") if n in names), None)
            if speed:
                yield label, speed, name
