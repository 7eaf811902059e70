"""The picture of what was traded: rms error against the delay or sample time that is borne, one mark a choice of gains."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from controllers.gain_search.shown import gain_rows, headed

if TYPE_CHECKING:
    from controllers.gain_search.point import Traded

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#8A8A8A"
SIZE = 6.7, 3.0  # inches


def figure(found: Traded) -> Any:
    """A Matplotlib figure: choices that were run, those that no other one beats, the start, the chosen one.

    The search runs only the beginning of the scenario; the first and the chosen gains are drawn with their errors over the whole
    scenario.
    """
    from workbench.run.figure import ShownFigure

    fig = ShownFigure(SIZE, layout="constrained")
    ax = fig.subplots()
    every = [p for p in found.tried if math.isfinite(p.error)]
    bearing = [p for p in every if p.bears > 0 and not p.violated]
    scale, unit = _scale(found)
    _marks(ax, bearing, scale, "o", GREY, 14, "run")
    front = frontier([(p.bears, p.error) for p in bearing])
    ax.plot(
        [1e3 * b for b, _ in front],
        [scale * e for _, e in front],
        color=GREY,
        lw=0.8,
        drawstyle="steps-post",
        label="beaten by none",
    )
    _marks(ax, [found.start], scale, "s", BLUE, 46, "before")
    _marks(ax, [found.chosen], scale, "*", ORANGE, 120, "chosen")
    if found.floor:
        ax.axvline(1e3 * found.floor, color=GREY, lw=0.8, ls="--", label="least asked")
    if found.ceiling:
        ax.axhline(scale * found.ceiling, color=GREY, lw=0.8, ls=":", label="most error asked")
    ax.set(xscale="log", yscale="log")
    ax.set(xlabel=f"{found.what} borne, ms", ylabel=f"error, rms, {unit}")
    for axis in (ax.xaxis, ax.yaxis):
        _ticked(axis)
    lost = len(found.tried) - len(bearing)
    fig.legend(
        loc="outside right upper", title=f"{lost} more bear none" if lost else None, frameon=False
    )
    return fig


def _ticked(axis: Any) -> None:
    """Numbers 1, 2, 5, 10, … along an axis of at least an octave."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axis.get_view_interval()
    if high < 4 * low:
        middle = math.sqrt(low * high)
        axis.axes.set(**{f"{axis.axis_name}lim": (middle / 2, 2 * middle)})
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def _scale(found: Traded) -> tuple[float, str]:
    """(factor, unit) in which the errors of the picture are numbers of a handy size."""
    if found.unit != "m":
        return 1.0, found.unit
    return (1e6, "µm") if found.chosen.error < 1e-4 else (1e3, "mm")


def _marks(ax: Any, points: list, scale: float, mark: str, colour: str, size: float, what: str):
    shown = [p for p in points if p.bears > 0 and math.isfinite(p.error)]
    x = [1e3 * p.bears for p in shown]
    y = [scale * p.error for p in shown]
    ax.scatter(x, y, s=size, marker=mark, color=colour, label=what, zorder=3)


def frontier(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The Pareto front of points (borne, error), sorted by what is borne: no other point is better in both."""
    kept: list[tuple[float, float]] = []
    for bears, error in sorted(pairs, key=lambda pair: (-pair[0], pair[1])):
        if not kept or error < kept[-1][1]:
            kept.append((bears, error))
    return kept[::-1]


def as_html(found: Traded) -> str:
    """The table and, where Matplotlib is installed, the picture."""
    rows = [headed(found), *gain_rows(found)]
    cells = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<p>{html.escape(found.asked)}</p><table>{cells}</table>{_picture(found)}"


def _picture(found: Traded) -> str:
    import io

    try:
        fig = figure(found)
    except ImportError:
        return ""
    out = io.StringIO()
    fig.savefig(out, format="svg")
    text = out.getvalue()
    return text[text.index("<svg") :]
