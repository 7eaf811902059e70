"""Intervals of floats, many at once: bounds that contain every real result, by rounding outwards.

    a ∘ b ∈ [lo, hi]     each bound is moved outwards by one unit in the last place or more after + − × ÷ √,
                         by 16 units after library functions (sin, cos, exp, tanh, log, arctan, powers)

A result that is not a number becomes (−∞, ∞), which proves nothing. Entries are arrays of equal shape, or single numbers.

Source: [Moore09].
"""

from __future__ import annotations

import numpy as np

UNIT = 2.0**-52
LEAST = 1e-300  # covers underflow
NEAR = 1e-290  # of 0: only here may what covers underflow lead a product across it


class Interval:
    """Bounds `lo` ≤ `hi`, arrays or numbers."""

    __slots__ = ("lo", "hi")

    def __init__(self, lo, hi=None):
        self.lo = lo
        self.hi = lo if hi is None else hi

    def __add__(self, other):
        b = interval(other)
        if whole(self) and whole(b):
            return Interval(self.lo + b.lo)
        return outward(self.lo + b.lo, self.hi + b.hi)

    def __sub__(self, other):
        b = interval(other)
        if whole(self) and whole(b):
            return Interval(self.lo - b.lo)
        return outward(self.lo - b.hi, self.hi - b.lo)

    def __mul__(self, other):
        b = interval(other)
        low, high = product(self, b)
        found = outward(low, high, least=LEAST)
        far = np.minimum(np.abs(low), np.abs(high)) > NEAR
        return found if far.all() else signed(found, self, b)

    def __truediv__(self, other):
        b = interval(other)
        through = (b.lo <= 0) & (b.hi >= 0)
        corners = [np.divide(x, y) for x in (self.lo, self.hi) for y in (b.lo, b.hi)]
        low, high = extremes(corners)
        low = np.where(through, -np.inf, low)
        high = np.where(through, np.inf, high)
        return outward(low, high, least=LEAST)

    def __neg__(self):
        return Interval(-self.hi, -self.lo)

    __radd__ = __add__

    def __rmul__(self, other):
        return interval(other) * self

    def __rsub__(self, other):
        return interval(other) - self

    def __rtruediv__(self, other):
        return interval(other) / self

    @property
    def mid(self):
        """A float near the middle."""
        return self.lo + 0.5 * (self.hi - self.lo)

    @property
    def rad(self):
        """What `mid` is off by at most; ∞ where the interval is not bounded."""
        middle = self.mid
        wide = np.maximum(self.hi - middle, middle - self.lo)
        return np.where(np.isfinite(wide), wide * (1 + 4 * UNIT) + LEAST, np.inf)

    @property
    def size(self):
        """max |x|."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    def hull(self, other):
        b = interval(other)
        return Interval(np.minimum(self.lo, b.lo), np.maximum(self.hi, b.hi))

    def inside(self, other):
        """Whether it lies in `other`, entry by entry."""
        return (self.lo >= other.lo) & (self.hi <= other.hi)


def interval(x) -> Interval:
    """A number as an interval."""
    return x if isinstance(x, Interval) else Interval(x)


def whole(a: Interval) -> bool:
    """Whether it is one small whole number, of which sums are exact: counts of samples are compared later."""
    if np.ndim(a.lo) or a.lo != a.hi:
        return False
    return abs(a.lo) < 2.0**40 and float(a.lo).is_integer()


def outward(low, high, units: float = 1.0, least: float = 0.0) -> Interval:
    """Bounds moved outwards by so many units in the last place; not-a-number becomes everything."""
    below = np.abs(low) * (units * UNIT)
    above = np.abs(high) * (units * UNIT)
    if least:
        below = below + least
        above = above + least
    low = low - below
    high = high + above
    if not (low <= high).all():
        bad = np.isnan(low) | np.isnan(high)
        low = np.where(bad, -np.inf, low)
        high = np.where(bad, np.inf, high)
    return Interval(low, high)


def extremes(corners):
    low = np.minimum(np.minimum(corners[0], corners[1]), np.minimum(corners[2], corners[3]))
    high = np.maximum(np.maximum(corners[0], corners[1]), np.maximum(corners[2], corners[3]))
    return low, high


def product(a: Interval, b: Interval):
    """Bounds of the product before rounding; 0 · ∞ stays not a number, which `outward` turns into everything."""
    if a.lo is a.hi and b.lo is b.hi:
        p = a.lo * b.lo
        return p, p
    if a.lo is a.hi or b.lo is b.hi:
        point, other = (a, b) if a.lo is a.hi else (b, a)
        x = point.lo * other.lo
        y = point.lo * other.hi
        return np.minimum(x, y), np.maximum(x, y)
    return extremes([x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)])


def signed(found: Interval, a: Interval, b: Interval) -> Interval:
    """The product of what does not change its sign does not either: bounds that rounding led across zero are put back."""
    up = a.lo >= 0
    down = a.hi <= 0
    raised = b.lo >= 0
    lowered = b.hi <= 0
    positive = (up & raised) | (down & lowered)
    negative = (up & lowered) | (down & raised)
    low = np.where(positive, np.maximum(found.lo, 0.0), found.lo)
    return Interval(low, np.where(negative, np.minimum(found.hi, 0.0), found.hi))


def square(a: Interval) -> Interval:
    x = a.lo * a.lo
    y = a.hi * a.hi
    inside = (a.lo <= 0) & (a.hi >= 0)
    found = outward(np.minimum(x, y), np.maximum(x, y), least=LEAST)
    return Interval(np.where(inside, 0.0, np.maximum(found.lo, 0.0)), found.hi)


def sqrt(a: Interval) -> Interval:
    """The root; everything where the argument may be negative."""
    low = np.where(a.lo < 0, np.nan, np.sqrt(np.maximum(a.lo, 0.0)))
    found = outward(low, np.sqrt(np.maximum(a.hi, 0.0)))
    return Interval(np.where(a.lo >= 0, np.maximum(found.lo, 0.0), found.lo), found.hi)


def rising(f):
    """A function of the library that increases."""
    return lambda a: outward(f(a.lo), f(a.hi), 16.0, LEAST)


exp = rising(np.exp)
tanh = rising(np.tanh)
arctan = rising(np.arctan)
sinh = rising(np.sinh)


def log(a: Interval) -> Interval:
    bad = a.lo <= 0
    safe = Interval(np.where(bad, 1.0, a.lo), np.where(bad, 1.0, a.hi))
    found = rising(np.log)(safe)
    return Interval(np.where(bad, -np.inf, found.lo), np.where(bad, np.inf, found.hi))


def cosh(a: Interval) -> Interval:
    x = np.cosh(a.lo)
    y = np.cosh(a.hi)
    inside = (a.lo <= 0) & (a.hi >= 0)
    low = np.where(inside, 1.0, np.minimum(x, y))
    return outward(low, np.maximum(x, y), 16.0, LEAST)


def _wave(a: Interval, f, shift: float) -> Interval:
    """sin (shift 0) or cos (π/2): extremes at π/2 − shift + kπ, with a margin for the rounding of π."""
    x = f(a.lo)
    y = f(a.hi)
    size = np.maximum(np.abs(a.lo), np.abs(a.hi))
    slack = 1e-12 * (1 + size)

    def meets(phase):
        first = np.floor((a.hi + slack - phase + shift) / (2 * np.pi))
        return first >= np.ceil((a.lo - slack - phase + shift) / (2 * np.pi))

    wide = ~(size < 1e6)
    low = np.where(meets(-np.pi / 2) | wide, -1.0, np.minimum(x, y))
    high = np.where(meets(np.pi / 2) | wide, 1.0, np.maximum(x, y))
    found = outward(low, high, 16.0, LEAST)
    return Interval(np.maximum(found.lo, -1.0), np.minimum(found.hi, 1.0))


def sin(a: Interval) -> Interval:
    return _wave(a, np.sin, 0.0)


def cos(a: Interval) -> Interval:
    return _wave(a, np.cos, np.pi / 2)


def power(a: Interval, exponent: float) -> Interval:
    """a to a fixed exponent; other than whole exponents want a positive base."""
    if exponent == 2:
        return square(a)
    whole = exponent == round(exponent) and 0 <= exponent < 64
    if whole and int(exponent) % 2:
        return outward(np.power(a.lo, exponent), np.power(a.hi, exponent), 64.0, LEAST)
    bad = (a.lo < 0) if whole else (a.lo <= 0)
    low = np.where(bad, 1.0, a.lo) ** exponent
    high = np.where(bad, 1.0, a.hi) ** exponent
    found = outward(np.minimum(low, high), np.maximum(low, high), 64.0, LEAST)
    return Interval(np.where(bad, -np.inf, found.lo), np.where(bad, np.inf, found.hi))


def orifice(a: Interval, c: Interval) -> Interval:
    """a/(a² + c)^¼, which increases with a where c ≥ 0."""
    low, high = (x / sqrt(sqrt(square(x) + c)) for x in (Interval(a.lo), Interval(a.hi)))
    bad = c.lo < 0
    return Interval(np.where(bad, -np.inf, low.lo), np.where(bad, np.inf, high.hi))


def orifice_slope(a: Interval, c: Interval) -> Interval:
    """(a²/2 + c)/(a² + c)^(5/4), the derivative of `orifice`: it decreases with |a| where c ≥ 0.

    Its own derivative by a² is −(a²/8 + 3c/4)/(a² + c)^(9/4).
    """
    far = Interval(a.size)
    near = Interval(np.maximum(np.maximum(a.lo, -a.hi), 0.0))
    low, high = (
        (square(m) * 0.5 + c) / ((square(m) + c) * sqrt(sqrt(square(m) + c))) for m in (far, near)
    )
    bad = c.lo < 0
    return Interval(np.where(bad, -np.inf, low.lo), np.where(bad, np.inf, high.hi))


def maximum(a: Interval, b: Interval) -> Interval:
    return Interval(np.maximum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def minimum(a: Interval, b: Interval) -> Interval:
    return Interval(np.minimum(a.lo, b.lo), np.minimum(a.hi, b.hi))


def absolute(a: Interval) -> Interval:
    return maximum(a, -a)


def stepped(value: Interval, *sources: Interval) -> Interval:
    return value
