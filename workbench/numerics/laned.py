"""Expression graphs written out as C over lanes: the same operations as CasADi's own text, a vector of runs in every value.

A function of a graph becomes one constant a line, in the order of the graph's instructions; `lanes.h` says what a `real` is.
"""

from __future__ import annotations

import math
from functools import cache

import casadi as ca

from workbench.numerics.compiler import processor

INFIX = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2.0 * {0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_ASSIGN: "{0}",
    ca.OP_LT: "NUMBER({0} < {1})",
    ca.OP_LE: "NUMBER({0} <= {1})",
    ca.OP_EQ: "NUMBER({0} == {1})",
    ca.OP_NE: "NUMBER({0} != {1})",
    ca.OP_NOT: "NUMBER({0} == 0.0)",
    ca.OP_AND: "NUMBER(({0} != 0.0) & ({1} != 0.0))",
    ca.OP_OR: "NUMBER(({0} != 0.0) | ({1} != 0.0))",
    ca.OP_IF_ELSE_ZERO: "CHOOSE({0} != 0.0, {1}, EACH(0.0))",
}
WHOLE = {  # functions that lanes.h and functions.h have for all lanes at once
    ca.OP_SQRT: "sqrt",
    ca.OP_FABS: "fabs",
    ca.OP_FMIN: "fmin",
    ca.OP_FMAX: "fmax",
    ca.OP_SIGN: "sign",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TANH: "tanh",
}
OF_ONE = {  # functions of the C library, called lane by lane
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_EXP: "exp",
    ca.OP_EXPM1: "expm1",
    ca.OP_LOG: "log",
    ca.OP_LOG1P: "log1p",
    ca.OP_ERF: "erf",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
}
OF_TWO = {
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_ATAN2: "atan2",
    ca.OP_FMOD: "fmod",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_HYPOT: "hypot",
    ca.OP_REMAINDER: "remainder",
}
LIBRARY = {**OF_ONE, **OF_TWO}
KNOWN = {*INFIX, *WHOLE, *LIBRARY, ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT}


@cache
def width() -> int:
    """Runs that go side by side in this processor's registers."""
    flags = processor().split()
    if "avx512f" in flags:
        return 8
    return 4 if "avx" in flags else 2


def laned(functions: list[ca.Function]) -> str | None:
    """C text of the functions, named as given, over lanes; None where one has an operation that has no text here."""
    operations = [[f.instruction_id(k) for k in range(f.n_instructions())] for f in functions]
    used = {op for of_one in operations for op in of_one}
    if not used <= KNOWN:
        return None
    one = {f"EACH_LANE({OF_ONE[op]})" for op in used if op in OF_ONE}
    two = {f"EACH_LANE_OF_TWO({OF_TWO[op]})" for op in used if op in OF_TWO}
    texts = map(_written, functions, operations)
    return "\n".join([*sorted(one), *sorted(two), *texts, ""])


def _written(f: ca.Function, operations: list[int]) -> str:
    """One function of these operations, called as those of CasADi are."""
    head = f"static int {f.name()}(const real **arg, real **res, casadi_int *iw, real *w, int mem)"
    lines = [head + " {", "  (void)iw; (void)w; (void)mem;"]
    names: dict[int, str] = {}
    for k, op in enumerate(operations):
        given = f.instruction_input(k)
        made = f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            lines.append(f"  res[{made[0]}][{made[1]}] = {names[given[0]]};")
            continue
        lines.append(f"  const real a{k} = {_value(f, k, op, given, names)};")
        names[made[0]] = f"a{k}"
    return "\n".join([*lines, "  return 0;", "}"])


def _value(f: ca.Function, k: int, op: int, given: list[int], names: dict[int, str]) -> str:
    """The right-hand side of instruction k."""
    if op == ca.OP_INPUT:
        return f"arg[{given[0]}][{given[1]}]"
    if op == ca.OP_CONST:
        return f"EACH({number(f.instruction_constant(k))})"
    operands = [names[i] for i in given]
    if op in INFIX:
        return INFIX[op].format(*operands)
    name = WHOLE.get(op) or LIBRARY[op]
    return f"LANED({name})({', '.join(operands)})"


def number(value: float) -> str:
    """A number in C, to the last bit."""
    if math.isfinite(value):
        return repr(float(value))
    if math.isnan(value):
        return "NAN"
    return "INFINITY" if value > 0 else "-INFINITY"
