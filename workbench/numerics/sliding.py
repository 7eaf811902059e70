"""A friction law driven along a speed that is given: forces, memory, and their derivatives by the law's numbers.

    drive(law, t, v) → Driven     f_f(t), z(t) for v(t), straight between samples
    steady(law, v)                f_f of steady sliding

The law is any object of `plants.components.friction`'s protocol. Each stretch is cut into equal parts over which speed is held at
its mean and the memory moves as `law.after` says: stable for bristles of any stiffness, of order two in the parts (one where a
film couples into the bristles), their number doubled until the force is settled.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind, graph_key, leaves
from workbench.contract.scalars import Scalar, Vector
from workbench.numerics.c_code import MOST_OPERATIONS, address, generated
from workbench.numerics.compiler import library
from workbench.numerics.expressions import column, symbols

# Share of the largest force: change by twice as many parts at which these are enough.
SETTLED = 1e-4
MOST_PARTS = 64
CHUNK = 1000  # steps the virtual machine takes at once: what it needs for them stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Driven:
    """f_f [N] (N,), memory z (N, m), speed and time; `slopes` (N, p): ∂f_f by the numbers called `names`, when asked for."""

    t: np.ndarray
    v: np.ndarray
    F: np.ndarray
    z: np.ndarray
    names: tuple[str, ...] = ()
    slopes: np.ndarray | None = None

    @property
    def x(self) -> np.ndarray:
        """Distance slid, m (trapezoids, exact for speeds straight between samples)."""
        return np.concatenate(
            [[0.0], np.cumsum(0.5 * (self.v[1:] + self.v[:-1]) * np.diff(self.t))]
        )


_MARCH = """
void march(long n, const double *ends, const double *p, double *rows, double *work) {
  for (long k = 0; k < n; ++k) {
    const double *arg[3] = {rows + k * ROW, ends + 3 * k, p};
    double *res[1] = {rows + (k + 1) * ROW};
    slide(arg, res, 0, work, 0);
  }
}
"""


class _Step:
    """Rows (memory, its derivatives, f_f, its derivatives) one after the other; compiled where it shall and can be."""

    def __init__(self, f: ca.Function, compiled: bool) -> None:
        self.f, self.lib = f, None
        if compiled and f.n_instructions() <= MOST_OPERATIONS:
            self.lib = library(generated([f], {"ROW": f.size1_out(0)}, _MARCH))
        if self.lib is not None:
            self.lib.march.argtypes = [ctypes.c_long, *4 * [ctypes.c_void_p]]
            self.lib.march.restype = None

    def __call__(self, first: Any, ends: Any, p: Any) -> np.ndarray:
        """(n + 1, …) rows from the first and the (n, 3) speeds before and after and times between."""
        rows = np.empty((len(ends) + 1, self.f.size1_out(0)))
        rows[0], p = first, np.array(p)
        if self.lib is not None:
            ends = np.ascontiguousarray(ends)
            work = np.empty(self.f.sz_w() + 1)
            self.lib.march(len(ends), *map(address, (ends, p, rows, work)))
            return rows
        size = min(CHUNK, len(ends))
        march = self.f.mapaccum(size)
        p = np.repeat(p[:, None], size, axis=1)
        for k in range(0, len(ends), size):
            part = ends[k : k + size]
            # No time: nothing moves.
            still = np.tile([part[-1, 1], part[-1, 1], 0.0], (size - len(part), 1))
            rows[k + 1 : k + 1 + len(part)] = np.array(
                march(rows[k], np.vstack([part, still]).T, p)
            ).T[: len(part)]
        return rows


@dataclass(frozen=True, eq=False)
class _Functions:
    names: tuple[str, ...]
    m: int
    steady: ca.Function
    step: _Step | None
    sensitive: _Step | None


_known: dict[str, _Functions] = {}


def _functions(law: Any) -> _Functions:
    """Traced once for each class of laws, numbers as symbols."""
    key = graph_key(law)
    if key not in _known:
        names = tuple(leaf.path for leaf in leaves(law))
        p, entries = symbols("p", len(names))
        bound = bind(law, dict(zip(names, entries)))
        m = len(law.states(""))
        v = ca.SX.sym("v")
        F = bound.steady(v)
        curve = ca.Function("steady", [v, p], [F, ca.jacobian(F, p)])
        steps = [
            _Step(_stepped(bound, m, p, slopes), slopes) if m else None for slopes in (False, True)
        ]
        _known[key] = _Functions(names, m, curve, *steps)
    return _known[key]


def _stepped(law: Any, m: int, p: Any, slopes: bool) -> ca.Function:
    """(row before, (speed before, speed after, time), p) → row after: z, vec ∂z/∂p, f_f, ∂f_f/∂p."""
    k = p.numel() if slopes else 0
    row = ca.SX.sym("row", m * (1 + k) + 1 + k)
    ends = ca.SX.sym("ends", 3)
    z, begin = symbols("z", m)
    at, there = symbols("at", m)
    mid = 0.5 * (ends[0] + ends[1])
    after = column(law.after(ends[2], mid, begin, law.rate(mid, begin)))
    force = column([law.force(ends[1], there)])
    made = [after, ca.substitute(force, at, after)]
    if slopes:
        S = ca.reshape(row[m : m * (1 + k)], m, k)
        S = ca.jacobian(after, z) @ S + ca.jacobian(after, p)
        dF = ca.substitute(ca.jacobian(force, at), at, after) @ S + ca.substitute(
            ca.jacobian(force, p), at, after
        )
        made = [made[0], ca.vec(S), made[1], dF.T]
    whole = ca.substitute(ca.densify(ca.vertcat(*made)), z, row[:m])
    return ca.Function("slide", [row, ends, p], [whole])  # no name of the C library, such as step


def _numbers(law: Any) -> list[float]:
    return [float(leaf.value) for leaf in leaves(law)]


def steady(law: Any, v: Vector) -> tuple[np.ndarray, np.ndarray]:
    """f_f [N] (N,) after sliding at each v (N,) for long, and its derivatives (N, p) by the law's numbers."""
    f = _functions(law)
    v = np.asarray(v, float).ravel()
    F, J = f.steady.map(v.size)(
        v[None, :], np.repeat(np.array(_numbers(law))[:, None], v.size, axis=1)
    )
    return np.array(F).ravel(), np.array(J).reshape(v.size, -1)


