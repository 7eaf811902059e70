"""Plots of the panels as data of a page: thinned for drawing so that no peak is lost, in 32-bit floats."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from reports.page.embedded import packed
from reports.page.panels import PANELS
from reports.page.panels.panel import Curve, Plot
from reports.style import clean, extremes

BUCKETS = 500  # stretches of time of which the smallest and the largest value are drawn
RAN_AWAY = 1e100  # beyond it a run has blown up, and nothing is drawn
TITLE = 90  # characters of a name that are shown


def panels(content, instants: Iterable[float]) -> list[dict]:
    """Every panel that has something to draw: {name, plots}."""
    if content.log is None or len(content.log) < 2:
        return []
    named = list(instants)
    found = []
    for panel in PANELS:
        drawn = [described(plot, named) for plot in panel.plots(content)]
        if drawn:
            found.append({"name": panel.name, "plots": drawn})
    return found


def described(plot: Plot, instants: list[float]) -> dict:
    """A plot as plain data; curves are given at the instants that are kept, of which `rows` says how many there were."""
    head = {"title": clean(plot.title, TITLE), "unit": plot.unit, "words": clean(plot.words, 300)}
    if plot.rows is not None:
        rows = {clean(name, TITLE): list(map(list, row)) for name, row in plot.rows.items()}
        return head | {"rows": rows}
    t = np.asarray(plot.t, float)
    keep = kept(t, plot.curves, instants)
    return head | {
        "t": packed(t[keep]),
        "curves": [_curve(curve, keep, plot.log) for curve in plot.curves],
        "levels": [[level.value, clean(level.name, 40)] for level in plot.levels],
        "log": plot.log,
        "reach": None if plot.reach is None else list(plot.reach),
        "of": len(t),
    }


def kept(t: np.ndarray, curves: Iterable[Curve], instants: list[float]) -> np.ndarray:
    """Indices that are drawn: where any of the curves has an extreme of its stretch, and at every instant that is named."""
    near = [int(np.abs(t - at).argmin()) for at in instants]
    own = [extremes(curve.y, BUCKETS) for curve in curves]
    return np.unique(np.concatenate([np.array(near, int), *own]))


def _curve(curve: Curve, keep: np.ndarray, log: bool) -> dict:
    y = np.asarray(curve.y, float)[keep]
    with np.errstate(invalid="ignore"):
        shown = np.isfinite(y) & (np.abs(y) < RAN_AWAY) & ((y > 0) | (not log))
    with np.errstate(over="ignore"):
        return {
            "label": clean(curve.label, TITLE),
            "look": curve.look,
            "y": packed(np.where(shown, y, np.nan)),
        }
