"""The rules of interval arithmetic: what every operation of a graph makes of boxes, rounded outwards.

Every result is widened outwards: one unit in the last place for + − × ÷ √ (correctly rounded), four for library functions. A root
of a partly negative interval is clipped and is not sure.

Source of the method: interval arithmetic with outward rounding [Moore09].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.scalars import Scalar

INF = np.inf


class Box(NamedTuple):
    """Lower and upper bounds, arrays of equal shape (N,); `sure` is False where a function's domain was left."""

    low: np.ndarray
    high: np.ndarray
    sure: np.ndarray

    @property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Both bounds."""
        return self.low, self.high

    @property
    def nonnegative(self) -> np.ndarray:
        """Whether no number in it is below zero."""
        return self.low >= 0

    @property
    def around_zero(self) -> np.ndarray:
        """Whether zero is in it."""
        return (self.low <= 0) & (self.high >= 0)

    @property
    def size(self) -> np.ndarray:
        """The largest absolute value in it."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def out(low: Scalar, high: Scalar, sure: Any, ulps: int = 1) -> Box:
    """Widened outwards; anything that is not a number becomes everything, unsure."""
    bad = np.isnan(low) | np.isnan(high)
    for _ in range(ulps):
        low = np.nextafter(low, -INF)
        high = np.nextafter(high, INF)
    least = np.where(bad, -INF, low)
    most = np.where(bad, INF, high)
    return Box(least, most, sure & ~bad)


def _kept(found: Box, a: Box, b: Box) -> Box:
    """Sums and products of what is nowhere negative are not either, whatever was rounded: √(x² + y²) stays defined."""
    kept = a.nonnegative & b.nonnegative
    raised = np.maximum(found.low, 0.0)
    low = np.where(kept, raised, found.low)
    return Box(low, found.high, found.sure)


def _add(a: Box, b: Box) -> Box:
    low = a.low + b.low
    high = a.high + b.high
    return _kept(out(low, high, a.sure & b.sure), a, b)


def _mul(a: Box, b: Box) -> Box:
    corners = np.array([x * y for x in a.ends for y in b.ends])
    # 0 · ∞ at a corner: the other corners carry the bound
    corners = np.where(np.isnan(corners), 0.0, corners)
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    return _kept(out(low, high, a.sure & b.sure), a, b)


def _div(a: Box, b: Box) -> Box:
    through = b.around_zero
    corners = np.array([x / y for x in a.ends for y in b.ends])
    low = np.where(through, -INF, corners.min(axis=0))
    high = np.where(through, INF, corners.max(axis=0))
    sure = a.sure & b.sure & ~through
    return out(low, high, sure)


def _square(a: Box) -> Box:
    x = a.low**2
    y = a.high**2
    b = out(np.minimum(x, y), np.maximum(x, y), a.sure)
    least = np.maximum(b.low, 0.0)
    low = np.where(a.around_zero, 0.0, least)
    return Box(low, b.high, b.sure)


def _sqrt(a: Box) -> Box:
    low = np.sqrt(np.maximum(a.low, 0.0))
    high = np.sqrt(np.maximum(a.high, 0.0))
    b = out(low, high, a.sure & a.nonnegative)
    return Box(np.maximum(b.low, 0.0), b.high, b.sure)


def _rising(f: Callable) -> Callable:
    return lambda a: out(f(a.low), f(a.high), a.sure, 4)


def _sin(a: Box, shift: float = 0.0) -> Box:
    # Extremes at π/2 + kπ, with a margin for the rounding of π; wide or huge intervals get [−1, 1].
    f = np.cos if shift else np.sin
    at_low = f(a.low)
    at_high = f(a.high)
    ε = 1e-12 * (1 + a.size)

    def reached(quarter: float) -> np.ndarray:
        """Whether a whole number of turns beyond a quarter of one lies in the interval."""
        last = np.floor((a.high + ε + quarter + shift) / (2 * np.pi))
        first = np.ceil((a.low - ε + quarter + shift) / (2 * np.pi))
        return last >= first

    top = reached(-np.pi / 2)
    bottom = reached(np.pi / 2)
    finite = np.isfinite(a.low) & np.isfinite(a.high)
    wide = (a.size > 1e6) | ~finite
    low = np.where(bottom | wide, -1.0, np.minimum(at_low, at_high))
    high = np.where(top | wide, 1.0, np.maximum(at_low, at_high))
    b = out(low, high, a.sure, 4)
    low = np.maximum(b.low, -1.0)
    high = np.minimum(b.high, 1.0)
    return Box(low, high, b.sure)