def drive(
    law: Any,
    t: Scalar,
    v: Vector,
    *,
    start: Any = None,
    slopes: bool = False,
    parts: int | None = None,
) -> Driven:
    """The law along v(t), both (N,), straight between samples.

    start   memory at t[0]; default: none, as after a long rest
    slopes  also ∂f_f/∂p
    parts   of each stretch; default: as many as the force needs to settle to 1e-4
    Raises InputError for times that do not increase, or numbers that are none.
    """
    t = np.asarray(t, float).ravel()
    v = np.asarray(v, float).ravel()
    if (
        t.size != v.size
        or t.size < 2
        or not (np.isfinite(t).all() and np.isfinite(v).all())
        or (np.diff(t) <= 0).any()
    ):
        raise InputError(
            f"{t.size} instants and {v.size} speeds",
            mend="give finite numbers, as many, at instants that increase",
        )
    start = [0.0] * len(law.states("")) if start is None else [float(e) for e in start]
    if parts is None:
        parts = enough(law, t, v, start)
    return _driven(law, t, v, start, slopes, parts)


def enough(law: Any, t: Scalar, v: Vector, start: Any = None) -> int:
    """Parts of each stretch at which the force no longer depends on their number."""
    start = [0.0] * len(law.states("")) if start is None else list(start)
    if not start:
        return 1
    parts = 1
    F = _driven(law, t, v, start, False, 1).F
    while parts < MOST_PARTS:
        parts, before, F = 2 * parts, F, _driven(law, t, v, start, False, 2 * parts).F
        if np.abs(F - before).max() <= SETTLED * np.abs(F).max():
            break
    return parts


def _driven(law: Any, t: Scalar, v: Vector, start: Any, slopes: Any, parts: Any) -> Driven:
    f = _functions(law)
    c = _numbers(law)
    if not f.m:
        F, J = steady(law, v)
        return Driven(
            t, v, F, np.zeros((t.size, 0)), f.names if slopes else (), J if slopes else None
        )
    # Instants between samples, where the speed is on the straight line; first one that takes no time, for the force there.
    share = np.arange(1, parts + 1) / parts
    fine = np.concatenate([v[:1], v[:1], (v[:-1, None] + np.diff(v)[:, None] * share).ravel()])
    times = np.concatenate([[0.0], np.repeat(np.diff(t) / parts, parts)])
    step, k = (f.sensitive, len(c)) if slopes else (f.step, 0)
    assert step is not None  # a law with memory has both
    at = f.m * (1 + k)
    rows = step(
        np.concatenate([start, np.zeros(at - f.m + 1 + k)]),
        np.stack([fine[:-1], fine[1:], times], axis=1),
        c,
    )[1::parts]
    return Driven(
        t,
        v,
        rows[:, at],
        rows[:, : f.m],
        f.names if slopes else (),
        rows[:, at + 1 :] if slopes else None,
    )
