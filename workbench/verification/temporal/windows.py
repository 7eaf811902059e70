"""Which samples an interval holds, and the least and largest value there.

    future [a, b] at t_k     samples j with t_k + a ≤ t_j ≤ t_k + b
    past   [a, b] at t_k     samples j with t_k − b ≤ t_j ≤ t_k − a

An interval between two samples holds the one before it, which stands until the next. Of two samples at one instant, as a jump has,
the second is in the first one's future and not in its past. A sample within 1e-6 of a step of an end
counts as at the end, so that 0.3 s on a grid of 0.1 s is three steps whatever rounding says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.verification.temporal.syntax import Interval

ROUNDING = 1e-6  # share of a step: what an instant may differ by


@dataclass(frozen=True, eq=False)
class Window:
    """Samples first … last (N,) of every instant's interval; none where last < first.

    beyond: whether the interval goes on after the last sample, where nothing is known.
    """

    first: np.ndarray
    last: np.ndarray
    beyond: np.ndarray


@dataclass(frozen=True, eq=False)
class Instants:
    """The samples' times (N,), never falling; `complete` where the run reached its end, so that nothing comes after it."""

    time: np.ndarray
    complete: bool = True

    @cached_property
    def slack(self) -> float:
        steps = np.diff(self.time)
        steps = steps[steps > 0]
        return ROUNDING * float(steps.min()) if len(steps) else 0.0

    @cached_property
    def step(self) -> float | None:
        """The distance of all samples where it is one; None otherwise."""
        n = len(self.time)
        if n < 2 or not self.time[-1] > self.time[0]:
            return None
        step = float(self.time[-1] - self.time[0]) / (n - 1)
        even = self.time[0] + step * np.arange(n)
        return step if np.abs(self.time - even).max() <= 0.5 * self.slack else None

    def window(self, interval: Interval, past: bool) -> Window:
        """The samples of the interval, asked at every sample."""
        return self._past(interval) if past else self._future(interval)

    def _future(self, interval: Interval) -> Window:
        n = len(self.time)
        last = self._until(interval.end)
        first = np.maximum(self._from(interval.begin), np.arange(n))
        outside = first >= n
        outside &= self.time + interval.begin > self.time[-1] + self.slack
        first = np.where(outside, n, np.minimum(first, last))
        endless = np.isinf(interval.end)
        ends = self.time + interval.end > self.time[-1] + self.slack
        beyond = outside | (not self.complete) if endless else ends
        return Window(first, last, np.broadcast_to(beyond, n))

    def _past(self, interval: Interval) -> Window:
        last = np.minimum(self._until(-interval.begin), np.arange(len(self.time)))
        first = np.minimum(self._from(-interval.end), np.maximum(last, 0))
        return Window(first, last, np.zeros(len(self.time), bool))

    def _until(self, later: float) -> np.ndarray:
        """The last sample at or before t_k + later; −1 where there is none."""
        n = len(self.time)
        if np.isinf(later):
            return np.full(n, n - 1 if later > 0 else -1)
        if self.step is not None:
            steps = np.clip(np.floor(later / self.step + ROUNDING), -n, n)
            return np.clip(np.arange(n) + int(steps), -1, n - 1)
        return np.searchsorted(self.time, self.time + later + self.slack, "right") - 1

    def _from(self, later: float) -> np.ndarray:
        """The first sample at or after t_k + later; N where there is none."""
        n = len(self.time)
        if np.isinf(later):
            return np.full(n, n if later > 0 else 0)
        if self.step is not None:
            steps = np.clip(np.ceil(later / self.step - ROUNDING), -n, n)
            return np.clip(np.arange(n) + int(steps), 0, n)
        return np.searchsorted(self.time, self.time + later - self.slack, "left")


def least(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """min values[first … last] for every entry; +∞ where last < first."""
    return _extreme(values, first, last, np.minimum, np.inf)


def largest(values: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """max values[first … last] for every entry; −∞ where last < first."""
    return _extreme(values, first, last, np.maximum, -np.inf)


def _extreme(values, first, last, choose, neutral):
    """Intervals that begin or end with the samples by running extremes, the others by `_covered`."""
    found = np.full(len(first), neutral)
    ends = (last == len(values) - 1) & (first <= last)
    if ends.any():
        found[ends] = choose.accumulate(values[::-1])[::-1][first[ends]]
    begins = (first == 0) & (last >= 0) & ~ends
    if begins.any():
        found[begins] = choose.accumulate(values)[last[begins]]
    inside = np.flatnonzero((first <= last) & ~ends & ~begins)
    if len(inside):
        found[inside] = _covered(values, first[inside], last[inside], choose)
    return found


def _covered(values, first, last, choose):
    """Two windows of one length, a power of two, cover each interval: extremes of one length follow from those of half of it."""
    octaves = np.frexp((last - first + 1).astype(float))[1] - 1
    if octaves.min() == octaves.max():
        return _of_octave(values, first, last, int(octaves[0]), choose)
    found = np.empty(len(first))
    for octave in np.flatnonzero(np.bincount(octaves)):
        asked = octaves == octave
        found[asked] = _of_octave(values, first[asked], last[asked], int(octave), choose)
    return found


def _of_octave(values, first, last, octave, choose):
    size = 1 << octave
    begin = int(first.min())
    slid = _slid(values[begin : int(last.max()) + 1], size, choose)
    return choose(slid[first - begin], slid[last - (size - 1) - begin])


def _slid(values: np.ndarray, size: int, choose) -> np.ndarray:
    """The extreme of values[i … i + size − 1] at i; size: a power of two."""
    reach = 1
    while reach < size:
        values = choose(values[:-reach], values[reach:])
        reach *= 2
    return values


def sustained(left: np.ndarray, right: np.ndarray, window: Window, ahead: float) -> np.ndarray:
    """max over j in the window of min(right_j, left_k … left_{j−1}); `ahead` is what follows the last sample, ±∞.

    [DonzeFerrereMaler13] lemma 3: the least of left before the window, the largest of right in it, and the unbounded until from
    its first sample on, which need not know where the window ends.
    """
    n = len(left)
    before = least(left, np.arange(n), window.first - 1)
    within = largest(right, window.first, window.last)
    within = np.where(window.beyond, np.maximum(within, ahead), within)
    unbounded = np.append(_unbounded(left, right, ahead), ahead)
    return np.minimum(np.minimum(before, within), unbounded[window.first])


def _unbounded(left: np.ndarray, right: np.ndarray, ahead: float) -> np.ndarray:
    """U_k = max(right_k, min(left_k, U_{k+1})), U_N = ahead.

    The maps x ↦ max(p, min(q, x)) are closed under composition, so suffixes of all lengths follow by doubling.
    """
    p = right.copy()
    q = left.copy()
    n = len(left)
    reach = 1
    while reach < n:
        merged = np.maximum(p[:-reach], np.minimum(q[:-reach], p[reach:]))
        q[:-reach] = np.minimum(q[:-reach], q[reach:])
        p[:-reach] = merged
        reach *= 2
    return np.maximum(p, np.minimum(q, ahead))
