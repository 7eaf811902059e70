"""A log to look at: signals chosen by pattern, curves over time, a table for notebooks."""

from __future__ import annotations

import difflib
import html
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity

MOST = 40  # curves of one figure, and rows of a table


def picked(log: Any, patterns: str | Sequence[str]) -> list[str]:
    """Names that fit a pattern, in the log's order. InputError with the nearest names for a pattern that fits none."""
    asked = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    for pattern in asked:
        if not any(fnmatchcase(name, pattern) for name in log.names):
            near = difflib.get_close_matches(pattern.strip("*"), log.names, 3, 0.4)
            raise InputError(
                f"log: no signal fits {pattern!r}",
                mend=f"did you mean {', '.join(near)}?"
                if near
                else f"choose from {', '.join(log.names[:20])}",
            )
    return [name for name in log.names if any(fnmatchcase(name, p) for p in asked)]


def plot(log: Any, patterns: Sequence[str]) -> Any:
    """A figure with one axis a unit, below each other. InputError for more curves than can be told apart."""
    from workbench.run.figure import ShownFigure

    shown = picked(log, patterns)
    if len(shown) > MOST:
        raise InputError(f"log: {len(shown)} curves", mend=f"name {MOST} or fewer: log.plot('p_*')")
    units = list(dict.fromkeys(log.signal(name).unit for name in shown))
    figure = ShownFigure(figsize=(8.0, 0.6 + 2.2 * len(units)), layout="constrained")
    axes = figure.subplots(len(units), 1, sharex=True, squeeze=False)[:, 0]
    for ax, unit in zip(axes, units):
        for name in shown:
            if log.signal(name).unit == unit:
                ax.plot(log.time, log.array(name), label=name, linewidth=1.0)
        ax.set_ylabel("" if unit == "1" else unit)
        ax.legend(fontsize=8, ncols=4, loc="best", frameon=False)
        ax.grid(alpha=0.3)
    axes[-1].set_xlabel("t, s")
    return figure


def as_html(log: Any) -> str:
    """How the run ended and, of every signal, unit, least and largest value, meaning."""
    rows = "".join(_row(log, name) for name in log.names[:MOST])
    more = len(log.names) - MOST
    rest = f"<p>and {more} more: {html.escape(', '.join(log.names[MOST:]))}</p>" if more > 0 else ""
    head = "".join(
        f"<th style='text-align:left'>{w}</th>" for w in ("signal", "least", "largest", "meaning")
    )
    return f"<p>{html.escape(repr(log))}</p><table><tr>{head}</tr>{rows}</table>{rest}"


def _row(log: Any, name: str) -> str:
    values = log.array(name)
    finite = values[np.isfinite(values)]
    unit = log.signal(name).unit
    ends = (
        [format_quantity(v, unit, 4) for v in (finite.min(), finite.max())]
        if finite.size
        else ["–", "–"]
    )
    cells = (name, *ends, log.signal(name).meaning)
    shown = "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in cells)
    return f"<tr>{shown}</tr>"
