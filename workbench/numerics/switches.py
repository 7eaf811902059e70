"""One-sided derivatives of an expression graph: where a switch stands on its edge, is there a derivative at all?

Walks the graph once with numbers. A tangent d carries the one-sided derivative

    f'(x; d) = lim (f(x + s d) − f(x))/s  for s falling to 0

At a tie max(a, b) has the larger of both tangents, min(a, b) the smaller, |a| at 0 the tangent's magnitude; a comparison,
sign or step whose sides move apart there has none. f has a derivative in the given directions exactly when
f'(x; d) = J d = −f'(x; −d), so a switch whose two sides agree, or that nothing depends on, is no obstacle.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cache

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError

EDGE = 1e-12  # relative difference below which two sides count as equal
_COMPARE = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE}
_STEPS = {ca.OP_FLOOR, ca.OP_CEIL}
_AT_ZERO = {
    ca.OP_SIGN,
    ca.OP_FABS,
    ca.OP_SQRT,
    ca.OP_LOG,
    ca.OP_INV,
    ca.OP_DIV,
}  # of the last operand
_JUMPS = _COMPARE | _STEPS | {ca.OP_SIGN, ca.OP_COPYSIGN, ca.OP_FMOD, ca.OP_NOT}


class AtAnEdge(InputError):
    """There is no derivative, since a switch is at its edge: a caller that can be told another point says how."""


def refuse_undecided(f: ca.Function, arguments: Sequence, J: np.ndarray, by: Sequence[int]) -> None:
    """InputError unless J (n × m) is the derivative of f's first n results by its arguments number `by`, to all sides.

    What a quantiser (floor) has is refused wherever it stands.
    """
    n, m = J.shape
    both = one_sided(f, arguments, np.hstack([np.eye(m), -np.eye(m)]), by)[:n]
    own = np.hstack([J, -J])
    size = np.maximum(np.abs(both), np.abs(own))
    # Entries of a row differ by their units; what rounds off is measured by the largest.
    if not (
        np.abs(both - own) <= 1e-9 * size + 1e-12 * size.max(axis=1, initial=0.0)[:, None]
    ).all():
        raise AtAnEdge(
            "cannot linearise: a switch (valve side, dead band, saturation) is exactly at its edge there, "
            "so the derivative depends on the side",
            mend="linearise where no switch is at its edge: at another start of the machine, or with spools a little open; "
            "to_control(plant, x, linear=True, side=1) opens shut valves by a hair to one side",
        )


class Edges:
    """How far the switches of a function are from their edges, asked at once: away from all of them its Jacobian is its derivative.

    So it is where what moves none of both sides is at an edge: a dead band of no width that a command is beyond.

    f   a function of dense arguments
    by  numbers of the arguments that it is differentiated by; switches that these have no part in are left out
    """

    def __init__(self, f: ca.Function, by: Sequence[int]):
        self.f, self.by = f, by
        symbols = [ca.SX.sym("v", f.size1_in(i)) for i in range(f.n_in())]
        every = list(_switches(f, symbols))
        reached = _reached_by(symbols, [a - b for _, a, b in every], by)
        own = [switch for k, switch in enumerate(every) if k in reached]
        self.steps = any(op in _STEPS for op, _, _ in own)
        sides = ca.vertcat(*(a for _, a, _ in own), *(b for _, _, b in own))
        apart = [_apart(a, b) for _, a, b in own]
        slopes = ca.jacobian(sides, ca.vertcat(*(symbols[i] for i in by)))
        self.apart = ca.Function("apart", symbols, [ca.densify(ca.vertcat(*apart))])
        self.slopes = ca.Function("slopes", symbols, [ca.densify(slopes)])

    def refuse_undecided(self, arguments: Sequence, J: np.ndarray) -> None:
        """As `refuse_undecided`, which is asked only where a switch may be at its edge or J is not finite."""
        if self._moves_at_an_edge(arguments) or not np.isfinite(J).all():
            refuse_undecided(self.f, arguments, J, self.by)

    def _moves_at_an_edge(self, arguments: Sequence) -> bool:
        """Whether a side of a switch at its edge moves there. What leads to the first such switch has a derivative, and so on."""
        if self.steps:
            return True
        apart = np.array(self.apart(*arguments)).ravel()
        at_edge = np.tile(~(apart > 0), 2)
        return bool(at_edge.any() and np.array(self.slopes(*arguments))[at_edge].any())


def _switches(f: ca.Function, symbols: Sequence[ca.SX]) -> Iterator[tuple[int, ca.SX, ca.SX]]:
    """(operation, one side, the other) of all in f that may have no derivative: where both sides are the same, or at a step."""
    zero = ca.SX(0)
    for op, a in _walked(f, symbols):
        if op in _COMPARE or op in (ca.OP_FMAX, ca.OP_FMIN):
            yield op, a[0], a[1]
        elif op in _STEPS or op in _AT_ZERO:
            yield op, a[-1], zero


def _apart(a: ca.SX, b: ca.SX) -> ca.SX:
    """Above 0 where two sides are further apart than EDGE of their size."""
    return ca.fabs(a - b) - EDGE * ca.fmax(ca.fabs(a), ca.fabs(b))


def _walked(f: ca.Function, symbols: Sequence[ca.SX]) -> Iterator[tuple[int, list[ca.SX]]]:
    """(operation, operands as expressions of the symbols), one after the other."""
    value: dict[int, ca.SX] = {}
    for step in range(f.n_instructions()):
        op = f.instruction_id(step)
        i = f.instruction_input(step)
        if op == ca.OP_OUTPUT:
            continue
        (o,) = f.instruction_output(step)
        if op == ca.OP_INPUT:
            value[o] = symbols[i[0]][i[1]]
        elif op == ca.OP_CONST:
            value[o] = ca.SX(f.instruction_constant(step))
        else:
            a = [value[j] for j in i]
            yield op, a
            value[o] = (_BINARY if op in _BINARY else _UNARY)[op](*a)


def _reached_by(symbols: Sequence[ca.SX], gaps: Sequence[ca.SX], by: Sequence[int]) -> set[int]:
    """Numbers of the gaps that the arguments number `by` have a part in."""
    whole = ca.Function("gaps", symbols, [ca.densify(ca.vertcat(*gaps))])
    return {row for i in by for row in whole.jac_sparsity(0, i).row()}


def jumps(x: ca.SX, expression: ca.SX) -> bool:
    """Whether the expression over x compares, or steps, anywhere: its derivative says nothing about the other side."""
    f = ca.Function("f", [x], [ca.densify(ca.cse(expression))])
    return any(f.instruction_id(k) in _JUMPS for k in range(f.n_instructions()))


def one_sided(
    f: ca.Function, arguments: Sequence, directions: np.ndarray, by: Sequence[int]
) -> np.ndarray:
    """f'(x; d) for every column d of `directions` (in the arguments number `by`, stacked); NaN where there is none."""
    flat = [np.atleast_1d(np.asarray(a, dtype=float)).ravel() for a in arguments]
    k = 0
    tangents: dict[tuple[int, int], np.ndarray] = {}
    for i in by:
        tangents |= {(i, j): directions[k + j] for j in range(flat[i].size)}
        k += flat[i].size
    still = np.zeros(directions.shape[1])
    value: dict[int, float] = {}
    slope: dict[int, np.ndarray] = {}
    result = np.zeros((f.nnz_out(0), directions.shape[1]))
    for step in range(f.n_instructions()):
        op = f.instruction_id(step)
        o = f.instruction_output(step)
        i = f.instruction_input(step)
        if op == ca.OP_INPUT:
            value[o[0]], slope[o[0]] = float(flat[i[0]][i[1]]), tangents.get((i[0], i[1]), still)
        elif op == ca.OP_CONST:
            value[o[0]], slope[o[0]] = f.instruction_constant(step), still
        elif op == ca.OP_OUTPUT:
            result[o[1]] = slope[i[0]]
        else:
            a = [value[j] for j in i]
            da = [slope[j] for j in i]
            value[o[0]], slope[o[0]] = float(_operation(op)(*a)), _tangent(op, a, da)
    return result


