"""Intervals through traced graphs: outward-rounded enclosures of what plain NumPy text computes on a box.

Arrays of boxes go through at once. `where` is the hull of both branches unless its condition is decided on the box; a root of
a partly negative interval is clipped, and said to be unsure unless the condition rules its branch out on the whole box. Every
result is widened outwards: one unit in the last place for + − × ÷ √ (correctly rounded), four for library functions.

Source of the method: interval arithmetic with outward rounding [Moore09].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def box(low: Scalar, high: Scalar) -> Box:
    """Box from bounds (broadcast); raises ValueError when low > high or NaN."""
    low, high = np.broadcast_arrays(
        np.atleast_1d(np.asarray(low, float)), np.atleast_1d(np.asarray(high, float))
    )
    if not (low <= high).all():
        raise ValueError("box: expected low ≤ high, numbers everywhere")
    return Box(low.copy(), high.copy(), np.ones(low.shape, bool))


def enclose(f: ca.Function, arguments: Sequence[Sequence[Box]]) -> list[Box]:
    """Enclosures of all outputs of `f` (expressions over columns), flattened; arguments[i][k] is the box of entry k."""
    memory: dict[int, Box] = {}
    made: dict[int, tuple] = {}  # slot → (cond slot's origin, negated, branch value) for `where`
    n = max((len(b.low) for column in arguments for b in column), default=1)
    results: dict[tuple[int, int], Box] = {}
    ids: dict[int, object] = {}
    with np.errstate(all="ignore"):
        for k in range(f.n_instructions()):
            op = f.instruction_id(k)
            o = f.instruction_output(k)
            i = f.instruction_input(k)
            if op == ca.OP_OUTPUT:
                results[o[0], o[1]] = memory[i[0]]
                continue
            origin: Any = None
            if op == ca.OP_INPUT:
                b = arguments[i[0]][i[1]]
                value = Box(*(np.broadcast_to(a, (n,)) for a in b))
            elif op == ca.OP_CONST:
                c = f.instruction_constant(k)
                value = Box(np.full(n, c), np.full(n, c), np.full(n, c == c))
            else:
                args = [memory[s] for s in i]
                value, origin = _operate(
                    op, args, [made.get(s) for s in i], [ids.get(s) for s in i]
                )
            memory[o[0]] = value
            made[o[0]] = origin
            ids[o[0]] = ("not", ids[i[0]]) if op == ca.OP_NOT else object()
    sizes = [f.numel_out(j) for j in range(f.n_out())]
    zero = Box(np.zeros(n), np.zeros(n), np.ones(n, bool))
    return [results.get((j, e), zero) for j, size in enumerate(sizes) for e in range(size)]


def _operate(op: Any, args: Any, origins: Any, ids: Any) -> Any:
    if op == ca.OP_IF_ELSE_ZERO:
        condition, branch = args
        return _chosen(
            condition, branch, Box(*(np.zeros_like(condition.low),) * 2, np.ones_like(branch.sure))
        ), (ids[0], condition, branch)
    if op == ca.OP_ADD and origins[0] and origins[1]:
        (ca_id, c, a), (cb_id, _, b) = origins
        if cb_id == ("not", ca_id):
            return _chosen(c, a, b), None
        if ca_id == ("not", cb_id):
            return _chosen(origins[1][1], b, a), None
    return _RULES[op](*args), None


def _chosen(condition: Box, yes: Box, no: Box) -> Box:
    always = condition.low > 0
    never = condition.high <= 0
    low = np.where(always, yes.low, np.where(never, no.low, np.minimum(yes.low, no.low)))
    high = np.where(always, yes.high, np.where(never, no.high, np.maximum(yes.high, no.high)))
    # On a mixed box the condition need not keep its branch inside a domain (where(x > −1, √x, 0)): both must be sure.
    sure = np.where(always, yes.sure, np.where(never, no.sure, yes.sure & no.sure)) & condition.sure
    return Box(low, high, sure)


def out(low: Scalar, high: Scalar, sure: Any, ulps: int = 1) -> Box:
    """Widened outwards; anything that is not a number becomes everything, unsure."""
    bad = np.isnan(low) | np.isnan(high)
    for _ in range(ulps):
        low = np.nextafter(low, -INF)
        high = np.nextafter(high, INF)
    return Box(np.where(bad, -INF, low), np.where(bad, INF, high), sure & ~bad)


def _kept(found: Box, a: Box, b: Box) -> Box:
    """Sums and products of what is nowhere negative are not either, whatever was rounded: √(x² + y²) stays defined."""
    return Box(
        np.where((a.low >= 0) & (b.low >= 0), np.maximum(found.low, 0.0), found.low),
        found.high,
        found.sure,
    )


def _add(a: Box, b: Box) -> Box:
    return _kept(out(a.low + b.low, a.high + b.high, a.sure & b.sure), a, b)


def _mul(a: Box, b: Box) -> Box:
    corners = np.array([x * y for x in (a.low, a.high) for y in (b.low, b.high)])
    corners = np.where(
        np.isnan(corners), 0.0, corners
    )  # 0 · ∞ at a corner: the other corners carry the bound
    return _kept(out(corners.min(axis=0), corners.max(axis=0), a.sure & b.sure), a, b)


def _div(a: Box, b: Box) -> Box:
    through = (b.low <= 0) & (b.high >= 0)
    corners = np.array([x / y for x in (a.low, a.high) for y in (b.low, b.high)])
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    return out(
        np.where(through, -INF, low), np.where(through, INF, high), a.sure & b.sure & ~through
    )


def _square(a: Box) -> Box:
    inside = (a.low <= 0) & (a.high >= 0)
    x = a.low**2
    y = a.high**2
    b = out(np.minimum(x, y), np.maximum(x, y), a.sure)
    return Box(np.where(inside, 0.0, np.maximum(b.low, 0.0)), b.high, b.sure)


def _sqrt(a: Box) -> Box:
    b = out(
        np.sqrt(np.maximum(a.low, 0.0)), np.sqrt(np.maximum(a.high, 0.0)), a.sure & (a.low >= 0)
    )
    return Box(np.maximum(b.low, 0.0), b.high, b.sure)


def _rising(f: Callable) -> Callable:
    return lambda a: out(f(a.low), f(a.high), a.sure, 4)


def _sin(a: Box, shift: float = 0.0) -> Box:
    # Extremes at π/2 + kπ, with a margin for the rounding of π; wide or huge intervals get [−1, 1].
    f = np.cos if shift else np.sin
    low = np.minimum(f(a.low), f(a.high))
    high = np.maximum(f(a.low), f(a.high))
    ε = 1e-12 * (1 + np.maximum(np.abs(a.low), np.abs(a.high)))
    top = np.floor((a.high + ε - np.pi / 2 + shift) / (2 * np.pi)) >= np.ceil(
        (a.low - ε - np.pi / 2 + shift) / (2 * np.pi)
    )
    bottom = np.floor((a.high + ε + np.pi / 2 + shift) / (2 * np.pi)) >= np.ceil(
        (a.low - ε + np.pi / 2 + shift) / (2 * np.pi)
    )
    wide = (
        (np.maximum(np.abs(a.low), np.abs(a.high)) > 1e6)
        | ~np.isfinite(a.low)
        | ~np.isfinite(a.high)
    )
    b = out(np.where(bottom | wide, -1.0, low), np.where(top | wide, 1.0, high), a.sure, 4)
    return Box(np.maximum(b.low, -1.0), np.minimum(b.high, 1.0), b.sure)


def _power(a: Box, b: Box) -> Box:
    whole = (b.low == b.high) & (b.low == np.round(b.low)) & (b.low >= 0)
    corners = np.array(
        [
            np.power(np.where(whole, x, np.maximum(x, 0.0)), y)
            for x in (a.low, a.high)
            for y in (b.low, b.high)
        ]
    )
    low = corners.min(axis=0)
    high = corners.max(axis=0)
    even = whole & (b.low % 2 == 0) & (a.low < 0) & (a.high > 0)
    return out(np.where(even, 0.0, low), high, a.sure & b.sure & (whole | (a.low > 0)), 4)


def _truth(yes: Any, no: Any, a: Box, b: Box) -> Box:
    """A comparison is as sure as what it compares: of a root outside its domain nothing is less or more."""
    return Box(yes.astype(float), 1.0 - no.astype(float), a.sure & b.sure)


def _same(a: Box, b: Box) -> Any:
    return (a.low == a.high) & (b.low == b.high) & (a.low == b.low)


def _apart(a: Box, b: Box) -> Any:
    return (a.high < b.low) | (b.high < a.low)


def _abs(a: Box) -> Box:
    inside = (a.low <= 0) & (a.high >= 0)
    x = np.abs(a.low)
    y = np.abs(a.high)
    return Box(np.where(inside, 0.0, np.minimum(x, y)), np.maximum(x, y), a.sure)


_RULES: dict[int, Callable] = {
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


def lower_bound(f: Callable, low: float, high: float, pieces: int = 64, rounds: int = 6) -> float:
    """A proven lower bound of the scalar text f on [low, high] (subdivided where it is lowest); −inf where nothing is proven."""
    x = ca.SX.sym("x")
    value = f(x)
    g = ca.Function("f", [x], [value])
    edges = np.linspace(low, high, pieces + 1)
    a = edges[:-1]
    b = edges[1:]
    best = -INF
    for _ in range(rounds):
        (bound,) = enclose(g, [[box(a, b)]])
        lows = np.where(bound.sure, bound.low, -INF)
        best = float(lows.min())
        order = np.argsort(lows)[: pieces // 2]
        rest = np.delete(np.arange(len(a)), order)
        middle = (a[order] + b[order]) / 2
        a = np.concatenate([a[rest], a[order], middle])
        b = np.concatenate([b[rest], middle, b[order]])
    return best
