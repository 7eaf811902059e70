"""Figure of rest: whether every error stands still once the reference has come to its end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reports.axes import unit_label
from reports.signals import unit_for
from reports.style import BLUE, GREY, LIMIT, ORANGE, panels, symbol, thinned

MOST = 3  # errors drawn: the one that moves most above its floor first


def settled(entries: Sequence[dict]):
    """One panel an error, from the middle of the run to the end of the rest; None where there is nothing to draw.

    Dashed: the rest begins. Grey band: the floor about the middle of the last quarter of the rest (of all, where the run was not
    held). Orange: that quarter, where the error leaves the band.

    entries: {"signal", "unit", "floor", "rest", "t" (N,), "error" (N,)}
    """
    shown = [entry for entry in entries if len(entry["t"]) > 1][:MOST]
    if not shown:
        return None
    fig, axes = panels(len(shown), 1, 0.85, left=0.66)
    for ax, entry in zip(axes[:, 0], shown):
        _panel(ax, entry)
    axes[-1, 0].set_xlabel("time, s")
    return fig


def _panel(ax, entry: dict) -> None:
    t = np.asarray(entry["t"], float)
    unit, size = unit_for(entry["unit"], np.asarray(entry["error"]))
    error = np.asarray(entry["error"], float) / size
    floor = entry["floor"] / size
    late = t >= _judged(entry)
    middle = 0.5 * (error[late].max() + error[late].min())
    ax.fill_between(t, middle - floor, middle + floor, color=GREY, alpha=0.3, lw=0)
    moves = entry["rest"] is not None and np.ptp(error[late]) > 2 * floor
    parts = ((~late, BLUE), (late, ORANGE)) if moves else ((t >= t[0], BLUE),)
    for part, colour in parts:
        ax.plot(*thinned(t[part], error[part]), color=colour, lw=0.8)
    if entry["rest"] is not None:
        ax.axvline(entry["rest"], color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    ax.set_title(symbol(entry["signal"]))
    ax.margins(x=0)
    unit_label(ax, unit)


def _judged(entry: dict) -> float:
    """From when on the error has to stand still, s."""
    if entry["rest"] is None:
        return float(entry["t"][0])
    end = float(entry["t"][-1])
    return end - 0.25 * (end - entry["rest"])
