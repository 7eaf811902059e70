"""Figures of valve circuits: the map Γ with its sets and valve states, the point of a run moving on it, valves over time."""

from __future__ import annotations

import numpy as np

from reports import force_map, metering, valve_words
from reports.axes import level
from reports.figures.bands import _length, _rows, draw_map, legend
from reports.segments import COLOURS, colour, hatch, label
from reports.style import BLUE, GREY, INK, figure, line, named, panels
from workbench.run.log import Log

SECTIONS, PHASES, MAPS = 3, 4, 5  # drawn: rows, columns, maps in one where the command moves
SMALL = 0.2  # share of the whole range of forces: a run with less is drawn larger

__all__ = ["COLOURS", "draw_map", "label", "legend", "operating_points", "phases", "valve_states"]


def phases(log: Log, plant) -> list[tuple[int, int]]:
    """Stretches (from, to) of the log with commands that stay, at most PHASES, the longest; else equal stretches of time."""
    run = metering.course(log, plant)
    n = len(log.time)
    u = np.hstack([run.u_c, run.u_a])
    cuts = np.flatnonzero(np.abs(np.diff(u, axis=0)).max(1) > 0) + 1
    edges = np.linspace(0, n, PHASES + 1).astype(int) if len(cuts) > 24 else np.array([0, *cuts, n])
    found = [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:]) if b - a > 1]
    longest = sorted(found, key=lambda part: log.time[part[0]] - log.time[part[1] - 1])[:PHASES]
    return sorted(longest)


def operating_points(log: Log, plant):
    """The point (v, f) of each cylinder moving on the map of the command it was under, stretch by stretch."""
    run = metering.course(log, plant)
    parts = phases(log, plant) if run is not None else []
    if not parts:
        return None
    has = valve_words.behind(plant)
    shown = list(range(min(len(has.names), SECTIONS)))
    fig, axes = panels(
        len(shown),
        len(parts),
        2.0 if len(shown) < 3 else 1.55,
        sharex=False,
        left=0.58 if len(parts) < 3 else 0.42,
        gap=0.62,
    )
    names = [name for row, j in zip(axes, shown) for name in _row(row, log, plant, run, j, parts)]
    _room_below(fig, axes[0, 0].get_gridspec(), 0.155 * _rows(names) + 0.06)
    legend(fig, names, loc="lower left", bbox_to_anchor=(0.05, 0.0))
    return fig


def _room_below(fig, grid, inches):
    width, height = fig.get_size_inches()
    shrunk = height / (height + inches)
    fig.set_size_inches(width, height + inches)
    grid.update(bottom=1 - (1 - grid.bottom) * shrunk, top=1 - (1 - grid.top) * shrunk)
    for ax in fig.axes:
        ax.set_position(ax.get_subplotspec().get_position(fig))


def _row(axes, log, plant, run, j, parts) -> list[str]:
    """The maps of one cylinder; names of their segments."""
    has = valve_words.behind(plant)
    section = has.circuit.sections[j]
    names = []
    reach = max(
        1.3 * float(np.abs(run.v[:, j]).max()),
        0.02 * has.circuit.pump.Q / min(section.A_h, section.A_r),
    )
    if len(has.names) == 1:  # as far as the pump alone can drive it
        reach = max(reach, 0.35 * has.circuit.pump.Q / min(section.A_h, section.A_r))
    for ax, part in zip(axes, parts):
        names += _moving(ax, log, plant, run, j, part, reach, 0.07 * len(parts))
        ax.set(
            ylim=_forces(section, run.f[:, j]),
            xlabel="velocity, rad/s" if valve_words.turns(section) else "velocity, m/s",
        )
        ax.locator_params(nbins=4)
        ax.tick_params(labelleft=ax is axes[0])
    what, unit = ("torque", "kN m") if valve_words.turns(section) else ("force", "kN")
    axes[0].set_ylabel(
        named(f"{what} of {has.titles[j]}, {unit}" if has.titles[j] else f"{what}, {unit}", 40)
    )
    return names


def _forces(section, f) -> tuple[float, float]:
    """Range of the force axis, kN: from relief to relief, or around the run's forces where they are small beside that."""
    low = -1e-3 * section.A_r * section.P_rM
    high = 1e-3 * section.A_h * section.P_hM
    span = 1e-3 * float(np.ptp(f))
    if span < SMALL * (high - low):
        span = max(span, 0.02 * (high - low))
        low = max(1e-3 * f.min() - 1.5 * span, low)
        high = min(1e-3 * f.max() + 1.5 * span, high)
    return low - 0.05 * (high - low), high + 0.14 * (high - low)