def _tangent(op: int, a: list, da: list) -> np.ndarray:
    moving = any(d.any() for d in da)
    if not moving:
        return da[0]
    tie = len(a) == 2 and abs(a[0] - a[1]) <= EDGE * max(abs(a[0]), abs(a[1]))
    if (
        op in _STEPS
        or (op in _COMPARE and tie and (da[0] != da[1]).any())
        or (op == ca.OP_SIGN and a[0] == 0)
    ):
        return np.full_like(da[0], np.nan)
    if op == ca.OP_FMAX and tie:
        return np.maximum(*da)
    if op == ca.OP_FMIN and tie:
        return np.minimum(*da)
    if op == ca.OP_FABS and a[0] == 0:
        return np.abs(da[0])
    partial = np.array(_slopes(op)(*a)).ravel()
    with np.errstate(invalid="ignore"):  # no slope times none is none
        return sum(p * d for p, d in zip(partial, da) if d.any())


@cache
def _operation(op: int) -> ca.Function:
    x = ca.SX.sym("x")
    y = ca.SX.sym("y")
    return (
        ca.Function("op", [x, y], [_BINARY[op](x, y)])
        if op in _BINARY
        else ca.Function("op", [x], [_UNARY[op](x)])
    )


@cache
def _slopes(op: int) -> ca.Function:
    f = _operation(op)
    a = [ca.SX.sym("a") for _ in range(f.n_in())]
    return ca.Function("slopes", a, [ca.densify(ca.jacobian(f(*a), ca.vertcat(*a)))])


