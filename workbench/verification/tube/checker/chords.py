"""Bounds of (f(x) − f(c))/(x − c) for x in a box X and c in C ⊂ X, f one of the functions of one number; y = f(X), d = f(C).

√ has 1/(√x + √c), the square x + c, both exactly; others the derivative over X, by the mean value theorem. For C = X all of
them are bounds of the derivative.

Source: [Neumaier90] chapter 2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from . import interval as iv
from .interval import Interval

ONE = Interval(1.0)


def sqrt(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return ONE / (y + d)


def square(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return x + c


def sin(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return iv.cos(x)


def cos(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return -iv.sin(x)


def exp(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return y


def log(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return ONE / x


def tanh(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    s = ONE - iv.square(y)
    return Interval(np.maximum(s.lo, 0.0), s.hi)


def arctan(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return ONE / (iv.square(x) + 1.0)


def sinh(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return iv.cosh(x)


def cosh(x: Interval, c: Interval, y: Interval, d: Interval) -> Interval:
    return iv.sinh(x)


def power(x: Interval, exponent: float) -> Interval:
    """Of x to the power of a fixed exponent."""
    # Off by a unit in the last place, where it is: x to the power of that is 1 to 2e-13.
    less = exponent - 1.0
    exact = Fraction(less) + 1 == Fraction(exponent)
    rounded = ONE if exact else Interval(1 - 1e-12, 1 + 1e-12)
    return iv.power(x, less) * exponent * rounded
