"""What a run puts to the test: the samples at which every part of a sentence is asked, and whether the first one decides it all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.robustness import Bounds, Monitor, decided


def asked_at(monitor: Monitor, formula: S.Formula) -> dict[int, np.ndarray]:
    """id of a part → whether it is asked at each sample (N,), where the formula is asked at the first one."""
    n = len(monitor.instants.time)
    found: dict[int, np.ndarray] = {}
    _ask(monitor, formula, np.arange(n) == 0, found)
    return found


def _ask(monitor: Monitor, formula: S.Formula, at: np.ndarray, found: dict) -> None:
    """Note where a formula is asked, and where that asks its parts; an until asks nothing beyond the sample that ends it."""
    found[id(formula)] = at
    if not isinstance(formula, S.Timed | S.Until):
        for part in S.parts_of(formula):
            _ask(monitor, part, at, found)
        return
    window = monitor.window(formula)
    first = window.first[at]
    last = window.last[at]
    if isinstance(formula, S.Timed):
        _ask(monitor, formula.part, covered(first, last, len(at)), found)
        return
    right = monitor.bounds(formula.right).low >= 0
    now = np.flatnonzero(at)
    if formula.past:
        came = _latest(right, last)
        _ask(monitor, formula.right, covered(np.maximum(first, came), last, len(at)), found)
        _ask(monitor, formula.left, covered(np.maximum(first, came + 1), now, len(at)), found)
        return
    came = _earliest(right, first)
    _ask(monitor, formula.right, covered(first, np.minimum(last, came), len(at)), found)
    _ask(monitor, formula.left, covered(now, np.minimum(last, came - 1), len(at)), found)


def _earliest(true: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The earliest sample from each of `first` on at which something is true; N where there is none."""
    n = len(true)
    onward = np.append(np.where(true, np.arange(n), n), n)
    return np.minimum.accumulate(onward[::-1])[::-1][first]


def _latest(true: np.ndarray, last: np.ndarray) -> np.ndarray:
    """The latest sample up to each of `last` at which something is true; −1 where there is none."""
    n = len(true)
    return n - 1 - _earliest(true[::-1], n - 1 - last)


def covered(first: np.ndarray, last: np.ndarray, n: int) -> np.ndarray:
    """Whether each of n samples is in one of the intervals first … last; none of one that ends before it begins."""
    some = first <= last
    steps = np.zeros(n + 1, int)
    np.add.at(steps, first[some], 1)
    np.add.at(steps, last[some] + 1, -1)
    return np.cumsum(steps[:n]) > 0


def untested(
    monitor: Monitor, formula: S.Formula, piece: Callable[[S.Formula], str]
) -> tuple[list[str], list[str], list[str]]:
    """(what put nothing to the test, what is ruled out and never came true beside something that did, what looks back at nothing).

    All as `piece` words them. That a and b are never true together says something where one of them was. What counts is the samples
    at which they are asked.
    """
    at = asked_at(monitor, formula)
    came = lambda part: bool((monitor.bounds(part).low[at[id(part)]] >= 0).any())
    idle = [piece(c) for c in S.conditions(formula) if not came(c)]
    never: list[str] = []
    for both in S.ruled_out(formula):
        left = [piece(part) for part in both.parts if not came(part)]
        if len(left) == len(both.parts):
            idle.append(" or ".join(left))
        else:
            never += left
    return (
        idle,
        never,
        [piece(part) for part in _looking_back(formula) if _empty(monitor, part, at)],
    )


def _looking_back(formula: S.Formula) -> list[S.Timed | S.Until]:
    """The parts that ask for earlier instants, in the order of the sentence."""
    own = [formula] if isinstance(formula, S.Timed | S.Until) and formula.past else []
    return own + [found for part in S.parts_of(formula) for found in _looking_back(part)]


def _empty(monitor: Monitor, part: S.Timed | S.Until, at: dict[int, np.ndarray]) -> bool:
    """Whether the interval of a part holds no sample wherever it is asked."""
    asked = at[id(part)]
    window = monitor.window(part)
    return bool(asked.any() and not (window.first <= window.last)[asked].any())


def by_first_sample(monitor: Monitor, formula: S.Formula) -> bool:
    """Whether a formula is true by what the first sample shows, whatever the signals do later."""
    first = _First(monitor.instants, monitor.margins, monitor._windows)
    return decided(first, formula, first.bounds(formula)) is True


class _First(Monitor):
    """Robustness where only the first sample, and the time, is known."""

    def _bounds(self, formula: S.Formula) -> Bounds:
        if not isinstance(formula, S.Comparison):
            return super()._bounds(formula)
        margin = self.margins[formula]
        named = [*S.names_in(formula.left), *S.names_in(formula.right)]
        if named == ["time"]:
            return Bounds(margin, margin)
        later = np.arange(len(margin)) > 0
        return Bounds(np.where(later, -np.inf, margin), np.where(later, np.inf, margin))
