"""Taylor series in time with interval coefficients: x(t_0 + s) = Σ x_j s^j, of everything that a program computes.

The recurrences are those of automatic differentiation. Where a kink or a jump is not decided the second and later
coefficients are everything (the first is the hull of both sides), so only a remainder of second order is left there.

Source: [Moore09] chapter 9.
"""

from __future__ import annotations

import numpy as np

from . import interval as iv
from .interval import Interval, interval
from .slope import EVERYTHING


class Series:
    """Coefficients, as many as its `parts` are long."""

    __slots__ = ("parts",)

    def __init__(self, parts):
        self.parts = list(parts)

    def __add__(self, other):
        a, b = equal(self, other)
        return Series(x + y for x, y in zip(a, b))

    def __sub__(self, other):
        a, b = equal(self, other)
        return Series(x - y for x, y in zip(a, b))

    def __neg__(self):
        return Series(-x for x in self.parts)

    def __mul__(self, other):
        a, b = equal(self, other)
        if constant(b):
            return Series(x * b[0] for x in a)
        if constant(a):
            return Series(x * a[0] for x in b)
        return Series(folded(a, b, 0, j) for j in range(len(a)))

    def __truediv__(self, other):
        a, b = equal(self, other)
        if constant(b):
            return Series(x / b[0] for x in a)
        found = []
        for j in range(len(a)):
            known = total(found[i] * b[j - i] for i in range(j))
            found.append((a[j] - known) / b[0])
        return Series(found)


ZERO = Interval(0.0)


def equal(a: Series, b) -> tuple[list, list]:
    """Coefficients of both, as many as the longer has."""
    x = a.parts
    y = b.parts if isinstance(b, Series) else [interval(b)]
    n = max(len(x), len(y))
    return x + [ZERO] * (n - len(x)), y + [ZERO] * (n - len(y))


def constant(parts: list) -> bool:
    return all(p is ZERO for p in parts[1:])


def total(terms) -> Interval:
    found = ZERO
    for term in terms:
        found = term if found is ZERO else found + term
    return found


def folded(a: list, b: list, first: int, j: int) -> Interval:
    """Σ a_i b_{j−i} from i = first on; what is exactly zero is left out."""
    pairs = [(a[i], b[j - i]) for i in range(first, j + 1)]
    return total(x * y for x, y in pairs if x is not ZERO and y is not ZERO)


def sqrt(x):
    a = x.parts
    found = [iv.sqrt(a[0])]
    twice = found[0] * 2.0
    for j in range(1, len(a)):
        inner = total(found[i] * found[j - i] for i in range(1, j))
        found.append((a[j] - inner) / twice)
    return Series(found)


def square(x):
    return Series([iv.square(x.parts[0]), *(x * x).parts[1:]])


def orifice(x, c):
    """x/(x² + c)^¼ = x/q; what its own bounds give is put in place of the first two coefficients."""
    a = x.parts
    if not constant(c.parts):
        return x / sqrt(sqrt(square(x) + c))
    q = sqrt(sqrt(square(x) + c)).parts
    found = [iv.orifice(a[0], c.parts[0])]
    for j in range(1, len(a)):
        if j == 1:
            found.append(iv.orifice_slope(a[0], c.parts[0]) * a[1])
            continue
        known = total(found[i] * q[j - i] for i in range(j))
        found.append((a[j] - known) / q[0])
    return Series(found)


def _driven(x: Series, start: Interval, rate) -> Series:
    """y with y' = rate(y so far) x': y_j = Σ_{i=1..j} (i/j) x_i r_{j−i}."""
    a = x.parts
    found = [start]
    for j in range(1, len(a)):
        r = rate(Series(found)).parts
        found.append(
            total(a[i] * r[j - i] * (Interval(float(i)) / float(j)) for i in range(1, j + 1))
        )
    return Series(found)


def exp(x):
    return _driven(x, iv.exp(x.parts[0]), lambda y: y)


def log(x):
    return _driven(x, iv.log(x.parts[0]), lambda y: Series([Interval(1.0)]) / _cut(x, y))


def tanh(x):
    return _driven(x, iv.tanh(x.parts[0]), lambda y: Series([Interval(1.0)]) - y * y)


def arctan(x):
    one = Series([Interval(1.0)])
    return _driven(x, iv.arctan(x.parts[0]), lambda y: one / (_cut(x, y) * _cut(x, y) + one))


def _cut(x: Series, y: Series) -> Series:
    return Series(x.parts[: len(y.parts)])


def _pair(x: Series, f: Interval, g: Interval, sign: float) -> tuple[Series, Series]:
    """y and z with y' = z x', z' = sign y x'."""
    a = x.parts
    y = [f]
    z = [g]
    for j in range(1, len(a)):
        share = [a[i] * (Interval(float(i)) / float(j)) for i in range(1, j + 1)]
        up = total(s * z[j - 1 - i] for i, s in enumerate(share))
        down = total(s * y[j - 1 - i] for i, s in enumerate(share))
        y.append(up)
        z.append(down * sign)
    return Series(y), Series(z)


def sin(x):
    return _pair(x, iv.sin(x.parts[0]), iv.cos(x.parts[0]), -1.0)[0]


def cos(x):
    return _pair(x, iv.sin(x.parts[0]), iv.cos(x.parts[0]), -1.0)[1]


def sinh(x):
    return _pair(x, iv.sinh(x.parts[0]), iv.cosh(x.parts[0]), 1.0)[0]


def cosh(x):
    return _pair(x, iv.sinh(x.parts[0]), iv.cosh(x.parts[0]), 1.0)[1]


def power(x, exponent):
    """y = x^c from x y' = c y x'."""
    a = x.parts
    found = [iv.power(a[0], exponent)]
    for j in range(1, len(a)):
        weights = [Interval(exponent) * float(i) - float(j - i) for i in range(1, j + 1)]
        known = total(w * a[i] * found[j - i] for i, w in enumerate(weights, 1))
        found.append(known / (a[0] * float(j)))
    return Series(found)


def chosen(first, second, a: list, b: list, value: Interval) -> Series:
    """a where `first`, b where `second`; where neither is known only value and rate are bounded."""
    found = [value]
    for j in range(1, len(a)):
        other = a[j].hull(b[j]) if j == 1 else EVERYTHING
        low = np.where(first, a[j].lo, np.where(second, b[j].lo, other.lo))
        high = np.where(first, a[j].hi, np.where(second, b[j].hi, other.hi))
        found.append(Interval(low, high))
    return Series(found)


def maximum(x, y):
    a, b = equal(x, y)
    value = Interval(np.maximum(a[0].lo, b[0].lo), np.maximum(a[0].hi, b[0].hi))
    first = a[0].lo >= b[0].hi
    return chosen(first, b[0].lo >= a[0].hi, a, b, value)


def minimum(x, y):
    a, b = equal(x, y)
    value = Interval(np.minimum(a[0].lo, b[0].lo), np.minimum(a[0].hi, b[0].hi))
    first = a[0].hi <= b[0].lo
    return chosen(first, b[0].hi <= a[0].lo, a, b, value)


def absolute(x):
    return maximum(x, -x)


def stepped(value: Interval, *sources: Series) -> Series:
    """A value that may jump: no rate unless it is decided."""
    longest = max(len(s.parts) for s in sources)
    if longest == 1 or all(constant(s.parts) for s in sources):
        return Series([value])
    low = np.where(value.lo == value.hi, 0.0, -np.inf)
    return Series([value] + [Interval(low, -low)] * (longest - 1))
