"""Bounds of slopes and derivatives over a box X, every value on the way held between two bounds at once:

    f(x) ∈ f(X),   f(x) ∈ f(C) + Σ_i s_i(x_i − c_i)      for every x in X, c the point nearest to it of a box C in X, s_i of `slope`

The first treats a quantity that is found in many steps as if every step had the worst x to itself; the second (the mean
value form) does not, and misses by the square of the box's width. Where there is no slope it is (−∞, ∞) and the first is left.

Either C holds a run beside which all others are looked at: then s_i are slopes from that run. Or it is any point m: then s_i
are derivatives, by the rules for C = X, and f(m) serves the second bound alone, by the mean value theorem (Lebourg's across edges).

Sources: [Moore09] chapter 6; [Neumaier90] chapter 2; [Clarke90] theorem 2.3.7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import interval as iv
from . import slope
from .balls import up
from .interval import Interval, outward
from .program import Program, as_it_is
from .slope import Slope


def gradient(
    program: Program,
    given: list,
    first: int,
    n: int,
    rows: int,
    beside: list | None = None,
    apart: Any = False,
) -> tuple:
    """(values, middle, radius) of the outputs and their slopes by the n inputs from `first` on, (rows, outputs, n).

    beside: where these inputs are in the run from which slopes are taken, inside the box; None: derivatives instead, and so in
    rows that are `apart`.
    """
    found = centred(program, given, first, n, beside, apart)
    shape = (rows, len(found), n)
    low = np.zeros(shape)
    high = np.zeros(shape)
    for j, out in enumerate(found):
        for i, d in out.by.items():
            low[:, j, i] = d.lo
            high[:, j, i] = d.hi
    J = Interval(low, high)
    radius = J.rad
    known = np.isfinite(radius)
    middle = np.where(known, np.where(known, J.mid, 0.0), 0.0)
    return [out.value for out in found], middle, radius


def centred(
    program: Program, given: list, first: int, n: int, beside: list | None, apart: Any
) -> list:
    """The outputs over slopes, every value by both bounds."""
    apart = apart if beside else True
    inputs: list = [Slope(b) for b in given]
    middle = list(given)
    away = []
    for i in range(n):
        box = given[first + i]
        C = inner(box, beside[i] if beside else box, apart)
        inputs[first + i] = Slope(box, {i: Interval(1.0)}, chosen(apart, box, C))
        middle[first + i] = C
        away.append(up(np.maximum(box.hi - C.hi, C.lo - box.lo)))
    points = program.nodes(iv, middle, as_it_is)

    def closer(k: int, x: Slope) -> Slope:
        """Node k with the smaller of its bounds."""
        if not x.by:
            return x
        far = up(sum(d.size * away[i] for i, d in x.by.items()))
        other = outward(points[k].lo - far, points[k].hi + far)
        low = np.maximum(x.value.lo, other.lo)
        value = Interval(low, np.minimum(x.value.hi, other.hi))
        return Slope(value, x.by, chosen(apart, value, points[k]))

    nodes = program.nodes(slope, inputs, Slope, closer)
    return [nodes[i] for i in program.outputs]


def chosen(apart: Any, a: Interval, b: Interval) -> Interval:
    """a in rows that are apart, b in others."""
    if apart is True:
        return a
    if apart is False:
        return b
    return Interval(np.where(apart, a.lo, b.lo), np.where(apart, a.hi, b.hi))


def inner(box: Interval, run: Interval, apart: Any) -> Interval:
    """The part of the box where the run is; in rows that are apart a float near its middle."""
    m = box.mid
    m = np.clip(np.where(np.isfinite(m), m, 0.0), box.lo, box.hi)
    both = Interval(np.maximum(box.lo, run.lo), np.minimum(box.hi, run.hi))
    return chosen(apart, Interval(m), both)
