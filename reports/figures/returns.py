"""Figure of other starts: how far each disturbed run is from the undisturbed one, over time, signal by signal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reports.axes import decades, unit_label
from reports.signals import unit_for
from reports.style import BLUE, LIMIT, ORANGE, RED, grid

MOST = 4  # signals drawn: the tool or what follows first, then what came back last
LOWEST = 1e-4  # share of a signal's largest distance: where its axis ends
BEHIND = 1.3  # times the time after which nothing is left to see: where the axis of time ends
COLOURS = {"back": BLUE, "returning": ORANGE, "staying": ORANGE, "growing": RED}


def returns(entries: Sequence[dict]):
    """A panel for each signal, two side by side, on a logarithmic axis, one curve a start; None where there is nothing to draw.

    Dashed: the tolerance. The axis of time ends soon after every curve has left its panel.

    entries: {"signal", "unit", "tolerance", "curves": [{"t" (N,), "distance" (N,), "word"}]}
    """
    shown = [entry for entry in entries if entry["curves"]][:MOST]
    if not shown:
        return None
    fig, axes = grid(len(shown))
    end = max(_gone(curve, entry) for entry in shown for curve in entry["curves"])
    for ax, entry in zip(axes, shown):
        _panel(ax, entry)
        ax.set_xlim(right=end)
    return fig


def _gone(curve: dict, entry: dict) -> float:
    """When a curve leaves the axis for good, and a little more, s: what comes later is not drawn."""
    t = np.asarray(curve["t"], float)
    seen = np.flatnonzero(np.asarray(curve["distance"]) > LOWEST * _largest(entry))
    last = seen[-1] if len(seen) else 0
    return float(min(t[-1], t[0] + BEHIND * (t[last] - t[0]))) if last else float(t[-1])


def _largest(entry: dict) -> float:
    return max(float(np.max(curve["distance"])) for curve in entry["curves"])


def _panel(ax, entry: dict) -> None:
    largest = _largest(entry)
    unit, size = unit_for(entry["unit"], np.array([largest]))
    for curve in entry["curves"]:
        distance = np.asarray(curve["distance"], float) / size
        drawn = np.where(distance > 0, distance, np.nan)
        ax.plot(curve["t"], drawn, color=COLOURS[curve["word"]], lw=0.8)
    if entry["tolerance"] > 0:
        ax.axhline(entry["tolerance"] / size, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    ax.set_yscale("log")
    ax.set_ylim(LOWEST * largest / size, 3 * largest / size)
    ax.set_title(entry["signal"])
    ax.margins(x=0)
    unit_label(ax, unit)
    decades(ax, 4, low=False)
