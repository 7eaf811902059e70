"""Figures of a mechanism's run: what its cylinders do, and where the energy of any run went."""

from __future__ import annotations

import numpy as np

from workbench.energy import energy_gap
from workbench.log import Log

from . import tables
from .axes import time_axis
from .signals import scaled, unit_for
from .style import BLUE, CYCLE, FAINT, GREEN, GREY, INK, LIMIT, ORANGE, RED, figure, legend, line, named, panels, reach

MOST = 4  # cylinders drawn
KEPT = (("E_pot", "potential", GREEN), ("E_kin", "kinetic", ORANGE), ("E_oil", "compressed oil", BLUE))


def cylinders(log: Log) -> list[tuple[str, str, str, str, str]]:
    """(name, length, rate, force, friction) of what pushes a four-bar or a mechanism, by its signals; "" where not logged."""
    if {"s", "ds", "F_c"} <= set(log.names):
        return [("", "s", "ds", "F_c", "F_mu" if "F_mu" in log else "")]
    return [(n[2:], n, f"d{n}", f"f_{n[2:]}", "") for n in log.names
            if n.startswith("s_") and f"d{n}" in log and f"f_{n[2:]}" in log and not n.endswith("_d")]


def work_cycle(log: Log):
    """Length over time, force over length (the area inside a loop is work), friction over speed where it is logged."""
    found = cylinders(log)[:MOST]
    if not found or not log.status.completed:
        return None
    columns = 3 if found[0][-1] else 2
    fig, axes = panels(len(found), columns, 1.25, sharex=False, left=0.66, gap=0.5)
    for row, (name, s, ds, force, friction) in zip(axes, found):
        pairs = [("time", s, "length"), (s, force, "force over length"), (ds, friction, "friction over speed")][:columns]
        for ax, (across, up, what) in zip(row, pairs):
            (y,), unit = scaled(log, up)
            x, below = (log.time, "s") if across == "time" else _one(log, across)
            _trace(ax, x, y, across == "time")
            ax.set_title(named(f"{name}: {what}" if name else what, 40))
            ax.set(xlabel=("time, " if across == "time" else "") + below, ylabel=unit)
            ax.locator_params(nbins=5)
            ax.yaxis.set_label_coords(-0.3 if columns == 3 else -0.16, 0.5)
    return fig


def _one(log, name):
    (values,), unit = scaled(log, name)
    return values, unit


def _trace(ax, x, y, over_time: bool):
    """A curve over time, or one that goes round, its start a dot."""
    if over_time:
        line(ax, x, y, BLUE)
        return
    step = max(1, len(x) // 4000)
    ax.plot(x[::step], y[::step], color=BLUE, lw=0.8)
    ax.plot(x[0], y[0], "o", color=BLUE, ms=3)


def flows(log: Log, plant) -> dict[str, np.ndarray]:
    """Energy brought by every cause up to each time, J; empty for a plant or a log that names none."""
    names = getattr(plant, "power_names", ()) if "E_stored" in log else ()
    found = {name: log.array(f"E_{name}") for name in names if f"E_{name}" in log}
    return {name: e - e[0] for name, e in found.items()} if len(found) == len(names) else {}


def energy(log: Log, plant):
    """What every cause brought or took over the run, what was stored on the way, and what is missing in the sum."""
    moved = flows(log, plant)
    if not moved or not log.status.completed:
        return None
    totals = [(name, float(e[-1])) for name, e in moved.items() if np.abs(e).max() > 0]
    change = float(log.array("E_stored")[-1] - log.array("E_stored")[0])
    bars = [*sorted(totals, key=lambda entry: -entry[1]), ("stored", change)]
    return _bars(bars) if len(bars) > 1 else None


def _bars(bars):
    height = 0.19 * len(bars) + 0.55
    fig = figure(height)
    ax = fig.add_axes((0.2, 0.4 / height, 0.66, 1 - 0.5 / height))
    sizes = np.array([value for _, value in bars])
    unit, size = unit_for("J", sizes, share=1.0)
    places = np.arange(len(bars))[::-1]
    colors = [GREEN if v > 0 else RED for v in sizes[:-1]] + [BLUE]
    ax.barh(places, sizes / size, color=colors, height=0.62)
    reached = np.abs(sizes).max() / size or 1.0
    for at, value in zip(places, sizes / size):
        ax.annotate(tables.quantity(value * size, "J"), (max(value, 0.0), at), (4, 0), textcoords="offset points", va="center",
                    fontsize=7.5)
    ax.set_yticks(places, [named(name.replace("_", " "), 28) for name, _ in bars])
    ax.axvline(0, color=INK, lw=0.6)
    ax.set(xlim=(min(sizes.min() / size, 0.0) - 0.04 * reached, max(sizes.max() / size, 0.0) + 0.16 * reached), xlabel=unit)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    return fig


def energy_over_time(log: Log, plant):
    """Stored energy, in parts where they are logged, beside what all causes have brought; the gap between the two below."""
    moved = flows(log, plant)
    if not moved or not log.status.completed:
        return None
    stored = log.array("E_stored") - log.array("E_stored")[0]
    parts = [(label, log.array(n) - log.array(n)[0], color) for n, label, color in KEPT if n in log]
    fig, axes = panels(2, 1, 1.25, gap=0.4)
    unit, size = unit_for("J", stored, *(p for _, p, _ in parts))
    line(axes[0, 0], log.time, sum(moved.values()) / size, FAINT, lw=2.6, label="brought by all causes")
    for label, part, color in parts:
        line(axes[0, 0], log.time, part / size, color, lw=0.8, label=label)
    line(axes[0, 0], log.time, stored / size, INK if parts else CYCLE[0], lw=0.8, label="stored")
    axes[0, 0].set_title("energy since the start")
    axes[0, 0].set_ylabel(unit)
    legend(axes[0, 0])
    gap = energy_gap(log.array("E_stored"), moved)
    unit, size = unit_for("J", gap)
    axes[1, 0].axhline(0, color=LIMIT, lw=0.5)
    line(axes[1, 0], log.time, gap / size, GREY)
    axes[1, 0].set_title("stored less brought: drift of the integration")
    axes[1, 0].set_ylabel(unit)
    for ax in axes[:, 0]:
        ax.locator_params(axis="y", nbins=5)
        if limits := reach(ax.get_lines()[-1].get_ydata()):
            ax.set_ylim(*limits) if ax is axes[1, 0] and limits != (0.0, 1.0) else None
    return time_axis(fig, axes)
