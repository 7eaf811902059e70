"""Robustness of a formula: how far a run is from changing what it says, at every sample.

    ρ(l < r)         r − l                                     ρ(not φ)      −ρ(φ)
    ρ(φ and ψ)       min(ρ(φ), ρ(ψ))                           ρ(φ or ψ)     max(ρ(φ), ρ(ψ))
    ρ(always[a, b] φ, t)       min ρ(φ, t') over t' ∈ t + [a, b];   eventually: max;   historically, once: over t − [a, b]
    ρ(φ until[a, b] ψ, t)      max over t' ∈ t + [a, b] of min(ρ(ψ, t'), min ρ(φ, t'') over t ≤ t'' < t')

ρ > 0: the formula is true, ρ < 0: it is false. At ρ = 0 strictness decides, by the same recursion over ±1. What comes after the
last sample is unknown, so ρ is known between two bounds, low ≤ ρ ≤ up, each with the worst or the best that may come: a formula
is decided where low and up agree in sign. Before the first sample there is nothing: intervals into the past are cut there.
Source: [DonzeMaler10] (quantitative semantics), [Deshmukh17] (bounds of what is not complete).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from workbench.verification.temporal import syntax as S
from workbench.verification.temporal.windows import Instants, Window, largest, least, sustained


@dataclass(frozen=True, eq=False)
class Bounds:
    """low ≤ ρ ≤ up (N,); one array where nothing is unknown."""

    low: np.ndarray
    up: np.ndarray

    @property
    def known(self) -> bool:
        return self.low is self.up


@dataclass(frozen=True, eq=False)
class Monitor:
    """Robustness of formulas on the samples of one run.

    margins   comparison → its margin (N,), in whatever unit or scale
    """

    instants: Instants
    margins: Mapping[S.Comparison, np.ndarray]
    _windows: dict[tuple[S.Interval, bool], Window] = field(default_factory=dict)
    _known: dict[int, Bounds] = field(default_factory=dict)  # by the part of the sentence itself

    def window(self, formula: S.Timed | S.Until) -> Window:
        """Samples of the interval of a formula, at every sample."""
        key = (formula.interval, formula.past)
        if key not in self._windows:
            self._windows[key] = self.instants.window(*key)
        return self._windows[key]

    def bounds(self, formula: S.Formula) -> Bounds:
        """low and up of ρ at every sample."""
        if id(formula) not in self._known:
            self._known[id(formula)] = self._bounds(formula)
        return self._known[id(formula)]

    def _bounds(self, formula: S.Formula) -> Bounds:
        if isinstance(formula, S.Comparison):
            margin = self.margins[formula]
            return Bounds(margin, margin)
        if isinstance(formula, S.Not):
            part = self.bounds(formula.part)
            low = -part.up
            return Bounds(low, low if part.known else -part.low)
        if isinstance(formula, S.Junction):
            return self._junction(formula)
        return self._timed(formula) if isinstance(formula, S.Timed) else self._until(formula)

    def _junction(self, formula: S.Junction) -> Bounds:
        choose = np.minimum if formula.kind == "and" else np.maximum
        parts = [self.bounds(part) for part in formula.parts]
        low = choose.reduce([part.low for part in parts])
        if all(part.known for part in parts):
            return Bounds(low, low)
        return Bounds(low, choose.reduce([part.up for part in parts]))

    def _timed(self, formula: S.Timed) -> Bounds:
        part = self.bounds(formula.part)
        window = self.window(formula)
        extreme = least if formula.every else largest
        low = extreme(part.low, window.first, window.last)
        up = low if part.known else extreme(part.up, window.first, window.last)
        if not window.beyond.any():
            return Bounds(low, up)
        if formula.every:
            return Bounds(np.where(window.beyond, -np.inf, low), up)
        return Bounds(low, np.where(window.beyond, np.inf, up))

    def _until(self, formula: S.Until) -> Bounds:
        left = self.bounds(formula.left)
        right = self.bounds(formula.right)
        window = self.window(formula)
        if formula.past:
            low = _since(left.low, right.low, window)
            known = left.known and right.known
            return Bounds(low, low if known else _since(left.up, right.up, window))
        low = sustained(left.low, right.low, window, -np.inf)
        if left.known and right.known and not window.beyond.any():
            return Bounds(low, low)
        goes_on = np.inf if window.beyond.any() else -np.inf
        return Bounds(low, sustained(left.up, right.up, window, goes_on))


def _since(left: np.ndarray, right: np.ndarray, window: Window) -> np.ndarray:
    """Until, read backwards."""
    n = len(left)
    first = n - 1 - window.last[::-1]
    last = n - 1 - window.first[::-1]
    mirrored = Window(first, last, np.zeros(n, bool))
    return sustained(left[::-1], right[::-1], mirrored, -np.inf)[::-1]


def truths(comparison: S.Comparison, margin: np.ndarray) -> np.ndarray:
    """+1 where a comparison with this margin is true, −1 where it is false."""
    return np.where(margin > 0 if comparison.strict else margin >= 0, 1.0, -1.0)


def decided(monitor: Monitor, formula: S.Formula, bounds: Bounds, k: int = 0) -> bool | None:
    """What the formula says at sample k: true, false, or None where what comes after the run may change it."""
    low = bounds.low[k]
    up = bounds.up[k]
    if low > 0:
        return True
    if up < 0:
        return False
    told = {c: truths(c, margin) for c, margin in monitor.margins.items()}
    signs = type(monitor)(monitor.instants, told, monitor._windows).bounds(formula)
    if signs.low[k] > 0:
        return True
    return False if signs.up[k] < 0 else None
