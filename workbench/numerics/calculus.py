"""Derivatives of plain NumPy text: trace, jacobian, directional derivative, linearisation, equilibrium.

With `workbench.numerics.native` the only module that knows CasADi. NumPy functions act on CasADi expressions in NumPy mode −1,
which is set here, once; it is the library's one global.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.checks import check_plant
from workbench.contract.errors import InputError
from workbench.contract.once import traced
from workbench.contract.own_text import own
from workbench.contract.parameters import bind, graph_key, leaves
from workbench.contract.scalars import Vector
from workbench.contract.system import System, names
from workbench.numerics.direct import direct
from workbench.numerics.expressions import column, quick, symbols

ca.GlobalOptions.setNumpyMode(-1)


def symbolic(values: Sequence) -> bool:
    """True when any entry is an expression."""
    return any(isinstance(v, ca.SX) for v in values)


def directional(f: Callable, x: Sequence, xdot: Sequence) -> list:
    """d/dt f(x) along ẋ, exact: Σ_i ∂f/∂x_i ẋ_i, for f from a list to a list; floats or expressions.

    Can be called inside a control law or a plant: on expressions it adds the derivative to the graph.
    """
    return _derivative(f, x, [xdot])[0]


def jacobian_columns(f: Callable, x: Sequence) -> list[list]:
    """Columns ∂f/∂x_i of f (list to list), floats or expressions."""
    n = len(x)
    return _derivative(f, x, [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)])


def _derivative(f: Any, x: Vector, directions: Any) -> Any:
    s, entries = symbols("s", len(x))
    d, _ = symbols("d", len(x))
    value = column(f(entries))
    slope = ca.jtimes(value, s, d)
    own = {e.element_hash() for e in [*entries, *(d[i] for i in range(len(x)))]}
    # Captured expressions (parameters, time) must pass through the graph, so then even numbers are substituted.
    captured = any(v.element_hash() not in own for v in ca.symvar(value))
    numeric = None if captured or symbolic(x) else ca.Function("along", [s, d], [slope])
    results: list[list] = []
    for direction in directions:
        if numeric is None or symbolic(direction):
            y = ca.substitute([slope], [s, d], [column(x), column(direction)])[0]
            results.append([quick(y[i]) for i in range(y.numel())])
        else:
            results.append(
                [
                    float(v)
                    for v in np.array(
                        numeric([float(v) for v in x], [float(v) for v in direction])
                    ).ravel()
                ]
            )
    return results


@dataclass(frozen=True, eq=False)
class Traced:
    """A system's functions as expression graphs over (t, x, w, c), with c = prelude(p) what depends on parameters alone.

    live      names of the inputs w that vary; all others are folded in at their default
    paths     parameters p, by path
    flow      ẋ followed by the power flows;  jump, release, start: x⁺;  log: monitors and the stored energy;  out: y
    guards    what changes its sign at a kink of the flow
    stiff     the diagonal blocks of ∂ẋ/∂x that the states named stiff fall into, one after the other, column by column;
              `blocks`: how many states each has, `stiff_at`: which
    motion    the flow without the trailing states that only jump (held commands), for integrators
    project   x put back on its constraints after a step; None for a system without
    sided     of a loop with its variation (`workbench.numerics.varied`): the place in c that says on which side of a stage it
              differentiates; None for any other
    """

    live: tuple[str, ...]
    paths: tuple[str, ...]
    n_states: int
    n_powers: int
    prelude: ca.Function
    flow: ca.Function
    jump: ca.Function
    release: ca.Function
    start: ca.Function
    log: ca.Function
    out: ca.Function
    guards: ca.Function
    stiff: ca.Function
    blocks: tuple[int, ...]
    stiff_at: tuple[int, ...]
    motion: ca.Function
    project: ca.Function | None
    n_moving: int
    sided: int | None = None

    @cached_property
    def flow_is_driven(self) -> bool:
        """Whether the flow itself depends on w (then w is needed between samples too)."""
        return bool(self.flow.jac_sparsity(0, 2).nnz())

    @cached_property
    def flow_is_timed(self) -> bool:
        """Whether the flow depends on t explicitly."""
        return bool(self.flow.jac_sparsity(0, 0).nnz())

    @cached_property
    def is_timed(self) -> bool:
        """Whether the flow, or what happens at a sample, depends on t explicitly."""
        maps = (self.flow, self.jump, self.release)
        return any(f.jac_sparsity(0, 0).nnz() for f in maps)

    def numbers(self, system: System) -> np.ndarray:
        """Parameter values p of `system` (of the same graph), in order of `paths`."""
        at = {leaf.path: leaf.value for leaf in leaves(system)}
        return np.array([at[path] for path in self.paths], dtype=float)

    def constants(self, system: System) -> np.ndarray:
        """c = prelude(p)."""
        return direct(self.prelude)(self.numbers(system))


_traces: dict = {}


def trace(system: System, live: Sequence[str]) -> Traced:
    """Trace every function of `system` once; systems with the same `graph_key` share one trace (numbers are symbols)."""
    key = (graph_key(system), tuple(live), tuple(sorted(system.defaults())))
    if key not in _traces:
        if not own(type(system)):
            check_plant(system)
        _traces[key] = _kept_trace(system, tuple(live))
    return _traces[key]


def _kept_trace(system: System, live: tuple[str, ...]) -> Traced:
    """The trace, or that of an earlier process."""
    from workbench.numerics.kept_graphs import Graphs, kept  # unused where nothing is traced

    def make() -> Graphs:
        with traced():
            told = vars(_trace(system, live))
        functions = {name: f for name, f in told.items() if isinstance(f, ca.Function)}
        return Graphs(functions, {name: v for name, v in told.items() if name not in functions})

    found = kept("trace", system, (live, sorted(system.defaults())), make)
    words: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in found.words.items()
    }
    return Traced(**found.functions, **words)


def _trace(system: System, live: tuple[str, ...]) -> Traced:
    free = [leaf for leaf in leaves(system) if not leaf.constant]
    p, entries = symbols("p", len(free))
    bound = bind(system, {leaf.path: e for leaf, e in zip(free, entries)})
    t = quick(ca.SX.sym("t"))
    x, xs = symbols("x", len(system.states))
    w, ws = symbols("w", len(live))
    # Unprovided inputs keep their default; where that follows from parameters it is an expression of p.
    defaults = bound.defaults()
    at = dict(zip(live, ws))
    u = [at.get(s.name, defaults.get(s.name, 0.0)) for s in system.inputs]
    parts = {
        "flow": [*bound.rhs(t, xs, u), *bound.powers(t, xs, u)],
        "jump": bound.update(t, xs, u),
        "release": bound.release(t, xs, u),
        "start": bound.start(t, xs, u),
        "log": [*bound.monitor(t, xs, u), bound.stored(t, xs, u)],
        "out": bound.out(t, xs),
        "guards": bound.guards(t, xs, u),
        "project": bound.project(t, xs),
    }
    free_of_constraints = _same(parts["project"], xs)
    stiff = [names(system.states).index(name) for name in system.stiff]
    # By these states alone: rates of change of nothing else are carried through the flow.
    J = ca.jacobian(column(parts["flow"])[stiff], column([xs[i] for i in stiff]))
    blocks = coupled(J.sparsity())
    moving = _moving(parts["flow"][: len(xs)])
    parts["motion"] = [*parts["flow"][:moving], *parts["flow"][len(xs) :]]
    parts["stiff"] = [J[i, j] for block in blocks for j in block for i in block]
    expressions, c, prelude = hoist([column(part) for part in parts.values()], p)
    made = {}
    for name, e in zip(parts, expressions):
        made[name] = ca.Function(name, [t, x, w, c], [e], ["t", "x", "w", "c"], ["y"])
        check_constants(made[name], f"{type(system).__name__}.{name}")
    if free_of_constraints:
        made["project"] = None
    return Traced(
        live,
        tuple(leaf.path for leaf in free),
        len(system.states),
        len(system.power_names),
        ca.Function("prelude", [p], [prelude], ["p"], ["c"]),
        **made,
        blocks=tuple(map(len, blocks)),
        stiff_at=tuple(stiff[i] for block in blocks for i in block),
        n_moving=moving,
    )


def _same(values: Sequence, entries: Sequence) -> bool:
    """Whether these values are the symbols themselves."""
    return all(
        a is b or symbolic([a]) and a.element_hash() == b.element_hash()
        for a, b in zip(values, entries)
    )


def _moving(rates: Sequence) -> int:
    """How many states there are up to the last one whose rate is not zero."""
    places = [i + 1 for i, rate in enumerate(rates) if not column([rate]).is_zero()]
    return max(places, default=0)


def coupled(pattern: ca.Sparsity) -> list[list[int]]:
    """Indices of a square pattern, in groups that have no entry in common: the matrix is block diagonal in them."""
    group = {i: [i] for i in range(pattern.size1())}
    for i, j in zip(*pattern.get_triplet()):
        if group[i] is not group[j]:
            joined = sorted(group[i] + group[j])
            group |= dict.fromkeys(joined, joined)
    return [g for i, g in group.items() if g[0] == i]


def hoist(expressions: list[ca.SX], p: ca.SX) -> tuple[list[ca.SX], ca.SX, ca.SX]:
    """Pull what depends on p alone out of the expressions: (expressions over c, symbols c, c as function of p)."""
    sizes = [e.numel() for e in expressions]
    whole = ca.cse(ca.vertcat(*[ca.densify(e) for e in expressions]))
    whole, found, values = ca.extract_parametric(whole, p)
    mine = {p[i].element_hash() for i in range(p.numel())}
    extra = [e for e in ca.symvar(whole) if e.element_hash() in mine]
    found = list(found) + extra
    values = list(values) + extra
    c = ca.SX.sym("c", len(found))
    whole = ca.substitute([whole], [ca.vertcat(*found)], [c])[0] if found else whole
    cut = []
    at = 0
    for n in sizes:
        cut.append(whole[at : at + n])
        at += n
    return cut, c, ca.vertcat(*values) if found else ca.SX(0, 1)


def check_constants(f: ca.Function, where: str) -> None:
    """A NaN constant in a trace is an error: it would spread silently."""
    for k in range(f.n_instructions()):
        if f.instruction_id(k) == ca.OP_CONST and math.isnan(f.instruction_constant(k)):
            raise InputError(
                f"{where}: a constant of the traced expressions is not a number",
                mend="write vectors of expressions as lists (np.zeros cannot hold them) and check the parameters",
            )


def solve(columns: Sequence[Sequence], b: Sequence) -> list:
    """x with Σ columns_i x_i = b, for a small square system of floats or expressions."""
    n = len(b)
    if symbolic([e for c in columns for e in c] + list(b)):
        x = (
            ca.inv_minor(ca.horzcat(*[column(c) for c in columns])) @ column(b)
            if n > 1
            else column(b) / columns[0][0]
        )
        return [x[i] for i in range(n)]
    return [float(v) for v in np.linalg.solve(np.array(columns, float).T, np.array(b, float))]
