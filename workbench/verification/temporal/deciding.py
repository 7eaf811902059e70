"""Which comparison decides the robustness of a formula, and when: from the formula down to where its number was read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.robustness import Monitor


@dataclass(frozen=True)
class Deciding:
    """The comparison, the sample at which its margin (or, under `not`, its opposite) is the robustness of the whole."""

    comparison: S.Comparison
    sample: int


def deciding(monitor: Monitor, formula: S.Formula, upper: bool, k: int = 0) -> Deciding | None:
    """Where the lower (upper) bound of the robustness at sample k was read; None where it is that of what is unknown."""
    if isinstance(formula, S.Comparison):
        return Deciding(formula, k)
    if isinstance(formula, S.Not):
        return deciding(monitor, formula.part, not upper, k)
    if isinstance(formula, S.Junction):
        told = [_told(monitor, part, upper)[k] for part in formula.parts]
        choice = int(np.argmin(told) if formula.kind == "and" else np.argmax(told))
        return deciding(monitor, formula.parts[choice], upper, k)
    window = monitor.window(formula)
    if window.beyond[k] and _told(monitor, formula, upper)[k] == (np.inf if upper else -np.inf):
        return None
    span = slice(int(window.first[k]), int(window.last[k]) + 1)
    if isinstance(formula, S.Timed):
        values = _told(monitor, formula.part, upper)[span]
        if not len(values):
            return None
        choice = int(np.argmin(values) if formula.every else np.argmax(values))
        return deciding(monitor, formula.part, upper, span.start + choice)
    return _of_until(monitor, formula, upper, k, span)


def _of_until(
    monitor: Monitor, formula: S.Until, upper: bool, k: int, span: slice
) -> Deciding | None:
    left = _told(monitor, formula.left, upper)
    right = _told(monitor, formula.right, upper)
    if span.start >= span.stop:
        return None
    samples = np.arange(span.start, span.stop)
    if formula.past:
        order = samples[::-1]
        path = np.arange(k, span.start - 1, -1)
    else:
        order = samples
        path = np.arange(k, span.stop)
    held = np.concatenate([[np.inf], np.minimum.accumulate(left[path])[:-1]])
    reached = np.minimum(right[order], held[np.abs(order - k)])
    best = int(np.argmax(reached))
    j = int(order[best])
    if right[j] <= held[abs(j - k)]:
        return deciding(monitor, formula.right, upper, j)
    before = path[: abs(j - k)]
    return deciding(monitor, formula.left, upper, int(before[np.argmin(left[before])]))


def _told(monitor: Monitor, formula: S.Formula, upper: bool) -> np.ndarray:
    bounds = monitor.bounds(formula)
    return bounds.up if upper else bounds.low
