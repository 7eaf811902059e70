"""Bellman's recursion compiled with one step's energy: `Step.energy` is traced, written as C in front of kernel.c, and cached.

The same recursions in NumPy (`kernel_numpy`) are what runs without a compiler; both read the same text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np

from workbench.contract.parameters import bind, graph_key, leaves
from workbench.numerics.c_code import address
from workbench.numerics.calculus import check_constants
from workbench.numerics.compiler import library
from workbench.numerics.expressions import symbols
from workbench.numerics.mapped import Mapped
from workbench.planning import kernel_numpy

_BINARY = {
    ca.OP_ADD: "{} + {}",
    ca.OP_SUB: "{} - {}",
    ca.OP_MUL: "{} * {}",
    ca.OP_DIV: "{} / {}",
    ca.OP_LT: "{} < {}",
    ca.OP_LE: "{} <= {}",
    ca.OP_EQ: "{} == {}",
    ca.OP_NE: "{} != {}",
    ca.OP_FMAX: "{0} > {1} ? {0} : {1}",
    ca.OP_FMIN: "{0} < {1} ? {0} : {1}",
    ca.OP_IF_ELSE_ZERO: "{} != 0 ? {} : 0",
    ca.OP_AND: "{} != 0 && {} != 0",
    ca.OP_OR: "{} != 0 || {} != 0",
    ca.OP_POW: "pow({}, {})",
    ca.OP_CONSTPOW: "pow({}, {})",
}
_UNARY = {
    ca.OP_NEG: "-{}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2 * {}",
    ca.OP_FABS: "({0} < 0 ? -{0} : {0})",
    ca.OP_NOT: "!({})",
    ca.OP_INV: "1 / {}",
    ca.OP_ASSIGN: "{}",
    ca.OP_SQRT: "sqrt({})",
    ca.OP_EXP: "exp({})",
    ca.OP_LOG: "log({})",
    ca.OP_SIN: "sin({})",
    ca.OP_COS: "cos({})",
    ca.OP_TANH: "tanh({})",
}


def inline(f: ca.Function, groups: list[list[str]], name: str, head: str) -> str:
    """A function of columns as one static C function that a compiler can inline; `groups` names its arguments' entries."""
    lines = []
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        out = f.instruction_output(k)
        into = f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            lines.append(f"result = w{into[0]};")
            continue
        if op == ca.OP_CONST:
            text = repr(f.instruction_constant(k))
        elif op == ca.OP_INPUT:
            text = groups[into[0]][into[1]]
        elif op in _BINARY:
            text = _BINARY[op].format(f"w{into[0]}", f"w{into[1]}")
        else:
            text = _UNARY[op].format(f"w{into[0]}")
        lines.append(f"w{out[0]} = {text};")
    work = ", ".join(f"w{i} = 0" for i in range(f.sz_w()))
    body = "\n  ".join([f"double result = 0, {work};", *lines, "return result;"])
    return f"static inline double {name}({head}) {{\n  {body}\n}}\n"


_compiled: dict = {}


def _made(step, free: list, coefficients: int):
    """(ca.Function energy(x0, x1, c, u, w, P), library or None) of a step, its numbers as symbols."""
    key = (graph_key(step), coefficients)
    if key not in _compiled:
        P, entries = symbols("P", len(free))
        bound = bind(step, {leaf.path: e for leaf, e in zip(free, entries)})
        columns, lists = zip(
            *(
                symbols(name, n)
                for name, n in {"x0": 3, "x1": 3, "c": coefficients, "u": 1, "w": 1}.items()
            )
        )
        value = bound.energy(*lists[:3], lists[3][0], lists[4][0])
        f = ca.Function("energy", [*columns, P], [ca.cse(value)])
        check_constants(f, "energy of a step")
        _compiled[key] = (f, library(_source(f, coefficients, len(free))))
    return _compiled[key]


