"""Figure of other starts: how far each disturbed run is from the undisturbed one, over time, signal by signal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reports.axes import decades, unit_label
from reports.signals import unit_for
from reports.style import BLUE, LIMIT, ORANGE, RED, panels

MOST = 4  # signals drawn: the tool or what follows first, then what came back last
LOWEST = 1e-4  # of a signal's largest distance: where its axis ends
COLOURS = {"back": BLUE, "returning": ORANGE, "staying": ORANGE, "growing": RED}


def returns(entries: Sequence[dict]):
    """One panel a signal on a logarithmic axis, one curve a start; dashed: the tolerance. None where there is nothing to draw.

    entries: {"signal", "unit", "tolerance", "curves": [{"t" (N,), "distance" (N,), "word"}]}
    """
    shown = [entry for entry in entries if entry["curves"]][:MOST]
    if not shown:
        return None
    fig, axes = panels(len(shown), 1, 0.85, left=0.66)
    for ax, entry in zip(axes[:, 0], shown):
        _panel(ax, entry)
    axes[-1, 0].set_xlabel("time, s")
    return fig


def _panel(ax, entry: dict) -> None:
    largest = max(float(np.max(curve["distance"])) for curve in entry["curves"])
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
