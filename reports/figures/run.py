"""Figures of a run: path, errors, piston forces, pressures, voltages (Figs 13 to 16 of [Petrovic22])."""

from __future__ import annotations

import numpy as np

from reports import signals
from reports.axes import around, beyond, level, remark, time_axis, unit_label
from reports.style import (
    BLUE,
    LIMIT,
    OBTAINED,
    ORANGE,
    RED,
    WANTED,
    WIDTH,
    figure,
    legend,
    line,
    panels,
    reach,
    symbol,
)
from workbench.contract.declared import UNKNOWN
from workbench.run.log import Log


def path(log: Log, plant=None):
    """Desired and obtained path of the tool centre point in the plane x, y; None when it is not known."""
    wanted = signals.wanted_path(log, plant)
    if wanted is None:
        return None
    fig = figure(2.6, WIDTH * 0.47)
    ax = fig.add_axes((0.15, 0.42 / 2.6, 0.82, 1 - 0.66 / 2.6))
    obtained = log.array("tcp_x"), log.array("tcp_y")
    for (x, y), color, width, label in (
        (wanted, WANTED, 2.6, "desired"),
        (obtained, OBTAINED, 0.8, "obtained"),
    ):
        step = max(1, len(x) // 2000)
        keep = np.hypot(x - x[0], y - y[0]) < (np.inf if log.status.completed else 5.0)
        x = np.where(keep, x, np.nan)[::step]
        y = np.where(keep, y, np.nan)[::step]
        ax.plot(x, y, color=color, lw=width, label=label)
    ax.plot(*(log.array(n)[:1] for n in ("tcp_x", "tcp_y")), "o", color=OBTAINED, ms=3.5)
    ax.set(xlabel="x, m", ylabel="y, m")
    ax.set_aspect("equal", adjustable="datalim")
    ax.locator_params(nbins=5)
    legend(ax)
    return fig


def tracking(log: Log, beside: bool = False):
    """Tracking errors over time, one panel each; half as wide and as high as `path` when drawn beside it."""
    names = signals.errors(log)
    if not names:
        return None
    n = len(names)
    height = (2.6 - 0.64 - 0.3 * (n - 1)) / n if n < 5 else 0.45
    fig, axes = panels(n, 1, height, width=WIDTH * (0.5 if beside else 1.0))
    for ax, name in zip(axes[:, 0], names):
        (e,), unit = signals.scaled(log, name)
        ax.axhline(0, color=LIMIT, lw=0.5)
        line(ax, log.time, e, BLUE)
        unit_label(ax, unit)
        ax.set_title(symbol(name.removeprefix("e_")))
        _finish(ax, log, e, bins=3)
    return time_axis(fig, axes, 5 if beside else 9)


def followed(log: Log):
    """Desired and obtained coordinates over time; None when there are none."""
    names = signals.followed(log)[:6]
    if not names:
        return None
    fig, axes = panels(len(names), 1, 0.85 if len(names) < 4 else 0.7)
    for ax, name in zip(axes[:, 0], names):
        (want, got), unit = signals.scaled(log, f"{name}_d", name)
        line(ax, log.time, want, WANTED, lw=2.4, label="desired")
        line(ax, log.time, got, OBTAINED, lw=0.8, label="obtained")
        unit_label(ax, unit)
        ax.set_title(symbol(name))
        _finish(ax, log, got, bins=3)
        low, high = ax.get_ylim()
        if high - low < 1e-2 * abs(high):  # a coordinate that is held: no axis of rounding errors
            ax.set_ylim(low - 5e-3 * abs(high), high + 5e-3 * abs(high))
    legend(axes[0, 0])
    return time_axis(fig, axes)


def forces(log: Log, plant=None):
    """Required and achieved piston forces, one panel an actuator."""
    groups = signals.forces(log)
    if not groups:
        return None
    fig, axes = panels(len(groups), 1, 0.95)
    for ax, (label, need, got) in zip(axes[:, 0], groups):
        (want, have), unit = signals.scaled(log, need, got)
        line(ax, log.time, want, WANTED, lw=2.4, label="required $f_{pr}$")
        line(ax, log.time, have, OBTAINED, lw=0.8, label="achieved $f_{p}$")
        unit_label(ax, unit)
        ax.set_title(signals.title_of(plant, label))
        _finish(ax, log, want, have)
    legend(axes[0, 0])
    return time_axis(fig, axes)


def pressures(log: Log, plant=None):
    """Chamber pressures with the supply and return pressure, one panel an actuator."""
    known = UNKNOWN if plant is None else plant
    groups = signals.pressures(log, plant)
    if not groups:
        return None
    fig, axes = panels(len(groups), 1, 0.95 if len(groups) < 4 else 0.75)
    for ax, (label, names) in zip(axes[:, 0], groups):
        values = [log.array(n) / 1e5 for n in names]
        for name in signals.supplies(log, plant):
            line(ax, log.time, log.array(name) / 1e5, LIMIT, lw=0.7, label=symbol(name))
        for value, name, color in zip(
            values, names, (BLUE, RED, ORANGE, "#009E73", "#56B4E9", "#CC79A7")
        ):
            line(ax, log.time, value, color, label=symbol(name[:3]) if label else symbol(name))
        for p, name in (
            (known.p_s, "supply"),
            (known.p_r, "return"),
        ):
            if isinstance(p, float):
                level(ax, p / 1e5, name)
        ax.set_ylabel("bar")
        if label:
            ax.set_title(signals.title_of(plant, label))
        _finish(ax, log, *values)
    legend(axes[0, 0], 0.92)
    return time_axis(fig, axes)


def voltages(log: Log, plant=None):
    """What the controller commands, with the largest voltage either way."""
    groups = signals.commands(log, plant)
    if not groups:
        return None
    known = UNKNOWN if plant is None else plant
    limits = dict(zip(known.labels, (c.valve.u_max for c in known.cylinders)))
    fig, axes = panels(len(groups), 1, 0.95)
    for ax, (label, name) in zip(axes[:, 0], groups):
        (u,), unit = (
            ([log.array(name)], "V") if log.signal(name).unit == "V" else signals.scaled(log, name)
        )
        line(ax, log.time, u, BLUE, lw=0.8)
        most = limits.get(label)
        if most and np.nanmax(np.abs(u)) > 0.15 * most:
            for sign in (1, -1):
                level(ax, sign * most, "limit" if sign > 0 else "")
        elif most:
            remark(ax, f"limit ± {most:g} V, beyond this axis")
        unit_label(ax, unit)
        ax.set_title(signals.title_of(plant, label) if signals.numbered(label) else symbol(name))
        _finish(ax, log, u)
        if most and beyond(np.nanmax(np.abs(u)), (most,)):
            around(ax, (-most, most))
    return time_axis(fig, axes)


def _finish(ax, log, *values, bins=4):
    """Set few ticks, and limits of the axes that show the time before a run blew up."""
    ax.locator_params(axis="y", nbins=bins)
    if not log.status.completed and (limits := reach(*values)):
        ax.set_ylim(*limits)