def _source(f: ca.Function, coefficients: int, n_p: int) -> str:
    groups = [
        ["a1", "a2", "a3"],
        ["b1", "b2", "b3"],
        [f"c[{i} * (2 * n - 1) + l]" for i in range(coefficients)],
        ["u"],
        ["w"],
        [f"P[{i}]" for i in range(n_p)],
    ]
    head = (
        "double a1, double a2, double a3, double b1, double b2, double b3, const double *restrict c, long n, long l, "
        "double u, double w, const double *restrict P"
    )
    call = "cost(a1, a2, a3, x1[l], x2[l], x3[l], c, n, l, u, w, P)"
    own = f"#define NC {coefficients}\n#define WITH_W {int(coefficients == 12)}\n#define COST {call}\n"
    return (
        "#include <math.h>\n"
        + inline(f, groups, "cost", head)
        + own
        + (Path(__file__).parent / "kernel.c").read_text("utf-8")
    )


class Kernel:
    """The recursion for one step's text and numbers."""

    def __init__(self, step, coefficients: int):
        free = [leaf for leaf in leaves(step) if not leaf.constant]
        self.step = step
        self.P = np.array([leaf.value for leaf in free], float)
        self.function, self.lib = _made(step, free, coefficients)
        if self.lib is not None:
            p = ctypes.c_void_p
            l = ctypes.c_long
            d = ctypes.c_double
            self.lib.one.argtypes = [l, l, d, d, d, *[p] * 8]
            self.lib.two.argtypes = [l, l, l, d, d, d, *[p] * 11]

    def one(self, grid, last: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
        """(J (N+1, n), best (N, n)) from the cost `last` (n,) of ending at a node."""
        N = grid.X.shape[0] - 1
        n = grid.X.shape[2]
        if self.lib is None:
            return kernel_numpy.one(self.step, grid, last, reach)
        J = np.empty((N + 1, n))
        best = np.empty((N, n), np.int32)
        e = np.empty(n)
        J[N] = last
        self.lib.one(
            N,
            n,
            grid.h,
            self.step.dt,
            reach,
            *map(address, (grid.base, grid.X, grid.ok, grid.C, self.P, J, best, e)),
        )
        return J, best

    def two(
        self, grid, last: np.ndarray, reach: float, push: np.ndarray, M: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """(V (N, n, M), best (N, n, M)); see kernel.c."""
        N = grid.X.shape[0] - 1
        n = grid.X.shape[2]
        if self.lib is None:
            return kernel_numpy.two(self.step, grid, last, reach, push, M)
        V = np.empty((N, n, M))
        best = np.empty((N, n, M), np.int32)
        e = np.empty(n)
        f = np.empty(n)
        self.lib.two(
            N,
            n,
            M,
            grid.h,
            self.step.dt,
            reach,
            *map(address, (push, grid.base, grid.X, grid.ok, grid.C, self.P, last, V, best, e, f)),
        )
        return V, best


_forces: dict = {}


def force_table(crane, coefficients: int) -> Callable:
    """Compiled (r, ṙ, r̈, q_3) → a, b, c (and d) of every cylinder's F = a + b u + c u² + d w."""
    key = (graph_key(crane), coefficients)
    if key not in _forces:
        free = [leaf for leaf in leaves(crane) if not leaf.constant]
        P, entries = symbols("P", len(free))
        bound = bind(crane, {leaf.path: e for leaf, e in zip(free, entries)})
        s, v = symbols("s", 7)

        def F(u, w):
            return bound.forces(*bound.motion(v[0:2], v[2:4], v[4:6], v[6], u, w))

        at = F(0.0, 0.0)
        up = F(1.0, 0.0)
        down = F(-1.0, 0.0)
        pushed = F(0.0, 1.0)
        rows = [
            [z, (a - b) / 2, (a + b) / 2 - z, d - z][: coefficients // 3]
            for z, a, b, d in zip(at, up, down, pushed)
        ]
        f = ca.Function("forces", [s, P], [ca.cse(ca.vertcat(*[e for row in rows for e in row]))])
        check_constants(f, f"forces of {crane.name}")
        _forces[key] = (Mapped(f), [leaf.path for leaf in free])
    made, paths = _forces[key]
    numbers = {leaf.path: leaf.value for leaf in leaves(crane)}
    values = np.array([numbers[p] for p in paths])
    return lambda rows: made(rows, values)
