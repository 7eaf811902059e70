"""Figure of what moves margins: a panel a requirement, a bar a number, the change of the margin where the number grows by 10 %."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reports.signals import unit_for
from reports.style import BLUE, GREY, LIMIT, RED, named, panels
from workbench.verification.sensitivity.check import BARS, strongest

MOST = 4  # requirements drawn
WIDEST = 70  # characters of a requirement over its panel


def bars(found: Mapping):
    """The figure; None where no requirement has a number that moves it.

    found: {"requirements": [{claim, margin, unit, slopes [{name, tenth, error, smooth}]}]}, see `sensitivity.check`
    """
    shown = [row for row in found.get("requirements", ()) if strongest(row)][:MOST]
    if not shown:
        return None
    most = max(len(strongest(row)[:BARS]) for row in shown)
    fig, axes = panels(len(shown), 1, 0.3 + 0.16 * most, left=1.5, sharex=False, gap=0.8)
    for ax, row in zip(axes[:, 0], shown):
        _panel(ax, row)
    return fig


def _panel(ax, row: Mapping) -> None:
    slopes = strongest(row)[:BARS]
    tenths = np.array([s["tenth"] for s in slopes])
    unit, size = unit_for(row["unit"], tenths)
    places = np.arange(len(slopes))
    colours = [(RED if s["tenth"] < 0 else BLUE) if s["smooth"] else GREY for s in slopes]
    errors = np.array([s["error"] for s in slopes])
    ax.barh(places, tenths / size, xerr=errors / size, color=colours, height=0.65, ecolor=LIMIT)
    ax.set_yticks(places, [named(s["name"], 24) for s in slopes])
    ax.invert_yaxis()
    ax.axvline(0.0, color=LIMIT, lw=0.7)
    ax.set_title(named(row["claim"], WIDEST))
    ax.set_xlabel("margin for +10 %" if unit in ("", "1") else f"margin, {unit}, for +10 %")
