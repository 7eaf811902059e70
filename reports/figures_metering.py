"""Figures of valve circuits: the map Γ with its sets and valve states, the point of a run moving on it, valves over time."""

from __future__ import annotations

import numpy as np

from workbench.log import Log

from . import metering
from .style import BLUE, FAINT, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY, YELLOW, figure, named, panels

ARMS, PHASES = 2, 4  # drawn
COLOURS = {"-F_rM": PURPLE, "F_hM": PURPLE, "+3": SKY, "-3": SKY, "+2a": ORANGE, "-2a": ORANGE, "+2b": RED, "-2b": RED,
           "+1a": GREEN, "-1a": GREEN, "+1b": YELLOW, "-1b": YELLOW, "+0a": BLUE, "-0a": BLUE, "+0b": GREY, "-0b": GREY,
           "0": "#FFFFFF", metering.UNNAMED: FAINT}


def label(row: str) -> str:
    """A row of Table 1 as it is written: "+1a" → "$Γ_{+1a}$", "-F_rM" → "$−F_{rM}$"."""
    if row == metering.UNNAMED or row == "0":
        return row
    return "$" + row.replace("-", "−").replace("F_rM", "F_{rM}").replace("F_hM", "F_{hM}") + "$" if "F" in row else (
        "$Γ_{" + row.replace("-", "−") + "}$")


def draw_map(ax, found: metering.Map, least: float = 0.05) -> None:
    """Γ on axes of m/s and kN; segments shaded, named where wider than a share `least` of the axis, sets thick."""
    span = found.v[-1] - found.v[0]
    for low, high, row in found.bands:
        ax.axvspan(low, high, color=COLOURS[row], alpha=0.16, lw=0)
        if high - low > least * span:
            ax.annotate(label(row), (0.5 * (low + high), 1.0), (0, -2), ("data", "axes fraction"), textcoords="offset points",
                        ha="center", va="top", fontsize=7)
    ax.plot(found.v, 1e-3 * found.f, color=INK, lw=1.1)
    for v, low, high in found.sets:
        ax.plot([v, v], [1e-3 * low, 1e-3 * high], color=ORANGE, lw=3.2, solid_capstyle="butt")
    ax.set_xlim(found.v[0], found.v[-1])


def phases(log: Log, plant) -> list[tuple[int, int]]:
    """Stretches (from, to) of the log with commands that stay, at most PHASES, the longest; else equal stretches of time."""
    u = np.stack([metering.column(log, f"u_c_{n}") for n in plant.names], 1)
    cuts = np.flatnonzero(np.abs(np.diff(u, axis=0)).max(1) > 0) + 1
    n = len(log.time)
    if len(cuts) > 24:
        edges = np.linspace(0, n, PHASES + 1).astype(int)
    else:
        edges = np.array([0, *cuts, n])
    found = [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:]) if b - a > 1]
    longest = sorted(found, key=lambda part: log.time[part[0]] - log.time[part[1] - 1])[:PHASES]
    return sorted(longest)


def operating_points(log: Log, plant):
    """The point (v, f) of each arm moving on the map of the command it was under, stretch by stretch."""
    if not metering.metered(log, plant):
        return None
    parts, arms = phases(log, plant), list(enumerate(plant.names))[:ARMS]
    if not parts:
        return None
    fig, axes = panels(len(arms), len(parts), 2.0, sharex=False, left=0.58 if len(parts) < 3 else 0.42, gap=0.6)
    for row, (j, name) in zip(axes, arms):
        section, v = plant.circuit.sections[j], log.array(f"v_{name}")
        reach = max(1.3 * float(np.abs(v[np.isfinite(v)]).max()), 0.35 * plant.pump.Q / min(section.A_h, section.A_r))
        low, high = -1e-3 * section.A_r * section.P_rM, 1e-3 * section.A_h * section.P_hM
        for ax, part in zip(row, parts):
            _moving(ax, log, plant, j, part, reach, 0.07 * len(parts))
            ax.set(ylim=(low - 0.05 * (high - low), high + 0.14 * (high - low)), xlabel="velocity, m/s")
            ax.locator_params(nbins=4)
            ax.tick_params(labelleft=ax is row[0])
        row[0].set_ylabel(named(f"force of arm {name}, kN" if len(plant.arms) > 1 else "force, kN", 40))
    return fig


