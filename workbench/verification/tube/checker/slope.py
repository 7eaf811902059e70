"""A value over a box with its derivatives, all as intervals: {number of the variable: ∂f/∂x_i} by the rules of the chain.

At a kink (min, max, |·|) that the box straddles the derivative is in the hull of both sides, which contains Clarke's. A
jump (a comparison, sign, rounding) that the box does not decide has no derivative: (−∞, ∞), which proves nothing.
A jump that is decided, one number over the whole box, has the derivative zero.

Source: [Clarke90] chapter 2.
"""

from __future__ import annotations

import numpy as np

from . import chords
from . import interval as iv
from .interval import Interval, interval

EVERYTHING = Interval(np.array(-np.inf), np.array(np.inf))


class Slope:
    """A value and {number of the variable: derivative}; a variable that is not there has the derivative zero."""

    __slots__ = ("value", "by")

    def __init__(self, value: Interval, by: dict | None = None):
        self.value = value
        self.by = by or {}

    def __add__(self, other):
        b = slope(other)
        return Slope(self.value + b.value, merged(self.by, b.by, lambda x, y: x + y))

    def __sub__(self, other):
        return self + (-slope(other))

    def __neg__(self):
        return Slope(-self.value, {k: -d for k, d in self.by.items()})

    def __mul__(self, other):
        b = slope(other)
        left = scaled(self.by, b.value)
        right = scaled(b.by, self.value)
        return Slope(self.value * b.value, merged(left, right, lambda x, y: x + y))

    def __truediv__(self, other):
        b = slope(other)
        top = merged(self.by, scaled(b.by, -(self.value / b.value)), lambda x, y: x + y)
        return Slope(self.value / b.value, {k: d / b.value for k, d in top.items()})


def slope(x) -> Slope:
    return x if isinstance(x, Slope) else Slope(interval(x))


def merged(a: dict, b: dict, join) -> dict:
    """Derivatives of both, joined where both have one."""
    found = dict(a)
    for k, d in b.items():
        found[k] = join(found[k], d) if k in found else d
    return found


def scaled(by: dict, factor: Interval) -> dict:
    """Derivatives times a factor; a factor that is nothing but the number 0 leaves none, whatever jumps beside it."""
    if not np.ndim(factor.lo) and factor.lo == 0 == factor.hi:
        return {}
    return {k: d * factor for k, d in by.items()}


def through(x: Slope, value: Interval, derivative: Interval) -> Slope:
    """f(x), where f has this value and this derivative."""
    return Slope(value, scaled(x.by, derivative))


def of(name: str):
    """A function of one number, by its chords."""
    f = getattr(iv, name)
    chord = getattr(chords, name)

    def over(x: Slope) -> Slope:
        y = f(x.value)
        return through(x, y, chord(x.value, x.value, y, y))

    return over


sqrt = of("sqrt")
square = of("square")
sin = of("sin")
cos = of("cos")
exp = of("exp")
log = of("log")
tanh = of("tanh")
arctan = of("arctan")
sinh = of("sinh")
cosh = of("cosh")


def power(x: Slope, exponent: float) -> Slope:
    """x to the power of a fixed exponent."""
    return through(x, iv.power(x.value, exponent), chords.power(x.value, exponent))


def orifice(x, c):
    """x/(x² + c)^¼."""
    if c.by:
        return x / sqrt(sqrt(square(x) + c))
    return through(x, iv.orifice(x.value, c.value), iv.orifice_slope(x.value, c.value))


def chosen(first, second, a: Slope, b: Slope, value: Interval) -> Slope:
    """a's derivatives where `first`, b's where `second`, the hull of both where neither is known."""
    by = {}
    for k in {*a.by, *b.by}:
        x = a.by.get(k, Interval(0.0))
        y = b.by.get(k, Interval(0.0))
        both = x.hull(y)
        low = np.where(first, x.lo, np.where(second, y.lo, both.lo))
        by[k] = Interval(low, np.where(first, x.hi, np.where(second, y.hi, both.hi)))
    return Slope(value, by)


def maximum(a, b):
    value = Interval(np.maximum(a.value.lo, b.value.lo), np.maximum(a.value.hi, b.value.hi))
    return chosen(a.value.lo >= b.value.hi, b.value.lo >= a.value.hi, a, b, value)


def minimum(a, b):
    value = Interval(np.minimum(a.value.lo, b.value.lo), np.minimum(a.value.hi, b.value.hi))
    return chosen(a.value.hi <= b.value.lo, b.value.hi <= a.value.lo, a, b, value)


def absolute(a):
    return maximum(a, -a)


def stepped(value: Interval, *sources: Slope) -> Slope:
    """A value that jumps: no derivative unless it is one number over the whole box, zero then."""
    free = {k for s in sources for k in s.by}
    still = value.lo == value.hi
    low = np.where(still, 0.0, -np.inf)
    return Slope(value, dict.fromkeys(free, Interval(low, -low)))
