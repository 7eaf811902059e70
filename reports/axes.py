"""Axes of the report's figures: logarithmic ticks as people write them, limits drawn across, time below."""

from __future__ import annotations

import numpy as np

from workbench.contract.units import RAISED

from .style import LIMIT
from .tables import typeset

NOTE = "#666666"  # of words beside what they are about


def whole(axis):
    """Logarithmic ticks at 1, 2, 5 written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def from_zero(ax, values):
    """A horizontal axis of values with zeros: linear up to the least other one, ticks at 0 and at 1, 2, 5 from there."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    other = [v for v in values if v > 0] or [1.0]
    least = min(other)
    most = max(other)
    ax.set_xscale("symlog", linthresh=least, linscale=0.5)
    powers = range(int(np.floor(np.log10(least))), int(np.ceil(np.log10(most))) + 1)
    ticks = [k * 10.0**n for n in powers for k in (1, 2, 5)]
    ax.xaxis.set_major_locator(FixedLocator([0.0, *(t for t in ticks if least <= t <= most)]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def tens(axis):
    """Logarithmic ticks at powers of ten only."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(numticks=9))
    axis.set_major_formatter(FuncFormatter(_power_of_ten))
    axis.set_minor_locator(NullLocator())


def decades(ax, count: int = 4, low: bool = True):
    """At most `count` ticks at powers of ten, written 10ⁿ; of more than eight decades the upper ones only.

    The largest curve is shown whole, but for one that ran away: whose last value is 1e12 times what most of it is below.
    """
    if ax.get_yscale() != "log":
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    bottom, top = ax.get_ylim()
    if low and bottom < top * 1e-8:
        shown = _positive(ax)
        away = [y for y in shown if y[-1] > 1e12 * np.quantile(y, 0.9)]
        # An axis over hundreds of decades has dozens of them for its margin alone.
        top = min(top, 3.0 * max(float(y.max()) for y in shown))
        if away:
            top = 1e6 * max(float(np.quantile(y, 0.9)) for y in shown)
        bottom = max(bottom, 1e-12 * top, 1e-4 * max(float(np.median(y)) for y in shown))
        ax.set_ylim(bottom, top)
    narrow = top / bottom < 50
    ax.yaxis.set_major_locator(
        LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,), numticks=count + 1)
    )
    written = (lambda value, _: typeset(f"{value:g}")) if narrow else _power_of_ten
    ax.yaxis.set_major_formatter(FuncFormatter(written))
    ax.yaxis.set_minor_locator(NullLocator())


def _positive(ax) -> list[np.ndarray]:
    """What is positive and finite of every curve that has such values."""
    curves = [np.asarray(curve.get_ydata(), float) for curve in ax.get_lines()]
    shown = [y[np.isfinite(y) & (y > 0)] for y in curves]
    return [y for y in shown if len(y)]


def mirrored(axis, values, linear: float, count: int = 3):
    """Ticks of an axis logarithmic both ways beyond ±`linear`: 0 and at most `count` powers of ten on each side in use."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    first = int(np.ceil(np.log10(linear)))
    last = int(np.floor(np.log10(np.abs(values).max())))
    powers = [10.0**n for n in range(last, first - 1, -max(1, -(-(last - first + 1) // count)))]
    axis.set_major_locator(
        FixedLocator(
            [0.0, *(side * p for side in (-1, 1) for p in powers if (side * values > 0).any())]
        )
    )
    axis.set_major_formatter(
        FuncFormatter(
            lambda v, _: "0" if v == 0 else ("−" if v < 0 else "") + _power_of_ten(abs(v))
        )
    )
    axis.set_minor_locator(NullLocator())


def _power_of_ten(value, _=None) -> str:
    n = round(float(np.log10(value))) if value > 0 else 0
    return f"{10.0**n:g}" if -2 <= n <= 2 else "10" + str(n).translate(RAISED)


def level(ax, value, name, color=NOTE):
    """A dashed line at `value`, with its name at the right end."""
    ax.axhline(value, color=LIMIT, lw=0.7, ls=(0, (4, 2)))
    if name:
        remark(ax, name, value, "data", color=color)


def remark(ax, text, y=1.0, measure="axes fraction", size=7, color=NOTE):
    """Text above the height y at an axis' right end; y in `measure`, as Matplotlib calls its coordinates."""
    ax.annotate(
        text,
        (1.0, y),
        (0, 2),
        ("axes fraction", measure),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=size,
        color=color,
        annotation_clip=False,
    )


FAR = 4.0  # times its limit: a signal beyond leaves the axis, so that the limit can be seen
AROUND = 0.4  # share of the limit: what the axis then shows beyond it


def beyond(seen: float, ends) -> bool:
    """Whether a signal that reaches `seen` would squeeze its limits `ends` into one line."""
    return seen > FAR * max(map(abs, ends)) > 0


def around(ax, ends):
    """A vertical axis that shows zero, the limits `ends`, and a little beyond them."""
    room = AROUND * max(map(abs, ends))
    ax.set_ylim(min(*ends, 0.0) - room, max(*ends, 0.0) + room)


def unit_label(ax, unit: str):
    """The unit beside the vertical axis; nothing for a number without one."""
    ax.set_ylabel("" if unit == "1" else unit)


def time_axis(fig, axes, bins=9):
    """Time below the last of the panels."""
    bottom = axes[-1, 0]
    bottom.set_xlabel("time, s")
    for ax in axes[:, 0]:
        ax.margins(x=0.01)
    bottom.locator_params(axis="x", nbins=bins)
    return fig
