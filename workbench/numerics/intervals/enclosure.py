"""Intervals through traced graphs: outward-rounded enclosures of what plain NumPy text computes on a box.

Arrays of boxes go through at once. `where` is the hull of both branches unless its condition is decided on the box; a root of
a partly negative interval is clipped, and said to be unsure unless the condition rules its branch out on the whole box. What
each operation makes of boxes is in `workbench.numerics.intervals.rules`.

Source of the method: interval arithmetic with outward rounding [Moore09].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.scalars import Scalar
from workbench.numerics.intervals.rules import INF, RULES, Box


def box(low: Scalar, high: Scalar) -> Box:
    """Box from bounds (broadcast); raises ValueError when low > high or NaN."""
    least = np.atleast_1d(np.asarray(low, float))
    most = np.atleast_1d(np.asarray(high, float))
    low, high = np.broadcast_arrays(least, most)
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
                output, entry = o
                results[output, entry] = memory[i[0]]
                continue
            slot = o[0]
            origin: Any = None
            if op == ca.OP_INPUT:
                argument, entry = i
                given = arguments[argument][entry]
                value = Box(*(np.broadcast_to(a, (n,)) for a in given))
            elif op == ca.OP_CONST:
                value = _constant(f.instruction_constant(k), n)
            else:
                args = [memory[s] for s in i]
                origins = [made.get(s) for s in i]
                known = [ids.get(s) for s in i]
                value, origin = _operate(op, args, origins, known)
            memory[slot] = value
            made[slot] = origin
            ids[slot] = ("not", ids[i[0]]) if op == ca.OP_NOT else object()
    zero = _constant(0.0, n)
    entries = [(j, entry) for j in range(f.n_out()) for entry in range(f.numel_out(j))]
    return [results.get(place, zero) for place in entries]


def _constant(c: float, n: int) -> Box:
    """A number, n times; one that is no number is not sure."""
    known = c == c
    return Box(np.full(n, c), np.full(n, c), np.full(n, known))


def _operate(op: Any, args: Any, origins: Any, ids: Any) -> Any:
    if op == ca.OP_IF_ELSE_ZERO:
        condition, branch = args
        none = np.zeros_like(condition.low)
        zero = Box(none, none, np.ones_like(branch.sure))
        value = _chosen(condition, branch, zero)
        return value, (ids[0], condition, branch)
    if op == ca.OP_ADD and origins[0] and origins[1]:
        (ca_id, c, a), (cb_id, _, b) = origins
        if cb_id == ("not", ca_id):
            return _chosen(c, a, b), None
        if ca_id == ("not", cb_id):
            return _chosen(origins[1][1], b, a), None
    return RULES[op](*args), None


def _chosen(condition: Box, yes: Box, no: Box) -> Box:
    always = condition.low > 0
    never = condition.high <= 0

    def taken(yes: np.ndarray, no: np.ndarray, mixed: np.ndarray) -> np.ndarray:
        """The branch that the condition takes; `mixed` where it may take either."""
        return np.where(always, yes, np.where(never, no, mixed))

    low = taken(yes.low, no.low, np.minimum(yes.low, no.low))
    high = taken(yes.high, no.high, np.maximum(yes.high, no.high))
    # On a mixed box the condition need not keep its branch inside a domain (where(x > −1, √x, 0)): both must be sure.
    sure = taken(yes.sure, no.sure, yes.sure & no.sure)
    return Box(low, high, sure & condition.sure)


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
        begin = a[order]
        end = b[order]
        middle = (begin + end) / 2
        a = np.concatenate([a[rest], begin, middle])
        b = np.concatenate([b[rest], middle, end])
    return best
