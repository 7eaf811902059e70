"""Traced graphs as the checker's straight-line programs."""

from __future__ import annotations

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.tube.checker.program import CODE, Program

OPERATIONS = {
    ca.OP_ADD: "add",
    ca.OP_SUB: "sub",
    ca.OP_MUL: "mul",
    ca.OP_DIV: "div",
    ca.OP_NEG: "neg",
    ca.OP_SQ: "square",
    ca.OP_SQRT: "sqrt",
    ca.OP_TWICE: "twice",
    ca.OP_INV: "inv",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_TANH: "tanh",
    ca.OP_ATAN: "arctan",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_POW: "power",
    ca.OP_CONSTPOW: "power",
    ca.OP_FMAX: "maximum",
    ca.OP_FMIN: "minimum",
    ca.OP_FABS: "absolute",
    ca.OP_LT: "less",
    ca.OP_LE: "at_most",
    ca.OP_EQ: "equal",
    ca.OP_NE: "different",
    ca.OP_NOT: "not",
    ca.OP_AND: "and",
    ca.OP_OR: "or",
    ca.OP_IF_ELSE_ZERO: "if_else_zero",
    ca.OP_SIGN: "sign",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_ASSIGN: "same",
    ca.OP_HYPOT: "hypot",
}

LEAVES = (ca.OP_INPUT, ca.OP_CONST)


def program(f: ca.Function, outputs: int | None = None) -> Program:
    """The first outputs of a graph (all by default), over its inputs one after the other.

    Raises InputError for an operation that has no enclosure.
    """
    offset = np.concatenate([[0], np.cumsum([f.numel_in(i) for i in range(f.n_in())])])
    rows: list[tuple[int, int, int, float]] = []
    slot: dict[int, int] = {}
    found: dict[int, int] = {}
    at = f.sparsity_out(0).find()  # places of the entries that are stored
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        to = f.instruction_output(k)
        of = f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            found[at[to[1]]] = slot[of[0]]
            continue
        places = [] if op in LEAVES else [slot[s] for s in of]
        if op == ca.OP_DIV and (width := regularised(rows, *places)):
            places = [places[0], summed(rows, width)]
            slot[to[0]] = len(rows)
            rows.append((CODE["orifice"], *places, 0.0))
            continue
        slot[to[0]] = len(rows)
        if op == ca.OP_INPUT:
            rows.append((CODE["input"], int(offset[of[0]] + of[1]), -1, 0.0))
        elif op == ca.OP_CONST:
            rows.append((CODE["constant"], -1, -1, f.instruction_constant(k)))
        else:
            rows.append((_code(op), *(places + [-1])[:2], 0.0))
    many = f.numel_out(0) if outputs is None else outputs
    if any(i not in found for i in range(many)):
        rows.append((CODE["constant"], -1, -1, 0.0))
    ends = [found.get(i, len(rows) - 1) for i in range(many)]
    return _pruned(rows, ends, int(offset[-1]))


def regularised(rows: list, top: int, below: int) -> list[int]:
    """The terms whose sum is c where top/below is x/√√(x² + c); empty for any other quotient."""
    for _ in range(2):
        code, of, _, _ = rows[below]
        if code != CODE["sqrt"]:
            return []
        below = of
    terms = added(rows, below)
    own = next((i for i, t in enumerate(terms) if squared(rows, t, top)), None)
    return [] if own is None else terms[:own] + terms[own + 1 :]


def added(rows: list, node: int) -> list[int]:
    """The terms of a sum; a term that is itself a sum is taken apart, too."""
    code, a, b, _ = rows[node]
    return added(rows, a) + added(rows, b) if code == CODE["add"] else [node]


def squared(rows: list, node: int, x: int) -> bool:
    """Whether a node is the square of x or of −x."""
    code, a, b, _ = rows[node]
    own = rows[x][1] if rows[x][0] == CODE["neg"] else x
    return code == CODE["square"] and a in (x, own)


def summed(rows: list, terms: list[int]) -> int:
    """The node of a sum of these nodes."""
    total = terms[0]
    for t in terms[1:]:
        rows.append((CODE["add"], total, t, 0.0))
        total = len(rows) - 1
    return total


def _code(op: int) -> int:
    if op not in OPERATIONS:
        raise InputError(
            f"an operation of the loop (number {op}) has no enclosure",
            mend="write it with + − × ÷, roots, powers, sin, cos, exp, tanh, min and max",
        )
    return CODE[OPERATIONS[op]]


def _pruned(rows: list, ends: list[int], inputs: int) -> Program:
    """Without what no output needs."""
    needed = np.zeros(len(rows), bool)
    needed[ends] = True
    for i in range(len(rows) - 1, -1, -1):
        code, a, b, _ = rows[i]
        if needed[i] and code not in (CODE["input"], CODE["constant"]):
            needed[a] = True
            if b >= 0:
                needed[b] = True
    place = np.cumsum(needed) - 1
    kept = [row for row, use in zip(rows, needed) if use]
    leaf = (CODE["input"], CODE["constant"])
    return Program(
        np.array([r[0] for r in kept], int),
        np.array([r[1] if r[0] in leaf else place[r[1]] for r in kept], int),
        np.array([-1 if r[2] < 0 else place[r[2]] for r in kept], int),
        np.array([r[3] for r in kept], float),
        place[np.array(ends, int)],
        inputs,
    )
