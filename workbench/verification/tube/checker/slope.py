"""A value with its slopes, all as intervals: for every x of a box X and every c of a smaller box C in it

    f(x) − f(c) = Σ_i s_i (x_i − c_i),   s_i in `by`,   f(x) in `value`,   f(c) in `at`

by the rules of divided differences: fg has s_f g(x) + f(c) s_g, f² has (f(x) + f(c)) s_f, √f has s_f/(√f(x) + √f(c)), f/g has
(s_f − (f/g)(c) s_g)/g(x); functions of one number and edges by the mean value theorem. Where C is X, `at` is `value`, and these are
bounds of the derivatives ∂f/∂x_i over X, since x may be as near to c as one likes: then the rules are those of the chain rule.

At a kink (min, max, |·|) that the box straddles the slope is in the hull of both sides, which contains Clarke's derivative. A
jump (a comparison, sign, rounding) that the box does not decide has no derivative: (−∞, ∞), which proves nothing.
A jump that is decided, one number over the whole box, has the derivative zero.

Source: [Neumaier90] chapter 2.
"""

from __future__ import annotations

import numpy as np

from . import interval as iv
from .interval import Interval, interval

EVERYTHING = Interval(np.array(-np.inf), np.array(np.inf))


class Slope:
    """A value, {number of the variable: slope}, and the value in C; a variable that is not there has the slope zero."""

    __slots__ = ("value", "by", "at")

    def __init__(self, value: Interval, by: dict | None = None, at: Interval | None = None):
        self.value = value
        self.by = by or {}
        self.at = value if at is None else at

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
        right = scaled(b.by, self.at)
        return Slope(self.value * b.value, merged(left, right, lambda x, y: x + y))

    def __truediv__(self, other):
        b = slope(other)
        top = merged(self.by, scaled(b.by, -(self.at / b.at)), lambda x, y: x + y)
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
    """f(x), where f has this value and this slope, or derivative."""
    return Slope(value, scaled(x.by, derivative))


def sqrt(x):
    y = iv.sqrt(x.value)
    return through(x, y, Interval(1.0) / (y + iv.sqrt(x.at)))


def square(x):
    return through(x, iv.square(x.value), x.value + x.at)


def orifice(x, c):
    """x/(x² + c)^¼."""
    if c.by:
        return x / sqrt(sqrt(square(x) + c))
    return through(x, iv.orifice(x.value, c.value), iv.orifice_slope(x.value, c.value))


def sin(x):
    return through(x, iv.sin(x.value), iv.cos(x.value))


def cos(x):
    return through(x, iv.cos(x.value), -iv.sin(x.value))


def exp(x):
    y = iv.exp(x.value)
    return through(x, y, y)


def log(x):
    return through(x, iv.log(x.value), Interval(1.0) / x.value)


def tanh(x):
    y = iv.tanh(x.value)
    d = Interval(1.0) - iv.square(y)
    return through(x, y, Interval(np.maximum(d.lo, 0.0), d.hi))


def arctan(x):
    return through(x, iv.arctan(x.value), Interval(1.0) / (iv.square(x.value) + 1.0))


def sinh(x):
    return through(x, iv.sinh(x.value), iv.cosh(x.value))


def cosh(x):
    return through(x, iv.cosh(x.value), iv.sinh(x.value))


def power(x, exponent):
    """Slopes of x to the power of a fixed exponent."""
    value = iv.power(x.value, exponent)
    less = exponent - 1.0  # off by 2⁻⁵³, which x to the power of it shows
    rounded = (
        Interval(1 - 1e-12, 1 + 1e-12) if less + 1.0 != exponent or less % 1 else Interval(1.0)
    )
    return through(x, value, iv.power(x.value, less) * exponent * rounded)


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