def _power(a: Box, b: Box) -> Box:
    single = b.low == b.high
    whole = single & (b.low == np.round(b.low)) & b.nonnegative
    bases = [np.where(whole, x, np.maximum(x, 0.0)) for x in a.ends]
    corners = np.array([np.power(x, y) for x in bases for y in b.ends])
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    changes_sign = (a.low < 0) & (a.high > 0)
    even = whole & (b.low % 2 == 0) & changes_sign
    defined = whole | (a.low > 0)
    sure = a.sure & b.sure & defined
    return out(np.where(even, 0.0, low), high, sure, 4)


def _truth(yes: Any, no: Any, a: Box, b: Box) -> Box:
    """A comparison is as sure as what it compares: of a root outside its domain nothing is less or more."""
    return Box(yes.astype(float), 1.0 - no.astype(float), a.sure & b.sure)


def _same(a: Box, b: Box) -> Any:
    single = (a.low == a.high) & (b.low == b.high)
    return single & (a.low == b.low)


def _apart(a: Box, b: Box) -> Any:
    return (a.high < b.low) | (b.high < a.low)


def _abs(a: Box) -> Box:
    x = np.abs(a.low)
    y = np.abs(a.high)
    low = np.where(a.around_zero, 0.0, np.minimum(x, y))
    return Box(low, np.maximum(x, y), a.sure)


RULES: dict[int, Callable] = {
    ca.OP_ADD: _add,
    ca.OP_SUB: lambda a, b: out(a.low - b.high, a.high - b.low, a.sure & b.sure),
    ca.OP_MUL: _mul,
    ca.OP_DIV: _div,
    ca.OP_SQ: _square,
    ca.OP_SQRT: _sqrt,
    ca.OP_NEG: lambda a: Box(-a.high, -a.low, a.sure),
    ca.OP_TWICE: lambda a: Box(2 * a.low, 2 * a.high, a.sure),
    ca.OP_INV: lambda a: _div(Box(np.ones_like(a.low), np.ones_like(a.low), a.sure), a),
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_SIN: _sin,
    ca.OP_COS: lambda a: _sin(a, np.pi / 2),
    ca.OP_EXP: _rising(np.exp),
    ca.OP_TANH: _rising(np.tanh),
    ca.OP_ATAN: _rising(np.arctan),
    ca.OP_SINH: _rising(np.sinh),
    ca.OP_LOG: lambda a: out(
        np.log(np.maximum(a.low, 0.0)), np.log(np.maximum(a.high, 0.0)), a.sure & (a.low > 0), 4
    ),
    ca.OP_POW: _power,
    ca.OP_CONSTPOW: _power,
    ca.OP_FABS: _abs,
    ca.OP_SIGN: lambda a: Box(np.sign(a.low), np.sign(a.high), a.sure),
    ca.OP_FLOOR: lambda a: Box(np.floor(a.low), np.floor(a.high), a.sure),
    ca.OP_CEIL: lambda a: Box(np.ceil(a.low), np.ceil(a.high), a.sure),
    ca.OP_FMIN: lambda a, b: Box(
        np.minimum(a.low, b.low), np.minimum(a.high, b.high), a.sure & b.sure
    ),
    ca.OP_FMAX: lambda a, b: Box(
        np.maximum(a.low, b.low), np.maximum(a.high, b.high), a.sure & b.sure
    ),
    ca.OP_HYPOT: lambda a, b: _sqrt(_add(_square(a), _square(b))),
    ca.OP_LT: lambda a, b: _truth(a.high < b.low, a.low >= b.high, a, b),
    ca.OP_LE: lambda a, b: _truth(a.high <= b.low, a.low > b.high, a, b),
    ca.OP_EQ: lambda a, b: _truth(_same(a, b), _apart(a, b), a, b),
    ca.OP_NE: lambda a, b: _truth(_apart(a, b), _same(a, b), a, b),
    ca.OP_NOT: lambda a: Box(1.0 - a.high, 1.0 - a.low, a.sure),
    ca.OP_AND: lambda a, b: Box(
        np.minimum(a.low, b.low), np.minimum(a.high, b.high), a.sure & b.sure
    ),
    ca.OP_OR: lambda a, b: Box(
        np.maximum(a.low, b.low), np.maximum(a.high, b.high), a.sure & b.sure
    ),
}
