"""An expression graph taken apart for rigorous work: constants as inputs, switches and domains listed.

Differentiating a graph may fold two constants into one rounded float. With every constant that is not a small integer
turned into an input, the derivative's graph is the derivative itself, and an enclosure of it is one of the true derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.numerics.expressions import column
from workbench.numerics.intervals.enclosure import box, enclose
from workbench.numerics.intervals.rules import Box
from workbench.numerics.switches import _BINARY, _UNARY

_STEPS = {ca.OP_SIGN, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE}
_KINKED = {ca.OP_FABS, ca.OP_FMIN, ca.OP_FMAX}
_PARTIAL = {ca.OP_SQRT, ca.OP_DIV, ca.OP_INV, ca.OP_LOG, ca.OP_POW, ca.OP_CONSTPOW}


@final
@dataclass(frozen=True, eq=False)
class Lifted:
    """`expression` over the symbols `x`, and over `κ`, whose values are `constants`.

    steps    results of comparisons and steps: where the enclosure of one is not a single value, the expression may jump
    kinks    one value where an absolute value, minimum or maximum is decided; elsewhere a derivative may jump
    domains  roots, quotients, logarithms and powers: where one is not surely defined, neither is the expression
    """

    x: ca.SX
    expression: ca.SX
    κ: ca.SX
    constants: tuple[float, ...]
    steps: tuple[ca.SX, ...]
    kinks: tuple[ca.SX, ...]
    domains: tuple[ca.SX, ...]

    def function(self, *expressions: ca.SX) -> ca.Function:
        """(x, κ) → the given expressions, each a column."""
        return ca.Function(
            "lifted",
            [self.x, self.κ],
            [ca.densify(column([e[i] for i in range(e.numel())])) for e in expressions],
        )

    def enclose(self, f: ca.Function, boxes: Sequence[Box]) -> list[Box]:
        """Enclosures of all entries of f (made by `function`) on boxes of x, flattened."""
        try:
            return enclose(f, [boxes, [box(v, v) for v in self.constants]])
        except KeyError as e:
            raise InputError(
                f"the expression uses an operation without an enclosure (code {e.args[0]})",
                mend="use + − * / **, sqrt, sin, cos, tanh, exp, abs, where",
            ) from e


def lift(x: ca.SX, expression: ca.SX) -> Lifted:
    """Take the expression (a column over the symbols x) apart."""
    f = ca.Function("f", [x], [ca.densify(ca.cse(expression))])
    slots: dict[int, ca.SX] = {}
    exponents: dict[int, float] = {}
    symbols = []
    values = []
    steps = []
    kinks = []
    domains = []
    out = [ca.SX(0)] * f.numel_out(0)
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        o = f.instruction_output(k)
        i = f.instruction_input(k)
        if op == ca.OP_INPUT:
            slots[o[0]] = x[i[1]]
        elif op == ca.OP_OUTPUT:
            out[o[1]] = slots[i[0]]
        elif op == ca.OP_CONST:
            exponents[o[0]] = f.instruction_constant(k)
            slots[o[0]] = _constant(exponents[o[0]], symbols, values)
        else:
            a = [slots[j] for j in i]
            slots[o[0]] = made = _applied(op, a, exponents.get(i[-1]))
            if op in _KINKED:
                kinks.append(np.sign(a[0]) if op == ca.OP_FABS else a[0] < a[1])
            if op in _STEPS or op in _PARTIAL:
                (steps if op in _STEPS else domains).append(made)
        if op not in (ca.OP_CONST, ca.OP_OUTPUT):
            exponents.pop(o[0], None)  # the slot now holds something else
    κ = ca.vertcat(*symbols) if symbols else ca.SX(0, 1)
    return Lifted(x, ca.vertcat(*out), κ, tuple(values), tuple(steps), tuple(kinks), tuple(domains))


def _constant(value: float, symbols: list, values: list) -> ca.SX:
    if not np.isfinite(value):
        raise InputError(
            "an expression contains a constant that is not a number", mend="check its parameters"
        )
    if value == round(value) and abs(value) <= 1024:
        return ca.SX(value)  # products and sums of a few of these are exact
    if value not in values:
        symbols.append(ca.SX.sym(f"κ{len(values)}"))
        values.append(value)
    return symbols[values.index(value)]


def _applied(op: int, a: list, exponent: float | None) -> ca.SX:
    table = _BINARY if op in _BINARY else _UNARY
    if op not in table:
        raise InputError(
            f"the expression uses an operation without an enclosure (code {op})",
            mend="use + − * / **, sqrt, sin, cos, tanh, exp, abs, where",
        )
    if op in (ca.OP_POW, ca.OP_CONSTPOW) and exponent is not None:
        return a[0] ** exponent
    return table[op](*a)
