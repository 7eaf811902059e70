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

from workbench.contract.scalars import Vector
from workbench.numerics.intervals.kinks import Chosen, chosen
from workbench.numerics.intervals.walk import Walk

MOST = 4  # choices of one box that are taken corner by corner; the others as boxes


class Slope(NamedTuple):
    """Bounds (entries, N) of the entries that a sparsity holds, and whether all of the box is in the function's domain."""

    low: np.ndarray
    high: np.ndarray
    sure: np.ndarray

    @property
    def mid(self) -> np.ndarray:
        """The middle of every entry."""
        return middle(self.low, self.high)


@final
class Slopes:
    """∂F/∂x and ∂²F/∂x² of the first outputs of F (one column) by its input `x`, over boxes of all inputs.

    at         rows and columns of the first derivative's entries
    second_at  rows, columns and columns of the second derivative's
    kinks      for each choice s, the kinks that share it, about one switching point
    """

    def __init__(self, f: ca.Function, x: str = "x", outputs: int | None = None) -> None:
        parts: Chosen = chosen(f)
        inputs = range(f.n_in())
        a = [ca.SX.sym(f.name_in(i), f.sparsity_in(i)) for i in inputs]
        s = ca.SX.sym("s", parts.function.nnz_in(f.n_in()))
        place = f.index_in(x)
        by = a[place]
        values = parts.function(*a, s)
        first = ca.jacobian(values[: outputs or f.numel_out(0)], by)
        entries = ca.vertcat(*first.nonzeros())
        second = ca.cse(ca.jacobian(entries, by))
        apart = parts.apart(*a, s)
        lean = ca.densify(ca.jacobian(apart, by))
        self.kinks = parts.kinks
        row, column = self.at = _entries(first)
        entry, third = _entries(second)
        self.second_at = (row[entry], column[entry], third)

        def walk(name: str, value: ca.SX) -> Walk:
            return Walk(ca.Function(name, [*a, s], [value]))

        self._sides = Walk(parts.sides)
        self._apart = walk("apart", ca.densify(apart))
        self._leaning = walk("lean", lean)
        self._first = walk("first", first)
        self._second = walk("second", second)
        before = sum(f.nnz_in(i) for i in range(place))
        self._x = slice(before, before + by.nnz())

    def sides(self, low: list, high: list) -> tuple[np.ndarray, np.ndarray]:
        """Bounds (choices, N) of every choice over the boxes: 0, 1, or from 0 to 1 where its kink may lie inside."""
        found = self._sides.over(low, high)
        begin = list(low)
        end = list(high)
        radius = []
        for k in range(self._x.start, self._x.stop):
            begin[k] = end[k] = middle(np.asarray(low[k]), np.asarray(high[k]))
            radius.append(_radius(low[k], begin[k], high[k]))
        centre = self._apart.over([*begin, *found.low], [*end, *found.high])
        lean = self._leaning.over([*low, *found.low], [*high, *found.high])
        steepest = np.maximum(np.abs(lean.low), np.abs(lean.high))
        steep = steepest.reshape(len(radius), *found.low.shape)
        terms = (r * g for r, g in zip(radius, steep))
        away = sum(terms) * (1 + 1e-13)
        leaning = lean.sure.reshape(steep.shape)
        known = centre.sure & leaning.all(axis=0)
        positive = known & (centre.low - away > 0)
        negative = known & (centre.high + away < 0)
        least = np.where(negative, 1.0, found.low)
        most = np.where(positive, 0.0, found.high)
        return least, most

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
        most_mixed = int(mixed.sum(axis=0).max(initial=0))
        found = None
        for corner in range(2 ** min(most_mixed, MOST)):
            bit = corner >> np.clip(rank, 0, MOST)
            up = (bit & 1) == 1
            least = np.where(taken & up, end, begin)
            most = np.where(taken & ~up, begin, end)
            one = walk.over([*low, *least], [*high, *most])
            sure = np.asarray(one.sure.all(axis=0))
            here = Slope(one.low, one.high, sure)
            found = here if found is None else _hull(found, here)
        assert found is not None  # there is a corner at least
        return found


def middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The middle of intervals, also of those whose ends together are beyond the largest number."""
    return 0.5 * low + 0.5 * high


def _radius(low: Vector, centre: Vector, high: Vector) -> np.ndarray:
    """How far the ends of intervals are from their middle, at most."""
    above = np.asarray(high) - centre
    below = centre - np.asarray(low)
    return np.maximum(above, below) * (1 + 1e-15)


def _entries(matrix: ca.SX) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of what its sparsity holds."""
    rows, columns = matrix.sparsity().get_triplet()
    return np.array(rows, int), np.array(columns, int)


def _hull(a: Slope, b: Slope) -> Slope:
    low = np.minimum(a.low, b.low)
    high = np.maximum(a.high, b.high)
    return Slope(low, high, a.sure & b.sure)
