"""Bounds of expressions over many boxes at once, and the search for the least value on a set.

A bound is the natural enclosure, cut with the mean value form g(m) + Σ ∂g/∂z_i (z_i − m_i) on boxes where no step of the
expression is undecided (there g is Lipschitz, and the enclosed derivative holds every slope). Source: [Moore09].
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from workbench.numerics.intervals.enclosure import box
from workbench.numerics.intervals.rules import Box
from workbench.verification.rigorous.lifting import lift

INF = np.inf


class Bound:
    """Rigorous bounds of a scalar expression over boxes (low, high: arrays N × n) of the symbols z.

    fixed, values: further symbols of the expression, in these boxes (kept, not copied: who made them may change them).
    """

    def __init__(
        self, z: ca.SX, expression: ca.SX, fixed: ca.SX | None = None, values: Sequence[Box] = ()
    ):
        none = ca.SX(0, 1)
        self.z, self.values = z, values
        self.lifted = own = lift(ca.vertcat(z, none if fixed is None else fixed), expression)
        self.natural = own.function(
            own.expression, ca.vertcat(none, *own.steps), ca.vertcat(none, *own.domains)
        )

    @cached_property
    def slopes(self) -> ca.Function:
        return self.lifted.function(ca.gradient(self.lifted.expression, self.z))

    def _enclosed(self, f, low, high):
        return self.lifted.enclose(
            f, [*(box(low[:, i], high[:, i]) for i in range(low.shape[1])), *self.values]
        )

    def plain(self, low, high) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lower, upper, smooth): natural bounds, ±∞ where the expression is not surely defined."""
        own = self.lifted
        b = self._enclosed(self.natural, low, high)
        n = len(low)
        k = 1 + len(own.steps)
        wide = lambda a: np.broadcast_to(a, (n,))
        smooth = (
            np.all([wide(s.low == s.high) for s in b[1:k]], axis=0)
            if own.steps
            else np.ones(n, bool)
        )
        # Where a switch is undecided, a branch's domain counts even if the branch may not be taken.
        sure = (
            wide(b[0].sure) & (smooth | np.all([wide(d.sure) for d in b[k:]], axis=0))
            if own.domains
            else b[0].sure
        )
        return (
            np.where(sure, wide(b[0].low), -INF),
            np.where(sure, wide(b[0].high), INF),
            smooth & sure,
        )

    def over(self, low, high) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(lower, upper, weights): bounds on every box, and how much each side of the box contributes (N × n)."""
        a, b, smooth = self.plain(low, high)
        width = high - low
        weights = width.copy()
        if smooth.any():
            at = np.flatnonzero(smooth)
            l = low[at]
            h = high[at]
            m = l + (h - l) / 2
            g = self._enclosed(self.slopes, l, h)
            centre_low, centre_high, _ = self.plain(m, m)
            down = centre_low
            above = centre_high
            share = np.zeros_like(l)
            r = np.nextafter(np.maximum(h - m, m - l), INF)
            with np.errstate(all="ignore"):
                for i, s in enumerate(g):
                    size = np.where(s.sure, np.maximum(np.abs(s.low), np.abs(s.high)), INF)
                    move = np.where(
                        h[:, i] > l[:, i],
                        np.nextafter(np.broadcast_to(size, len(at)) * r[:, i], INF),
                        0.0,
                    )
                    down = np.nextafter(down - move, -INF)
                    above = np.nextafter(above + move, INF)
                    share[:, i] = move
            good = np.isfinite(down) & np.isfinite(above)
            a = a.copy()
            b = b.copy()
            a[at[good]] = np.maximum(a[at[good]], down[good])
            b[at[good]] = np.minimum(b[at[good]], above[good])
            weights[at[good]] = share[good]
        return a, b, weights


def halved(low, high, weights, scale) -> tuple[np.ndarray, np.ndarray]:
    """Every box cut in two across its heaviest side (relative to `scale` where no weight tells); sides never vanish."""
    width = (high - low) / scale
    # A side much shorter than the longest is left alone, so that boxes stay roundish.
    weights = np.where(
        width > width.max(axis=1, keepdims=True) / 64,
        np.where(np.isfinite(weights), weights, INF),
        -1.0,
    )
    tie = np.where(weights >= weights.max(axis=1, keepdims=True), width, -1.0)
    k = tie.argmax(axis=1)
    row = np.arange(len(low))
    middle = low[row, k] + (high[row, k] - low[row, k]) / 2
    below = high.copy()
    above = low.copy()
    below[row, k] = above[row, k] = middle
    return np.concatenate([low, above]), np.concatenate([below, high])


def least(
    bound: Bound, low, high, keep=None, budget: int = 20000, gap: float = 1e-2, sign: float = 1.0
) -> float:
    """A proven lower bound of sign·g on the boxes (minus those parts that `keep(low, high)` says do not belong).

    Boxes are halved until the bound is within `gap` (relative to its size) of a value taken, or `budget` boxes were used.
    """
    low = np.asarray(low, float)
    high = np.asarray(high, float)
    scale = np.maximum((high - low).max(axis=0), 1e-300)
    seen = 0
    final = INF
    reached = INF
    while len(low):
        a, b, weights = bound.over(low, high)
        a = a if sign > 0 else -b
        m = low + (high - low) / 2
        inside = np.ones(len(m), bool) if keep is None else keep(m, m)
        if inside.any():
            value = bound.plain(m[inside], m[inside])
            reached = min(reached, float(np.min(value[1] if sign > 0 else -value[0])))
        seen += len(low)
        worst = min(final, float(a.min()))
        close = reached - worst <= gap * max(abs(reached), abs(worst), 1e-300)
        if seen >= budget or close and np.isfinite(reached):
            return worst
        # Boxes whose bound is good enough already are laid aside.
        fine = a >= reached - 0.5 * gap * abs(reached)
        final = min(final, float(a[fine].min())) if fine.any() else final
        low, high = halved(low[~fine], high[~fine], weights[~fine], scale)
        if keep is not None and len(low):
            belongs = keep(low, high)
            low = low[belongs]
            high = high[belongs]
    return final


def faces(low: Sequence[float], high: Sequence[float], count: int) -> tuple[np.ndarray, np.ndarray]:
    """The 2·count faces of a box across its first `count` sides."""
    lows = np.tile(low, (2 * count, 1)).astype(float)
    highs = np.tile(high, (2 * count, 1)).astype(float)
    for i in range(count):
        highs[2 * i, i] = low[i]
        lows[2 * i + 1, i] = high[i]
    return lows, highs


def ball_size(low, high, centre, radii) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of Σ ((x_i − c_i)/r_i)² on boxes, over the sides that have a radius."""
    n = len(centre)
    least = np.zeros(len(low))
    most = np.zeros(len(low))
    for i in range(n):
        d = Box(
            np.nextafter(low[:, i] - centre[i], -INF),
            np.nextafter(high[:, i] - centre[i], INF),
            None,
        )
        near = (
            np.where((d.low <= 0) & (d.high >= 0), 0.0, np.minimum(np.abs(d.low), np.abs(d.high)))
            / radii[i]
        )
        far = np.maximum(np.abs(d.low), np.abs(d.high)) / radii[i]
        least = least + near**2 * (1 - 1e-14)
        most = most + far**2 * (1 + 1e-14)
    return least * (1 - n * 1e-15), most * (1 + n * 1e-15)
