"""A value beside that of the centre's run, as a linear form of how far the states are from it. For every run of a set (`spread`)

    f(x) − f(c) = a·e + Σ_k b_k κ_k + δ,   e = x − c,   |κ_k| ≤ 1,   |δ| ≤ rest,   f(x) in `value`,   f(c) in `at`

The sum is bounded over the whole set at once, so that what cancels in a does so in the bound r of |f(x) − f(c)|, too:

    fg       Δ(fg) = g Δf + f(c) Δg,   g replaced by a number:      rest  |m_g| ρ_f + |m_f| ρ_g + rad(g) r_f + rad(f(c)) r_g
    f/g      Δ(f/g) = w/g,  w = Δf − (f/g)(c) Δg, a form itself:    rest  |m| ρ_w + rad(1/g) r_w
    φ(f)     Δφ = s Δf, s a slope of φ (`chords`):                  rest  |m| ρ_f + rad(s) r_f
    max      Δmax(f, g) = m Δf + (1 − m) Δg + κ,  min + max = f + g,  |f| = 2 max(f, 0) − f

At a kink d = f − g, |Δd| ≤ r, and max(d, 0) has slopes between c/r and 1 from a d(c) = c > 0, between 0 and 1 − |c|/r from
a c < 0. What that leaves open is one number κ for maximum, minimum and size of a pair: of opposite signs in the first two, so
that a law that divides them by its valve's two sizes leaves open the difference alone. Why this is so: docs/theory/tube.md.

Coefficients are sums of products of floats: those stored are off by no more than γ times the same sums of sizes (`size`),
γ = 4 n 2⁻⁵² for n operations.

Source: [Stolfi97] for forms with shared symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import chords
from . import interval as iv
from .balls import UNIT, up
from .interval import Interval, interval, outward

MORE = 1 + 16 * UNIT  # covers the few roundings of one operation on bounds ≥ 0
ZERO = Interval(0.0)
ONE = Interval(1.0)


class Form:
    """See the module. line: (rows, columns) as `spread` lays them out, None where the value is the same for all runs."""

    __slots__ = ("value", "at", "line", "rest", "size", "of", "known")

    def __init__(self, value, at=None, line=None, rest: Any = 0.0, size: Any = 0.0, of=None):
        self.value = value
        self.at = value if at is None else at
        self.line = line
        self.rest = rest
        self.size = size
        self.of = of
        self.known = None

    @property
    def same(self) -> bool:
        """Whether it is one number for all runs."""
        return self.line is None

    @property
    def reach(self) -> np.ndarray:
        """Bounds of |f(x) − f(c)|."""
        if self.known is None:
            self.known = up(self.of.along(self.line) + self.of.γ * self.size + self.rest)
            near = outward(self.at.lo - self.known, self.at.hi + self.known)
            low = np.maximum(self.value.lo, near.lo)
            self.value = Interval(low, np.maximum(np.minimum(self.value.hi, near.hi), low))
        return self.known

    @property
    def near(self) -> Interval:
        """The value, no farther from f(c) than that."""
        _ = self.reach
        return self.value

    def __add__(self, other):
        b = form(other)
        value = self.value + b.value
        if self.same and b.same:
            return Form(value)
        line = joined(self.line, b.line)
        rest = (self.rest + b.rest) * MORE
        return Form(value, self.at + b.at, line, rest, self.size + b.size, self.of or b.of)

    def __sub__(self, other):
        return self + (-form(other))

    def __neg__(self):
        if self.same:
            return Form(-self.value)
        at = -self.at
        found = Form(-self.value, at, -self.line, self.rest, self.size, self.of)
        found.known = self.known
        return found

    def __mul__(self, other):
        b = form(other)
        if b.same:
            return self.times(b.value)
        if self.same:
            return b.times(self.value)
        r = self.reach
        s = b.reach
        m, wide = middle(b.near)
        k, off = middle(self.at)
        line = joined(weighed(self.line, m), weighed(b.line, k))
        rest = (np.abs(m) * self.rest + np.abs(k) * b.rest + wide * r + off * s) * MORE
        size = np.abs(m) * self.size + np.abs(k) * b.size
        return Form(self.value * b.value, self.at * b.at, line, rest, size, self.of)

    def times(self, factor: Interval) -> Form:
        """The form times a number that is the same for all runs; times 0 it is 0, even where it jumps."""
        if self.same:
            return Form(self.value * factor)
        if not np.ndim(factor.lo) and factor.lo == 0 == factor.hi:
            return Form(ZERO)
        m, wide = middle(factor)
        rest = (np.abs(m) * self.rest + wide * (2 * self.size + self.rest)) * MORE
        line = weighed(self.line, m)
        size = np.abs(m) * self.size
        return Form(self.value * factor, self.at * factor, line, rest, size, self.of)

    def __truediv__(self, other):
        b = form(other)
        if b.same:
            return self.times(ONE / b.value) if not self.same else Form(self.value / b.value)
        below = b.near
        q = self.at / b.at
        top = self - b.times_at(q)
        return top.through(self.value / below, q, ONE / below)

    def times_at(self, factor: Interval) -> Form:
        """The form times a number that differs from row to row and is known within bounds."""
        m, wide = middle(factor)
        rest = (np.abs(m) * self.rest + wide * self.reach) * MORE
        line = weighed(self.line, m)
        size = np.abs(m) * self.size
        return Form(self.value * factor, self.at * factor, line, rest, size, self.of)

    def through(self, value: Interval, at: Interval, slope: Interval) -> Form:
        """φ of it: Δφ = s Δf with s between the bounds of `slope`."""
        m, wide = middle(slope)
        rest = (np.abs(m) * self.rest + wide * self.reach) * MORE
        return Form(value, at, weighed(self.line, m), rest, np.abs(m) * self.size, self.of)

    def selected(self, yes: Any, no: Any, hull: Form, pick: Any) -> Form:
        """Row by row: it, zero, or a value between the two that tells nothing of what it does."""
        of = self.of or hull.of
        value = pick(self.value, hull.value)
        at = pick(self.at, hull.at)
        if of is None:
            return Form(value)
        rest = np.where(yes, self.rest, np.where(no, 0.0, np.inf))
        line = of.nothing() if self.same else self.line * np.where(yes, 1.0, 0.0)[..., None]
        return Form(value, at, line, rest, np.where(yes, self.size, 0.0), of)


def form(x) -> Form:
    return x if isinstance(x, Form) else Form(interval(x))


def middle(x: Interval) -> tuple:
    """A number near the middle, and what it is off by at most; 0 and ∞ where there are no bounds."""
    wide = x.rad
    return np.where(np.isfinite(wide), x.mid, 0.0), wide


def weighed(line: np.ndarray, m: np.ndarray) -> np.ndarray:
    return line * (m[:, None] if np.ndim(m) else m)


def joined(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray:
    """The sum of two lines; one that was made before a kink lacks its column."""
    if a is None or b is None:
        return b if a is None else a
    short, long = sorted((a, b), key=lambda x: x.shape[1])
    if short.shape[1] == long.shape[1]:
        return short + long
    found = long.copy()
    found[:, : short.shape[1]] += short
    return found


def of(name: str):
    """A function of one number, by its chords."""
    f = getattr(iv, name)
    chord = getattr(chords, name)

    def over(x: Form) -> Form:
        if x.same:
            return Form(f(x.value))
        y = f(x.near)
        d = f(x.at)
        return x.through(y, d, chord(x.near, x.at, y, d))

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


def power(x: Form, exponent: float) -> Form:
    """x to the power of a fixed exponent."""
    if x.same:
        return Form(iv.power(x.value, exponent))
    y = iv.power(x.near, exponent)
    d = iv.power(x.at, exponent)
    return x.through(y, d, chords.power(x.near, exponent))


def orifice(x: Form, c: Form) -> Form:
    """x/(x² + c)^¼."""
    if not c.same:
        return x / sqrt(sqrt(square(x) + c))
    if x.same:
        return Form(iv.orifice(x.value, c.value))
    y = iv.orifice(x.near, c.value)
    d = iv.orifice(x.at, c.value)
    return x.through(y, d, iv.orifice_slope(x.near, c.value))


def maximum(a: Form, b: Form) -> Form:
    return kinked(a, b, 1.0)


def minimum(a: Form, b: Form) -> Form:
    return kinked(a, b, -1.0)


def absolute(a: Form) -> Form:
    value = iv.absolute(a.value)
    if a.same:
        return Form(value)
    m, κ = a.of.shared(a, Form(ZERO))
    m = 2.0 * m - 1.0
    line = a.line * m[:, None]
    size = np.abs(m) * a.size
    if κ is not None:
        line = joined(line, 2.0 * κ)
        size = size + 2.0 * np.abs(κ).sum(axis=1)
    return Form(value, iv.absolute(a.at), line, some(np.abs(m), a.rest) * MORE, size, a.of)


def kinked(a: Form, b: Form, sign: float) -> Form:
    """The larger of two (sign 1) or the smaller (−1)."""
    side = iv.maximum if sign > 0 else iv.minimum
    value = side(a.value, b.value)
    if a.same and b.same:
        return Form(value)
    m, κ = (a.of or b.of).shared(a, b)
    if sign < 0:
        m = 1.0 - m
    if (m == 1.0).all() and κ is None:
        return a
    if (m == 0.0).all() and κ is None:
        return b
    line = joined(part(a.line, m), part(b.line, 1.0 - m))
    rest = (some(m, a.rest) + some(1.0 - m, b.rest)) * MORE
    size = m * a.size + (1.0 - m) * b.size
    if κ is not None:
        line = joined(line, sign * κ)
        size = size + np.abs(κ).sum(axis=1)
    return Form(value, side(a.at, b.at), line, rest, size, a.of or b.of)


def some(m: np.ndarray, rest: Any) -> np.ndarray:
    """m times a bound; nothing of one that is not bounded where m is 0."""
    return np.where(m == 0, 0.0, m * rest)


def part(line: np.ndarray | None, m: np.ndarray) -> np.ndarray | None:
    return None if line is None else line * m[:, None]


def stepped(value: Interval, *sources: Form) -> Form:
    """A value that jumps: nothing is known of how it changes unless it is one number over the whole box."""
    moved = [s for s in sources if not s.same]
    if not moved:
        return Form(value)
    rest = np.where(value.lo == value.hi, 0.0, np.inf)
    return Form(value, value, moved[0].of.nothing(), rest, 0.0, moved[0].of)
