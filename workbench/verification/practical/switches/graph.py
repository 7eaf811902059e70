"""Switches in a graph of expressions: comparisons, signs, magnitudes, the larger or the smaller of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np

from workbench.numerics.calculus import Traced

PAIRS = {ca.OP_LT: "<", ca.OP_LE: "<=", ca.OP_FMIN: "smaller of", ca.OP_FMAX: "larger of"}
ALONE = {ca.OP_SIGN: "sign of", ca.OP_FABS: "magnitude of"}
# In the place of a margin of zero, with the sign of the side that is taken there.
TIE = float(np.nextafter(0.0, 1.0))
TIES = {ca.OP_LT: TIE, ca.OP_LE: -TIE}  # a < b is not true where both are alike, a <= b is
SEVERAL = (ca.OP_AND, ca.OP_OR)
TRUTHS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, *SEVERAL)
JOINED = {ca.OP_AND: "and", ca.OP_OR: "or"}
FACTORS = (ca.OP_MUL, ca.OP_NEG, ca.OP_TWICE)
ALIKE = 4  # depth to which two conditions are compared
WIDTH = 70  # letters of what is shown as it stands


def switches_in(
    expressions: Sequence[ca.SX], conditions: bool = False
) -> Iterator[tuple[int, ca.SX, ca.SX]]:
    """(operation, the two values it compares) of every switch in these expressions; a sign compares with 0.

    conditions: those made of several comparisons as well, which compare 1 where they are met, and 0 where not, with a half.
    """
    waiting = list(expressions)
    known: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node.element_hash() in known:
            continue
        known.add(node.element_hash())
        parts = [node.dep(i) for i in range(node.n_dep())]
        waiting += parts
        op = node.op() if parts else None
        if op in PAIRS:
            yield op, parts[0], parts[1]
        elif op in ALONE:
            yield op, parts[0], ca.SX(0)
        elif conditions and op in SEVERAL and all(map(_is_truth, parts)):
            yield ca.OP_AND, node, ca.SX(0.5)
        elif conditions:
            waiting += _several(op, parts)


def _is_truth(node: ca.SX) -> bool:
    """Whether a node is true or false."""
    return node.n_dep() > 0 and node.op() in TRUTHS


def _several(op: int | None, parts: list[ca.SX]) -> list[ca.SX]:
    """Conditions that an operation makes of several: a choice within a choice, a product with two of them among its factors."""
    if op == ca.OP_IF_ELSE_ZERO:
        others = [one for one in _chosen_by(parts[1]) if not ca.is_equal(parts[0], one, ALIKE)]
        return [ca.logic_and(parts[0], one) for one in others]
    factors = [_factor(part) for part in parts] if op == ca.OP_MUL else []
    return [ca.logic_and(*factors)] if factors and None not in factors else []


def _chosen_by(node: ca.SX) -> list[ca.SX]:
    """The conditions by which an expression is one of several at first sight: it is their sum."""
    if not node.n_dep():
        return []
    parts = [node.dep(i) for i in range(node.n_dep())]
    if node.op() == ca.OP_IF_ELSE_ZERO:
        return [parts[0]]
    return [c for part in parts for c in _chosen_by(part)] if node.op() == ca.OP_ADD else []


def _factor(node: ca.SX) -> ca.SX | None:
    """A factor of a product that is true or false; None for none."""
    if not node.n_dep() or _is_truth(node):
        return node if node.n_dep() else None
    parts = [node.dep(i) for i in range(node.n_dep())] if node.op() in FACTORS else []
    return next((found for part in parts if (found := _factor(part)) is not None), None)


def sided(margins: np.ndarray, switches: Sequence[tuple[int, ca.SX, ca.SX]]) -> np.ndarray:
    """Margins (k, N) of these switches, those of comparisons that are zero with the sign of the side that is taken."""
    ties = np.array([TIES.get(kind, 0.0) for kind, _, _ in switches]).reshape(-1, 1)
    return np.where(margins == 0.0, ties, margins)


def shown(kind: int, a: ca.SX, b: ca.SX) -> str:
    """What a switch of this kind compares, in words."""
    if kind in ALONE:
        return f"the {ALONE[kind]} {_shown(a)}"
    if kind == ca.OP_AND:
        return f"the condition {_met(a)}"
    if PAIRS[kind] in ("<", "<="):
        return f"{_shown(a)} {PAIRS[kind]} {_shown(b)}"
    return f"the {PAIRS[kind]} {_shown(a)} and {_shown(b)}"


def _met(e: ca.SX) -> str:
    """A condition by what it compares."""
    parts = [e.dep(i) for i in range(e.n_dep())]
    if e.op() in JOINED:
        return f" {JOINED[e.op()]} ".join(map(_met, parts))
    if e.op() == ca.OP_NOT:
        return f"not {_met(parts[0])}"
    return shown(e.op(), *parts) if e.op() in TIES else _shown(e)


def _shown(e: ca.SX) -> str:
    """An expression as it stands, or of a long one what it depends on."""
    if e.is_constant():
        return f"{float(e):.4g}"
    text = str(e)
    if len(text) <= WIDTH and "@" not in text:
        return text
    return f"what follows from {', '.join(dict.fromkeys(v.name() for v in ca.symvar(e)))}"


def symbols_of(traced: Traced) -> list[ca.SX]:
    """(t, x, w, c), as the functions of a trace take them."""
    sizes = [traced.flow.size1_in(i) for i in range(4)]
    return [ca.SX.sym(name, size) for name, size in zip("txwc", sizes)]


def of_time(
    traced: Traced, maps: Sequence[ca.Function], clocks: Sequence[int]
) -> ca.Function | None:
    """(t, x, w, c) → margins (k,) of the switches in these maps that know the time, or a state that is a clock; None for none."""
    symbols = symbols_of(traced)
    t, x, *_ = symbols
    knows = ca.vertcat(t, *(x[i] for i in clocks))
    parts = [part for f in maps for part in ca.vertsplit(f(*symbols))]
    margins = [a - b for _, a, b in switches_in(parts)]
    timed = [m for m in margins if ca.depends_on(m, knows)]
    return ca.Function("margins", symbols, [ca.densify(ca.vertcat(*timed))]) if timed else None
