"""Bounds of derivatives over a box X, every value on the way held between two bounds at once:

    f(x) ∈ f(X),   f(x) ∈ f(m) + Σ_i f_i(X)(x_i − m_i)      for every x in X, m a point near its middle

The first treats a quantity that is found in many steps as if every step had the worst x to itself; the second (the mean
value form, across edges by Lebourg's theorem) does not, and misses by the square of the box's width. Where there is no
derivative it is (−∞, ∞) and the first is left.

Sources: [Moore09] chapter 6; [Clarke90] theorem 2.3.7.
"""

from __future__ import annotations

import numpy as np

from . import interval as iv
from . import slope
from .balls import up
from .interval import Interval, outward
from .program import Program, as_it_is
from .slope import Slope


def gradient(program: Program, given: list, first: int, n: int, rows: int) -> tuple:
    """(values, middle, radius) of the outputs and their derivatives by the n inputs from `first` on, (rows, outputs, n)."""
    found = centred(program, given, first, n)
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


def centred(program: Program, given: list, first: int, n: int) -> list:
    """The outputs over derivatives, every value by both bounds."""
    inputs: list = [Slope(b) for b in given]
    middle = list(given)
    away = []
    for i in range(n):
        box = given[first + i]
        m = box.mid
        m = np.clip(np.where(np.isfinite(m), m, 0.0), box.lo, box.hi)
        inputs[first + i] = Slope(box, {i: Interval(1.0)})
        middle[first + i] = Interval(m)
        away.append(up(np.maximum(box.hi - m, m - box.lo)))
    points = program.nodes(iv, middle, as_it_is)

    def closer(k: int, x: Slope) -> Slope:
        """Node k with the smaller of its bounds."""
        if not x.by:
            return x
        far = up(sum(d.size * away[i] for i, d in x.by.items()))
        other = outward(points[k].lo - far, points[k].hi + far)
        low = np.maximum(x.value.lo, other.lo)
        return Slope(Interval(low, np.minimum(x.value.hi, other.hi)), x.by)

    nodes = program.nodes(slope, inputs, Slope, closer)
    return [nodes[i] for i in program.outputs]
