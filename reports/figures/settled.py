"""Figure of rest: whether every error stands still once the reference has come to its end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reports.axes import unit_label
from reports.signals import unit_for
from reports.style import BLUE, GREY, LIMIT, ORANGE, grid, symbol, thinned

MOST = 4  # errors drawn: the one that moves most above its floor first


def settled(entries: Sequence[dict]):
    """A panel for each error, two side by side, from the middle of the run to the end of the rest; None without errors.

    Dotted: the rest begins. Dashed: the floor about the middle of the last quarter of the rest (of all, where the run was not
    held). Orange: that quarter, where the error leaves the floor.

    entries: {"signal", "unit", "floor", "rest", "t" (N,), "error" (N,)}
    """
    shown = [entry for entry in entries if len(entry["t"]) > 1][:MOST]
    if not shown:
        return None
    fig, axes = grid(len(shown))
    for ax, entry in zip(axes, shown):
        _panel(ax, entry)
    return fig


def _panel(ax, entry: dict) -> None:
    t = np.asarray(entry["t"], float)
    unit, size = unit_for(entry["unit"], np.asarray(entry["error"]))
    error = np.asarray(entry["error"], float) / size
    floor = entry["floor"] / size
    late = t >= _judged(entry)
    middle = 0.5 * (error[late].max() + error[late].min())
    for edge in (middle - floor, middle + floor):
        ax.axhline(edge, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    moves = entry["rest"] is not None and np.ptp(error[late]) > 2 * floor
    parts = ((~late, BLUE), (late, ORANGE)) if moves else ((t >= t[0], BLUE),)
    for part, colour in parts:
        ax.plot(*thinned(t[part], error[part]), color=colour, lw=0.8)
    if entry["rest"] is not None:
        ax.axvline(entry["rest"], color=GREY, lw=0.9, ls=(0, (1, 2)))
    ax.set_title(symbol(entry["signal"]))
    ax.margins(x=0)
    unit_label(ax, unit)


def _judged(entry: dict) -> float:
    """From when on the error has to stand still, s."""
    if entry["rest"] is None:
        return float(entry["t"][0])
    end = float(entry["t"][-1])
    return end - 0.25 * (end - entry["rest"])