_BINARY = {
    ca.OP_ADD: operator.add,
    ca.OP_SUB: operator.sub,
    ca.OP_MUL: operator.mul,
    ca.OP_DIV: operator.truediv,
    ca.OP_POW: operator.pow,
    ca.OP_CONSTPOW: operator.pow,
    ca.OP_LT: operator.lt,
    ca.OP_LE: operator.le,
    ca.OP_EQ: operator.eq,
    ca.OP_NE: operator.ne,
    ca.OP_AND: ca.logic_and,
    ca.OP_OR: ca.logic_or,
    ca.OP_FMIN: ca.fmin,
    ca.OP_FMAX: ca.fmax,
    ca.OP_ATAN2: ca.atan2,
    ca.OP_COPYSIGN: ca.copysign,
    ca.OP_HYPOT: ca.hypot,
    ca.OP_IF_ELSE_ZERO: lambda a, b: ca.if_else(a, b, 0),
    ca.OP_FMOD: ca.fmod,
}
_UNARY = {
    ca.OP_NEG: operator.neg,
    ca.OP_SQ: lambda a: a**2,
    ca.OP_TWICE: lambda a: 2 * a,
    ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQRT: ca.sqrt,
    ca.OP_SIN: ca.sin,
    ca.OP_COS: ca.cos,
    ca.OP_TAN: ca.tan,
    ca.OP_ASIN: ca.asin,
    ca.OP_ACOS: ca.acos,
    ca.OP_ATAN: ca.atan,
    ca.OP_EXP: ca.exp,
    ca.OP_LOG: ca.log,
    ca.OP_FABS: ca.fabs,
    ca.OP_SIGN: ca.sign,
    ca.OP_FLOOR: ca.floor,
    ca.OP_CEIL: ca.ceil,
    ca.OP_TANH: ca.tanh,
    ca.OP_SINH: ca.sinh,
    ca.OP_COSH: ca.cosh,
    ca.OP_NOT: ca.logic_not,
    ca.OP_ASSIGN: lambda a: a,
}
