"""Bounds of derivatives over a box X by the chain rule, every value on the way held between two bounds at once:

    f(x) ∈ f(X),   f(x) ∈ f(m) + Σ_i f_i(X)(x_i − m_i)          for every x in X, m its middle, f_i = ∂f/∂x_i

The first treats a quantity that is found in many steps as if every step had the worst x to itself; the second (the mean
value form) does not, and misses by the square of the box's width. f_i may be Clarke's derivative, of which a Lipschitz
function takes a mean over the segment from m to x; where there is none f_i is (−∞, ∞) and the first is left.

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
    inputs: list = [Slope(b) for b in given]
    for i in range(n):
        inputs[first + i] = Slope(given[first + i], {i: Interval(1.0)})
    found = centred(program, inputs, given, first, n)
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


def centred(program: Program, inputs: list, given: list, first: int, n: int) -> list:
    """The outputs over slopes, every value by both bounds."""
    middle = list(given)
    away = []
    for i in range(first, first + n):
        m = centre(given[i])
        middle[i] = Interval(m)
        away.append(up(np.maximum(given[i].hi - m, m - given[i].lo)))
    points = program.nodes(iv, middle, as_it_is)

    def closer(i: int, x: Slope) -> Slope:
        """Node i with the smaller of its bounds."""
        if not x.by:
            return x
        far = up(sum(d.size * away[k] for k, d in x.by.items()))
        other = outward(points[i].lo - far, points[i].hi + far)
        low = np.maximum(x.value.lo, other.lo)
        return Slope(Interval(low, np.minimum(x.value.hi, other.hi)), x.by)

    nodes = program.nodes(slope, inputs, Slope, closer)
    return [nodes[i] for i in program.outputs]


def centre(b: Interval) -> np.ndarray:
    """A float in the interval, near its middle where it is bounded."""
    m = b.mid
    return np.clip(np.where(np.isfinite(m), m, 0.0), b.lo, b.hi)
