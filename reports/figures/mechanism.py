"""Figures of a mechanism's run: what its cylinders do, and where the energy of any run went."""

from __future__ import annotations

import numpy as np

from reports import tables
from reports.signals import scaled, unit_for
from reports.style import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    INK,
    LIMIT,
    ORANGE,
    RED,
    figure,
    legend,
    line,
    named,
    panels,
)
from workbench.run.energy import energy_gap
from workbench.run.log import Log

MOST = 4  # cylinders drawn
KEPT = (("E_pot", "potential", GREEN), ("E_kin", "kinetic", ORANGE), ("E_oil", "oil", BLUE))


def cylinders(log: Log) -> list[tuple[str, str, str, str, str]]:
    """(name, length, rate, force, friction) of what pushes a four-bar or a mechanism, by its signals; "" where not logged."""
    if {"s", "ds", "F_c"} <= set(log.names):
        return [("", "s", "ds", "F_c", "F_mu" if "F_mu" in log else "")]
    return [
        (n[2:], n, f"d{n}", f"f_{n[2:]}", "")
        for n in log.names
        if n.startswith("s_") and f"d{n}" in log and f"f_{n[2:]}" in log and not n.endswith("_d")
    ]


def work_cycle(log: Log):
    """Length over time, force over length (the area inside a loop is work), friction over speed where it is logged."""
    found = cylinders(log)[:MOST]
    if not found or not log.status.completed:
        return None
    columns = 3 if found[0][-1] else 2
    height = 1.25 if len(found) < 3 else 1.0
    fig, axes = panels(len(found), columns, height, sharex=False, left=0.66, gap=0.5)
    for row, (name, s, ds, force, friction) in zip(axes, found):
        pairs = [
            ("time", s, "length"),
            (s, force, "force over length"),
            (ds, friction, "friction over speed"),
        ][:columns]
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
    names = plant.power_names if plant is not None and "E_stored" in log else ()
    found = {name: log.array(f"E_{name}") for name in names if f"E_{name}" in log}
    return {name: e - e[0] for name, e in found.items()} if len(found) == len(names) else {}


def energy(log: Log, plant):
    """Left: what every cause brought or took over the run, and what is stored in the end. Right: stored energy over time, in parts
    where they are logged, beside what all causes have brought, and the gap between the two."""
    moved = flows(log, plant)
    totals = {name: float(e[-1]) for name, e in moved.items() if np.abs(e).max() > 0}
    if not totals or not log.status.completed:
        return None
    change = float(log.array("E_stored")[-1] - log.array("E_stored")[0])
    bars = [*sorted(totals.items(), key=lambda entry: -entry[1]), ("stored", change)]
    height = max(0.17 * len(bars) + 0.6, 2.5)
    fig = figure(height)
    bottom = 0.42 / height
    top = 0.24 / height
    longest = max(len(name) for name, _ in bars)
    left = 0.06 + 0.0056 * min(longest, 20)  # of the width: room for the names at the bars
    _bars(fig.add_axes((left, bottom, 0.5 - left, 1 - bottom - top)), bars)
    gap = 0.34 / height
    half = 0.5 * (1 - bottom - top - 0.34 / height)
    below = fig.add_axes((0.6, bottom, 0.39, half))
    above = fig.add_axes((0.6, bottom + half + gap, 0.39, half), sharex=below)
    _over_time(above, log, moved)
    _gap(below, log, moved)
    above.tick_params(labelbottom=False)
    below.margins(x=0.01)
    below.set_xlabel("time, s")
    return fig


def _bars(ax, bars):
    sizes = np.array([value for _, value in bars])
    unit, size = unit_for("J", sizes, share=1.0)
    places = np.arange(len(bars))[::-1]
    ax.barh(
        places,
        sizes / size,
        color=[GREEN if v > 0 else RED for v in sizes[:-1]] + [BLUE],
        height=0.62,
    )
    reached = np.abs(sizes).max() / size or 1.0
    for at, value in zip(places, sizes / size):
        ax.annotate(
            tables.quantity(value * size, "J", 3),
            (max(value, 0.0), at),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
        )
    ax.set_yticks(places, [named(name.replace("_", " "), 20) for name, _ in bars])
    ax.axvline(0, color=INK, lw=0.6)
    ax.set(
        xlim=(
            min(sizes.min() / size, 0.0) - 0.04 * reached,
            max(sizes.max() / size, 0.0) + 0.36 * reached,
        ),
        xlabel=unit,
    )
    ax.locator_params(axis="x", nbins=5)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.set_title("brought and taken over the run")


def _over_time(ax, log, moved):
    stored = log.array("E_stored") - log.array("E_stored")[0]
    parts = [(label, log.array(n) - log.array(n)[0], color) for n, label, color in KEPT if n in log]
    unit, size = unit_for("J", stored, *(p for _, p, _ in parts))
    line(ax, log.time, sum(moved.values()) / size, FAINT, lw=2.6, label="brought")
    for label, part, color in parts:
        line(ax, log.time, part / size, color, lw=0.8, label=label)
    line(ax, log.time, stored / size, INK if parts else BLUE, lw=0.8, label="stored")
    _named_axis(ax, unit)
    legend(ax)


def _gap(ax, log, moved):
    values = energy_gap(log.array("E_stored"), moved)
    unit, size = unit_for("J", values)
    ax.axhline(0, color=LIMIT, lw=0.5)
    line(ax, log.time, values / size, GREY)
    ax.set_title("stored less brought: drift of the integration")
    _named_axis(ax, unit)


def _named_axis(ax, unit):
    ax.set_ylabel(unit)
    ax.yaxis.set_label_coords(-0.19, 0.5)
    ax.locator_params(axis="y", nbins=4)
