"""Figures of a search for counter-examples: where the room is thin, and its closest run beside the nominal one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports.axes import unit_label
from reports.signals import unit_for
from reports.style import BLUE, GREY, INK, LIMIT, RED, named, panels, thinned

FEWEST = 8  # runs that contours are drawn through
MOST = 400  # runs that they are drawn through
GRID = 40  # points a side of the contours
LEVELS = (0.25, 0.5, 0.75)  # of the room, beside its edge at 0
SMOOTH = 0.1  # of the contours: 0 goes through every run


def scatter(found: Mapping):
    """Runs over the two directions that matter most, coloured by the room they left, with contours of it; None without runs.

    found: as `workbench.verification.search.pictures.pictures` gives it
    """
    scores = np.asarray(found.get("scores", ()), float)
    made = np.isfinite(scores)
    if not made.any():
        return None
    fig, axes = panels(1, 1, 2.6, left=0.7, width=5.2)
    ax = axes[0, 0]
    pair = _pair(found)
    sides = [_side(found, i) for i in pair]
    x, y = (values for values, _ in sides) if len(pair) > 1 else (sides[0][0], scores)
    if len(pair) > 1:
        _contours(ax, found, pair, x[made], y[made], scores[made])
    shown = ax.scatter(
        x[made], y[made], c=np.clip(scores[made], 0.0, 1.0), cmap="cividis", s=11, vmin=0, vmax=1
    )
    _special(ax, found, pair, x, y, scores)
    ax.set_xlim(*_ends(found, pair[0], sides[0][1]))
    if len(pair) > 1:
        ax.set_ylim(*_ends(found, pair[1], sides[1][1]))
    ax.set_xlabel(_label(found, pair[0], sides[0][1]))
    ax.set_ylabel(
        _label(found, pair[1], sides[1][1]) if len(pair) > 1 else "share of the room left"
    )
    if len(pair) == 1:
        ax.axhline(0.0, color=RED, lw=0.9)
    fig.colorbar(shown, ax=ax, label="share of the nominal room left", pad=0.02)
    return fig


def _pair(found: Mapping) -> list[int]:
    """The two directions that matter most, or the only one."""
    return np.argsort(-np.asarray(found["matter"]), kind="stable")[:2].tolist()


def _side(found: Mapping, i: int) -> tuple[np.ndarray, tuple[str, float]]:
    """(values of a direction in the unit in which they are shown, (that unit, its size))."""
    d = found["directions"][i]
    values = np.asarray(found["values"], float)[:, i]
    unit, size = unit_for(d["unit"], np.array([d["low"], d["high"]]))
    return values / size, (unit, size)


def _ends(found: Mapping, i: int, shown: tuple[str, float]) -> tuple[float, float]:
    """The range of a direction with some room, in the unit in which it is shown."""
    d = found["directions"][i]
    room = 0.04 * (d["high"] - d["low"])
    return (d["low"] - room) / shown[1], (d["high"] + room) / shown[1]


def _label(found: Mapping, i: int, shown: tuple[str, float]) -> str:
    name = named(found["directions"][i]["name"], 40)
    return name if shown[0] in ("", "1") else f"{name}, {shown[0]}"


def _contours(ax, found: Mapping, pair, x, y, scores) -> None:
    """Lines of equal room, smoothed between the runs; none where there are few, or all on one line."""
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    from scipy.interpolate import RBFInterpolator

    keep = np.linspace(0, len(x) - 1, min(len(x), MOST)).astype(int)
    places = np.column_stack([x, y])[keep]
    low = places.min(axis=0)
    span = np.ptp(places, axis=0)
    try:
        smooth = RBFInterpolator((places - low) / span, scores[keep], smoothing=SMOOTH)
    except np.linalg.LinAlgError:
        return
    u = np.linspace(0.0, 1.0, GRID)
    mesh = np.stack(np.meshgrid(u, u), axis=-1).reshape(-1, 2)
    room = smooth(mesh).reshape(GRID, GRID)
    across, up = (low[k] + span[k] * u for k in (0, 1))
    lines = ax.contour(across, up, room, levels=LEVELS, colors=GREY, linewidths=0.6)
    ax.clabel(lines, fontsize=6, fmt=lambda level: f"{100 * level:.0f} %")
    ax.contour(across, up, room, levels=[0.0], colors=RED, linewidths=0.9)


def _special(ax, found: Mapping, pair, x, y, scores) -> None:
    """The nominal values as a cross, runs that violate as crosses in red, the closest run as a ring."""
    bad = np.isfinite(scores) & (scores < 0)
    ax.plot(x[bad], y[bad], "x", color=RED, ms=5, mew=1.0)
    sizes = [_side(found, i)[1][1] for i in pair]
    nominal = [found["directions"][i]["nominal"] / size for i, size in zip(pair, sizes)]
    closest = [found["closest"]["values"][i] / size for i, size in zip(pair, sizes)]
    if len(pair) == 1:
        nominal.append(1.0)
        closest.append(found["closest"]["score"])
    ax.plot(*nominal, "+", color=INK, ms=9, mew=1.2)
    ax.plot(*closest, "o", mfc="none", mec=RED if found["closest"]["score"] < 0 else BLUE, ms=9)


def beside(found: Mapping):
    """One panel a quantity over time: the nominal run in grey, the closest one in colour; None where there is nothing to draw."""
    curves = found["closest"]["curves"] if found else []
    if not curves:
        return None
    fig, axes = panels(len(curves), 1, 1.0, left=0.7)
    colour = RED if found["closest"]["score"] < 0 else BLUE
    for ax, curve in zip(axes[:, 0], curves):
        _panel(ax, curve, colour)
    axes[-1, 0].set_xlabel("time, s")
    return fig


def _panel(ax, curve: Mapping, colour: str) -> None:
    (t0, y0), (t1, y1) = curve["nominal"], curve["closest"]
    finite = [np.asarray(y, float)[np.isfinite(y)] for y in (y0, y1)]
    unit, size = unit_for(curve["unit"], np.concatenate(finite))
    ax.plot(*thinned(t0, np.asarray(y0) / size), color=GREY, lw=0.8)
    ax.plot(*thinned(t1, np.asarray(y1) / size), color=colour, lw=0.8)
    for edge in curve["edges"]:
        ax.axhline(edge / size, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    ax.set_title(named(curve["name"], 60))
    ax.margins(x=0)
    unit_label(ax, unit)
