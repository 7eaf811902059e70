"""Figure of requirements in time: how much is left of each, the comparison that decides, and when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reports.axes import unit_label
from reports.signals import unit_for
from reports.style import BLUE, GREY, LIMIT, RED, named, panels, thinned

MOST = 6  # sentences drawn
WIDEST = 60  # characters of a sentence over its panel


def requirements(entries: Sequence[dict]):
    """One panel a sentence; None where there is nothing to draw.

    entries: {"t" (N,), "low" (N,), "up" (N,), "curve" (N,) or None, "unit", "at", "margin", "holds", "name", "sentence"}
    """
    shown = [entry for entry in entries if entry["curve"] is not None][:MOST]
    if not shown:
        return None
    fig, axes = panels(len(shown), 1, 0.85, left=0.66)
    for ax, entry in zip(axes[:, 0], shown):
        _panel(ax, entry)
    axes[-1, 0].set_xlabel("time, s")
    return fig


def _panel(ax, entry: dict) -> None:
    unit, size = unit_for(entry["unit"], np.asarray(entry["curve"]))
    curve = np.asarray(entry["curve"]) / size
    _known(ax, entry["t"], entry["low"] / size, lw=1.6)
    if entry["up"] is not entry["low"]:
        _known(ax, entry["t"], entry["up"] / size, lw=0.8, ls=(0, (1, 2)))
    ax.plot(*thinned(entry["t"], curve), color=BLUE, lw=0.8)
    ax.axhline(0.0, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    k = int(np.searchsorted(entry["t"], entry["at"]))
    colour = RED if entry["holds"] is False else BLUE
    ax.plot([entry["at"]], [curve[k]], "o", color=colour, ms=4)
    title = f"{entry['name']}: {entry['sentence']}" if entry["name"] else entry["sentence"]
    ax.set_title(named(title, WIDEST))
    ax.margins(x=0)
    unit_label(ax, unit)


def _known(ax, t: np.ndarray, bound: np.ndarray, **style) -> None:
    """A bound of the robustness, where it is one."""
    finite = np.isfinite(bound)
    ax.plot(*thinned(t[finite], bound[finite]), color=GREY, **style)