def _moving(ax, log, plant, j, part, reach, least):
    a, b = part
    name = plant.names[j]
    u_c, P = metering.column(log, f"u_c_{name}")[b - 1], log.array("P")[b - 1]
    draw_map(ax, metering.seen_map(plant, j, u_c, P, -reach, reach), least)
    v, f = log.array(f"v_{name}")[a:b], 1e-3 * log.array(f"f_{name}")[a:b]
    shown = a + _spread(v / reach, f / np.ptp(ax.get_ylim()))
    v, f = v[shown - a], f[shown - a]
    ax.plot(v, f, color=BLUE, lw=0.5, alpha=0.6)
    ax.scatter(v, f, c=log.time[shown], cmap="viridis", s=5, lw=0, zorder=3)
    ax.plot(v[-1], f[-1], "o", ms=5, mfc="white", mec=BLUE, zorder=4)
    until = log.time[min(b, len(log.time) - 1)]
    ax.set_title(f"{log.time[a]:.3g}–{until:.3g} s, $u_{{c}}$ = {u_c:.2g}".replace("-", "−"))


def _spread(x, y, count: int = 100) -> np.ndarray:
    """Indices of a path for drawing, evenly in time and evenly along it, so that what is quick is seen too."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    along = np.searchsorted(way, np.linspace(0.0, way[-1], count))
    return np.unique(np.minimum([*np.linspace(0, len(x) - 1, count).astype(int), *along, len(x) - 1], len(x) - 1))


def valve_states(log: Log, plant):
    """Commands, and below them which valve is open when and which row of Table 1 that is."""
    if not metering.metered(log, plant):
        return None
    found = metering.states(log, plant)
    rows = [valve for valve in found.open if found.open[valve].any()]
    height = 0.19 * (len(rows) + len(plant.arms)) + 1.55
    fig = figure(height)
    axes = fig.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (0.7, 0.19 * (len(rows) + len(plant.arms)) + 0.05),
        "left": 0.215, "right": 0.985, "top": 1 - 0.22 / height, "bottom": 0.42 / height, "hspace": 0.12})
    for name in plant.names:
        axes[0].plot(log.time, metering.column(log, f"u_c_{name}"), lw=1.0, label=named(f"arm {name}", 20), drawstyle="steps-post")
    axes[0].set(ylabel="$u_{c}$", ylim=(-1.08, 1.08), yticks=(-1, 0, 1))
    if len(plant.arms) > 1:
        axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(plant.arms))
    names = [(metering.words(plant, valve), lambda ax, y, v=valve: _bars(ax, found, found.open[v], y)) for valve in rows]
    names += [(named(f"row of Table 1, arm {n}" if len(plant.arms) > 1 else "row of Table 1", 40),
               lambda ax, y, n=n: _named_bars(ax, found, found.rows[n], y)) for n in plant.names]
    for y, (_, draw) in enumerate(names):
        draw(axes[1], y)
    axes[1].set_yticks(range(len(names)), [name for name, _ in names])
    axes[1].set(ylim=(len(names) - 0.5, -0.5), xlim=(log.time[0], log.time[-1]), xlabel="time, s")
    axes[1].tick_params(axis="y", length=0)
    axes[1].grid(False, axis="y")
    return fig


def _stretches(values):
    """(from, to, value) of equal neighbours."""
    starts = [i for i in range(len(values)) if i == 0 or values[i] != values[i - 1]]
    return zip(starts, [*starts[1:], len(values)], [values[i] for i in starts])


def _span(found, a, b):
    return found.t[a], (found.t[b] if b < len(found.t) else found.t[-1] + found.lasts[-1]) - found.t[a]


def _bars(ax, found, is_open, y):
    spans = [_span(found, a, b) for a, b, value in _stretches(list(is_open)) if value]
    ax.broken_barh(spans, (y - 0.36, 0.72), color=BLUE, lw=0.4)


def _named_bars(ax, found, rows, y):
    total = found.t[-1] - found.t[0]
    for a, b, row in _stretches(rows):
        start, width = _span(found, a, b)
        ax.broken_barh([(start, width)], (y - 0.42, 0.84), color=COLOURS[row], alpha=0.45, lw=0)
        if width > 0.045 * total:
            ax.text(start + 0.5 * width, y, label(row), ha="center", va="center", fontsize=6.5)