def _moving(ax, log, plant, run, j, part, reach, least) -> list[str]:
    from matplotlib import colormaps

    a, b = part
    u_c = run.u_c[a:b, j]
    v = run.v[a:b, j]
    f = 1e-3 * run.f[a:b, j]
    moves = np.ptp(u_c) > 0 or np.ptp(run.u_a[a:b, j]) > 0
    at = int(np.abs(u_c).argmax()) if moves else b - a - 1
    found = force_map.seen_map(
        plant, j, u_c[at], run.P[a + at], -reach, reach, 121, run.u_a[a + at, j]
    )
    draw_map(ax, found, least)
    for k in np.linspace(0, b - a - 1, MAPS).astype(int) if moves else ():
        w, low, high = force_map.curve(
            *force_map.seen(plant, j, u_c[k], run.P[a + k], run.u_a[a + k, j])[:3], -reach, reach
        )
        shade = colormaps["viridis"](k / (b - a))
        ax.plot(
            np.repeat(w, 2), 1e-3 * np.stack([high, low], 1).ravel(), color=shade, lw=0.6, alpha=0.8
        )
    shown = _spread(v / reach, f / max(np.ptp(f), 1e-9))
    ax.plot(v[shown], f[shown], color=BLUE, lw=0.5, alpha=0.6)
    ax.scatter(v[shown], f[shown], c=log.time[a + shown], cmap="viridis", s=5, lw=0, zorder=3)
    ax.plot(v[at], f[at], "o", ms=5, mfc="white", mec=BLUE, zorder=4)
    until = log.time[min(b, len(log.time) - 1)]
    ax.set_title(f"{log.time[a]:.3g}–{until:.3g} s, $u_{{c}}$ = {u_c[at]:.2g}".replace("-", "−"))
    return [name for _, _, name in found.bands]


def _spread(x, y, count: int = 50) -> np.ndarray:
    """Indices of a path for drawing, evenly in time and evenly along it, so that what is quick is seen too."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    along = np.searchsorted(way, np.linspace(0.0, way[-1], count))
    return np.unique(
        np.minimum([*np.linspace(0, len(x) - 1, count).astype(int), *along, len(x) - 1], len(x) - 1)
    )


# ---- over time ----------------------------------------------------------------------------------------------------------
def valve_states(log: Log, plant):
    """Commands, the pump's pressure, and below them which valve is open when and which segment of Γ that is."""
    run = metering.course(log, plant)
    if run is None:
        return None
    found = metering.states(log, plant)
    has = valve_words.behind(plant)
    open_ = [valve for valve in found.open if found.open[valve].any()]
    names = [name for n in has.names for name in found.rows[n]]
    shown = sorted(dict.fromkeys(names), key=names.count, reverse=True)
    below = 0.155 * _rows(shown) + 0.5
    bars = 0.19 * (len(open_) + len(has.names)) + 0.05
    height = bars + below + 1.85
    fig = figure(height)
    axes = fig.subplots(
        3,
        1,
        sharex=True,
        gridspec_kw={
            "height_ratios": (0.7, 0.7, bars),
            "left": 0.215,
            "right": 0.985,
            "top": 1 - 0.22 / height,
            "bottom": below / height,
            "hspace": 0.24 / ((1.4 + bars) / 3),
        },
    )
    _commands(axes[0], log, run, has)
    _pump(axes[1], log, run, has)
    rows = [named(valve_words.words(plant, valve), 48) for valve in open_]
    rows += [named(valve_words.of("segment", title), 40) for title in has.titles]
    for y, valve in enumerate(open_):
        _bars(axes[2], found, found.open[valve], y)
    for y, name in enumerate(has.names, len(open_)):
        _named_bars(axes[2], found, found.rows[name], y)
    axes[2].set_yticks(range(len(rows)), rows)
    axes[2].set(ylim=(len(rows) - 0.5, -0.5), xlim=(log.time[0], log.time[-1]), xlabel="time, s")
    axes[2].tick_params(axis="y", length=0)
    axes[2].grid(False, axis="y")
    legend(fig, shown, loc="lower left", bbox_to_anchor=(0.05, 0.0))
    return fig


def _commands(ax, log, run, has):
    for u_c, title in zip(run.u_c.T, has.titles):
        ax.plot(log.time, u_c, lw=1.0, label=named(title, 20), drawstyle="steps-post")
    most = float(np.abs(run.u_c).max())
    ax.set(ylabel="$u_{c}$")
    if most > 0.4:
        ax.set(ylim=(-1.08, 1.08), yticks=(-1, 0, 1))
    ax.locator_params(axis="y", nbins=4)
    if len(has.titles) > 1:
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(has.titles))


def _pump(ax, log, run, has):
    P_M = 1e-5 * has.circuit.pump.P_M
    line(ax, log.time, 1e-5 * run.P, INK)
    level(ax, P_M, "pump’s relief", GREY)
    ax.set(ylabel="$P$, bar", ylim=(0.0, 1.12 * max(P_M, 1e-5 * float(run.P.max()))))
    ax.locator_params(axis="y", nbins=4)


def _stretches(values):
    """(from, to, value) of equal neighbours."""
    starts = [i for i in range(len(values)) if i == 0 or values[i] != values[i - 1]]
    return zip(starts, [*starts[1:], len(values)], [values[i] for i in starts])


def _span(found, a, b):
    return found.t[a], (
        found.t[b] if b < len(found.t) else found.t[-1] + found.lasts[-1]
    ) - found.t[a]


def _bars(ax, found, is_open, y):
    spans = [_span(found, a, b) for a, b, value in _stretches(list(is_open)) if value]
    ax.broken_barh(spans, (y - 0.36, 0.72), color=BLUE, lw=0.4)


def _named_bars(ax, found, rows, y):
    total = found.t[-1] - found.t[0]
    for a, b, name in _stretches(rows):
        start, width = _span(found, a, b)
        ax.broken_barh([(start, width)], (y - 0.42, 0.84), fc=colour(name), alpha=0.45, lw=0)
        if hatch(name):
            ax.broken_barh(
                [(start, width)], (y - 0.42, 0.84), fc="none", ec="#B0B0B0", hatch=hatch(name), lw=0
            )
        if width > 0.02 * total * max(2, _length(name)):
            ax.text(start + 0.5 * width, y, label(name), ha="center", va="center", fontsize=6.5)
