"""Figures of a run of an actuator's loop: tracking under load, constraint activity, what the solver did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from reports import tables
from reports.axes import around, beyond, level, remark, time_axis, unit_label
from reports.signals import unit_for
from reports.style import (
    BLUE,
    CYCLE,
    LIMIT,
    OBTAINED,
    ORANGE,
    RED,
    WANTED,
    legend,
    line,
    named,
    panels,
    reach,
    symbol,
)

MOST = 8  # limits drawn
NARROW = 0.15  # share of its range a signal must use for the limit to be on the axis
WORDS = {"load": ", load", "error": ", error", "blind": ", error when nothing is known ahead"}
COLOURS = {"load": ORANGE, "error": BLUE, "blind": RED}
BUCKETS = 400  # stretches of time in which a limit is told to be active or not


def under_load(data: Mapping, previews: Mapping | None = None, completed: bool = True):
    """Reference, output, error and load of every output that follows one; errors with and without preview.

    completed: False for a run that blew up; axes then leave out what ran away.
    """
    rows = [
        row
        for entry in data["outputs"][:2]
        for row in _rows(entry, (previews or {}).get(entry["name"]))
    ]
    rows += [("load", one) for one in data["disturbances"][:2]]
    fig, axes = panels(len(rows), 1, 0.95 if len(rows) < 4 else 0.78, gap=0.34)
    for ax, (kind, entry) in zip(axes[:, 0], rows):
        if kind == "followed":
            unit, size = unit_for(entry["unit"], entry["wanted"], entry["got"])
            line(ax, data["t"], entry["wanted"] / size, WANTED, lw=2.4, label="desired")
            line(ax, data["t"], entry["got"] / size, OBTAINED, lw=0.8, label="obtained")
            ax.set_title(symbol(entry["name"]))
            legend(ax)
        else:
            values = entry["values" if kind == "load" else "error"]
            unit, size = unit_for(entry["unit"], values)
            ax.axhline(0, color=LIMIT, lw=0.5)
            line(ax, data["t"], values / size, COLOURS[kind], lw=0.8)
            ax.set_title(symbol(entry["name"]) + WORDS[kind])
            if not completed and (limits := reach(values / size)):
                ax.set_ylim(*limits)
        if kind in ("error", "blind"):
            _note(
                ax,
                f"rms {tables.quantity(entry['rms'], entry['unit'], 3)}, largest "
                f"{tables.quantity(entry['largest'], entry['unit'], 3)}"
                + (f", from {data['settle']:g} s on" if data["settle"] else ""),
            )
        unit_label(ax, unit)
        ax.locator_params(axis="y", nbins=4)
    return time_axis(fig, axes)


def _rows(entry, blind):
    found = [("followed", entry), ("error", entry)]
    return found if blind is None else [*found, ("blind", {**entry, **blind})]


def _note(ax, text):
    remark(ax, text, size=7.5, color="#444444")


def limits(entries: Sequence[Mapping]):
    """Everything that has a limit, the limit, and bands where it was reached."""
    if not entries:
        return None
    chosen = sorted(entries, key=lambda e: -e["share"])[:MOST]
    chosen = [e for e in entries if any(e is c for c in chosen)]
    fig, axes = panels(len(chosen), 1, 0.95 if len(chosen) < 5 else 0.75, gap=0.34)
    for ax, entry in zip(axes[:, 0], chosen):
        _limited(ax, entry)
    return time_axis(fig, axes)


def _limited(ax, entry):
    value = entry["value"]
    low = entry["low"]
    high = entry["high"]
    ends = [v for v in (low, high) if np.isfinite(v)]
    seen = np.abs(value[np.isfinite(value)]).max(initial=0.0)
    near = seen > NARROW * min(abs(v) for v in ends)
    far = beyond(seen, ends)
    unit, size = unit_for(entry["unit"], np.array(ends if near else []), *([] if far else [value]))
    line(ax, entry["t"], value / size, BLUE, lw=0.8)
    t, at = _stretches(entry["t"], entry["active"])
    ax.fill_between(
        t,
        0,
        1,
        where=at,
        transform=ax.get_xaxis_transform(),
        color=RED,
        alpha=0.16,
        lw=0,
        step="mid",
    )
    limit = "soft limit" if entry["soft"] else "limit"
    if near:
        for end in ends:
            level(ax, end / size, "")
    what = {"command": "", "slew": ", rate of change", "output": ", output"}[entry["kind"]]
    ax.set_title(symbol(entry["name"]) + what)
    share = (
        f"at its {limit} {tables.percent(entry['share'])} of the time"
        if entry["share"]
        else f"never at its {limit}"
    )
    if far:
        share += f", up to {tables.quantity(seen, entry['unit'], 3)}, beyond this axis"
    elif not near:
        share += f", {tables.range_of(low, high, entry['unit'])}, beyond this axis"
    _note(ax, share)
    unit_label(ax, unit)
    ax.locator_params(axis="y", nbins=4)
    ax.margins(y=0.12)
    if far:
        around(ax, [end / size for end in ends])


def _stretches(t, active):
    """(t, active) in at most BUCKETS stretches of time, none of them lost."""
    size = max(1, len(t) // BUCKETS)
    n = -(-len(t) // size)
    padded = np.zeros(n * size, bool)
    padded[: len(t)] = active
    starts = np.append(t[::size], t[-1])
    at = np.append(padded.reshape(n, size).any(axis=1), padded[-size:].any())
    return np.repeat(starts, 2)[1:-1], np.repeat(at[:-1], 2)


def solver(data: Mapping):
    """Iterations and active limits of every sample; the instants that were not solved to optimality, by what was done."""
    iterations, active, slack = (
        np.asarray(data[k], float) for k in ("iterations", "active", "slack")
    )
    busy = [("iterations", iterations), ("active limits", active)] + (
        [("largest excess over a soft limit", slack)] if np.nanmax(slack, initial=0.0) > 0 else []
    )
    busy = [
        (name, values)
        for name, values in busy
        if name != "active limits" or np.nanmax(values, initial=0.0) > 0
    ]
    events = data["events"]
    if not events and np.nanmax(iterations, initial=0.0) <= 1:
        return None  # a sentence says it
    fig, axes = panels(len(busy) + bool(events), 1, 0.8, gap=0.34)
    for ax, (name, values) in zip(axes[:, 0], busy):
        line(ax, data["t"], values, BLUE, lw=0.8, drawstyle="steps-post")
        ax.set_title(name)
        ax.set_ylim(bottom=0)
        ax.locator_params(axis="y", nbins=4, integer=name != "largest excess over a soft limit")
    if events:
        _timeline(axes[-1, 0], data["t"], events)
    return time_axis(fig, axes)


def _timeline(ax, t, events):
    """A row for each thing that happened, a mark at each instant."""
    rows = list(events)[:5]
    for i, name in enumerate(rows):
        base = len(rows) - 1 - i
        ax.axhline(base, color="#D0D0D0", lw=0.5)
        ax.vlines(
            np.asarray(events[name]),
            base - 0.32,
            base + 0.32,
            color=CYCLE[(3 + i) % len(CYCLE)],
            lw=0.9,
        )
    ax.set_yticks(range(len(rows)), [named(n, 22) for n in rows[::-1]])
    ax.tick_params(axis="y", length=0, labelsize=7)
    ax.set(ylim=(-0.6, len(rows) - 0.4), xlim=(t[0], t[-1]))
    ax.set_title("not solved to optimality")
    ax.grid(False, axis="y")
