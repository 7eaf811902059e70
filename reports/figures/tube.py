"""Figure of a tube: half-width of every state over time beside the hull of runs from its starts, and what every sample adds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports.axes import decades, unit_label
from reports.signals import unit_for
from reports.style import BLUE, GREY, RED, legend, panels

# Panels of states and of what is told of the samples; states come in the order of the plant.
MOST = 6
TOLD = {"tool_error": "m", "v": "J"}  # units of what is told
DECADES = 5.0  # that a panel shows at most


def widths(found: Mapping, units: Mapping[str, str]):
    """A panel a state on a logarithmic axis, blue the tube, grey the hull of runs; below, bounds of what is told of the samples
    (blue), and what every sample adds (red).

    found: {t (N,), width {state: (N,)}, hull {state: (N,)}, told {name: (N,)}, grown (N,)}, see `tube.beside`
    """
    told = {name: values for name, values in found["told"].items() if np.isfinite(values).any()}
    names = list(found["width"])[: MOST - len(told)]
    fig, axes = panels(len(names) + len(told) + 1, 1, 0.85, left=0.66)
    t = found["t"]
    for ax, name in zip(axes[:, 0], names):
        tube = found["width"][name]
        hull = found["hull"][name]
        unit, size = unit_for(units.get(name, "1"), tube)
        ax.plot(t, tube / size, color=BLUE, lw=1.0, label="tube")
        if found["runs"]:
            ax.plot(t, _positive(hull) / size, color=GREY, lw=0.8, label=f"{found['runs']} runs")
        ax.set_title(name)
        unit_label(ax, unit)
        _scale(ax, np.concatenate([tube, hull]) / size)
    for ax, (name, values) in zip(axes[len(names) :, 0], told.items()):
        unit, size = unit_for(TOLD[name], values)
        ax.plot(t, _positive(values) / size, color=BLUE, lw=1.0)
        ax.set_title(f"{name.replace('_', ' ')}, at most")
        unit_label(ax, unit)
        _scale(ax, values / size)
    last = axes[-1, 0]
    last.plot(t, _positive(found["grown"]), color=RED, lw=0.8)
    last.set_title("what a sample adds, share of the tube's size")
    _scale(last, found["grown"])
    last.set_xlabel("time, s")
    legend(axes[0, 0])
    return fig


def _positive(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.nan)


def _scale(ax, values: np.ndarray) -> None:
    """From the least value that is drawn to the largest, a few decades at most."""
    ax.set_yscale("log")
    ax.margins(x=0.01)
    shown = values[np.isfinite(values) & (values > 0)]
    if not shown.size:
        return
    top = 2 * shown.max()
    ax.set_ylim(max(shown.min() / 2, top * 10**-DECADES), top)
    decades(ax, 4, low=False)
