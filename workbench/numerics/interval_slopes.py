"""Slopes of a traced function over boxes: every chord's, also across kinks, and their own slopes.

    F(x + e) − F(x) ∈ J e                               J: hull of ∂F/∂x over the box and the corners of the choices s
    F(x + e) − F(x) ∈ (J_0 + ½ Σ_i e_i H_i) e           J_0 at x, H: hull of ∂²F/∂x² over the box and the corners

x and x + e lie in the box. A choice is decided where its kink's two numbers do not meet in the box, by the interval walk or by
a mean-value form about the box's middle, whichever is narrower. Where choices are not decided, the hull is over their corners:
s = 0 and s = 1 each by itself, since a box [0, 1] for s is taken anew at every place where it stands. Source: `interval_kinks`.
"""

from __future__ import annotations

from typing import NamedTuple, final

import casadi as ca
import numpy as np

from workbench.numerics.interval_kinks import Chosen, chosen
from workbench.numerics.interval_walk import Walk

MOST = 4  # choices of one box that are taken corner by corner; the others as boxes


class Slope(NamedTuple):
    """Bounds (entries, N) of the entries that a sparsity holds, and whether all of the box is in the function's domain."""

    low: np.ndarray
    high: np.ndarray
    sure: np.ndarray

    @property
    def mid(self) -> np.ndarray:
        """The middle of every entry."""
        return 0.5 * self.low + 0.5 * self.high


@final
class Slopes:
    """∂F/∂x and ∂²F/∂x² of the first outputs of F (one column) by its input `x`, over boxes of all inputs.

    at         rows and columns of the first derivative's entries
    second_at  rows, columns and columns of the second derivative's
    kinks      for each choice s, the kinks that share it, about one switching point
    """

    def __init__(self, f: ca.Function, x: str = "x", outputs: int | None = None) -> None:
        parts: Chosen = chosen(f)
        a = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in range(f.n_in())]
        s = ca.SX.sym("s", parts.function.nnz_in(f.n_in()))
        by = a[f.index_in(x)]
        first = ca.jacobian(parts.function(*a, s)[: outputs or f.numel_out(0)], by)
        second = ca.cse(ca.jacobian(ca.vertcat(*first.nonzeros()), by))
        apart = parts.apart(*a, s)
        self.kinks = parts.kinks
        self.at = _entries(first)
        entry, third = _entries(second)
        self.second_at = (self.at[0][entry], self.at[1][entry], third)
        self._sides = Walk(parts.sides)
        self._apart = Walk(ca.Function("apart", [*a, s], [ca.densify(apart)]))
        self._leaning = Walk(ca.Function("lean", [*a, s], [ca.densify(ca.jacobian(apart, by))]))
        self._first = Walk(ca.Function("first", [*a, s], [first]))
        self._second = Walk(ca.Function("second", [*a, s], [second]))
        before = sum(f.nnz_in(i) for i in range(f.index_in(x)))
        self._x = slice(before, before + by.nnz())

    def sides(self, low: list, high: list) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (choices, N) of every choice over the boxes: 0, 1, or from 0 to 1 where its kink may lie inside."""
        found = self._sides.over(low, high)
        begin = list(low)
        end = list(high)
        for k in range(self._x.start, self._x.stop):
            begin[k] = end[k] = 0.5 * np.asarray(low[k]) + 0.5 * np.asarray(high[k])
        radius = [
            np.maximum(np.asarray(b) - m, m - np.asarray(a)) * (1 + 1e-15)
            for a, b, m in zip(low[self._x], high[self._x], begin[self._x])
        ]
        choices = [*found.low], [*found.high]
        middle = self._apart.over([*begin, *choices[0]], [*end, *choices[1]])
        lean = self._leaning.over([*low, *choices[0]], [*high, *choices[1]])
        steep = np.maximum(np.abs(lean.low), np.abs(lean.high)).reshape(
            len(radius), *found.low.shape
        )
        away = sum(np.asarray(r) * g for r, g in zip(radius, steep)) * (1 + 1e-13)
        known = middle.sure & lean.sure.reshape(steep.shape).all(axis=0)
        positive = known & (middle.low - away > 0)
        negative = known & (middle.high + away < 0)
        return np.where(negative, 1.0, found.low), np.where(positive, 0.0, found.high)

    def first(self, low: list, high: list, sides: tuple | None = None) -> Slope:
        """Hull of ∂F/∂x over the boxes, between any two points of which it contains the chord's slope."""
        return self._hull(self._first, low, high, sides)

    def second(self, low: list, high: list, sides: tuple | None = None) -> Slope:
        """Hull of the first derivative's own slopes, with the choices held."""
        return self._hull(self._second, low, high, sides)

    def _hull(self, walk: Walk, low: list, high: list, sides: tuple | None) -> Slope:
        begin, end = self.sides(low, high) if sides is None else sides
        mixed = begin < end
        rank = np.cumsum(mixed, axis=0) - 1
        taken = mixed & (rank < MOST)
        found = None
        for corner in range(2 ** min(int(mixed.sum(axis=0).max(initial=0)), MOST)):
            up = ((corner >> np.clip(rank, 0, MOST)) & 1) == 1
            s = np.where(taken & up, end, begin), np.where(taken & ~up, begin, end)
            one = walk.over([*low, *s[0]], [*high, *s[1]])
            here = Slope(one.low, one.high, np.asarray(one.sure.all(axis=0)))
            found = here if found is None else _hull(found, here)
        assert found is not None  # there is a corner at least
        return found


def _entries(matrix: ca.SX) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of what its sparsity holds."""
    rows, columns = matrix.sparsity().get_triplet()
    return np.array(rows, int), np.array(columns, int)


def _hull(a: Slope, b: Slope) -> Slope:
    return Slope(np.minimum(a.low, b.low), np.maximum(a.high, b.high), a.sure & b.sure)
