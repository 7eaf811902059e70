"""Stiff flows: RODAS with exact Jacobians and a linear solver made for the system's own pattern.

A plant asks for it by having `adaptive` or `fixed` (`workbench.numerics.adaptive`). The method has six stages, order 4 with an
embedded order 3, is L-stable and stiffly accurate, and takes flows that depend on time. Its stages need k in

    (1/(h γ) − J) k = r,   J = ∂f/∂x, traced

J's pattern is known, so the elimination is planned once (least fill first, pivots on the diagonal) and becomes
straight-line code: states that couple only through a few others cost little. Adaptive steps end exactly on samples, on jumps of
the controller and on the flow's known edges; an edge of a watched state is not stepped over. Inputs that vary are
followed by a polynomial through five instants of every `max_step`. Equal steps evaluate one Jacobian and one
factorisation each, end on samples and on jumps of inputs (`simulate.grid`), and take inputs at the stages themselves.

Source: [Hairer96] section VI.4 (RODAS).
"""

from __future__ import annotations

import ctypes
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import System, names
from workbench.numerics.adaptive import Adaptive, adaptive, fixed
from workbench.numerics.c_code import (
    MOST_OPERATIONS,
    NUMBERS,
    address,
    generated,
    own_text,
    renamed,
)
from workbench.numerics.calculus import Traced
from workbench.numerics.compiler import library
from workbench.numerics.native import Loop, declare, projection, shown
from workbench.numerics.rodas import AT, GAMMA, LEAST, NODES, POLY, ROW, SLOPE, STAGES, A, C, D
from workbench.numerics.samples import Samples
from workbench.numerics.stiff_solver import slopes, solver


class StiffLoop(Loop):
    """`native.Loop` with adaptive steps, or equal ones where nothing adaptive is wanted: the same `run`, `begin` and rows."""

    around = "stiff.c"
    FIRST = 1e-6  # s, step after a jump or an edge
    NEAR = 2e-6  # s before an edge that one step may take; farther away, half of what is left
    RELATIVE = 1e-9  # of a state, added to the error a step may make: what grows without bound shall not stall

    def __init__(
        self,
        traced: Traced,
        wanted: Adaptive | None,
        states: list[str],
        compiled: bool | None = None,
    ) -> None:
        self.slope, self.pattern = slopes(traced)
        self.lu, self.solve = solver(self.pattern, traced.n_powers)
        self.fixed = wanted is None
        self.edges = 0 if wanted is None else len(wanted.edges)
        self.watched = states.index(wanted.watched) if wanted and wanted.watched else 0
        self.n_c = traced.flow.size1_in(3)
        super().__init__(traced, compiled)
        self.offsets = STAGES if self.fixed else NODES

    def constants(self, system: System, tolerance: float = 1.0) -> np.ndarray:
        """The flow's constants followed by the integrator's settings; `tolerance`: share of the errors that the plant allows."""
        wanted = adaptive(system)
        if self.fixed or wanted is None:
            return np.ascontiguousarray(self.traced.constants(system))
        moving = self.traced.n_moving
        # Memory of a continuous law comes after the plant's states.
        errors = [*wanted.errors, *[1e-8] * moving][:moving]
        errors = [tolerance * error for error in errors]
        relative = max(tolerance * self.RELATIVE, LEAST)
        own = self.traced.constants(system)
        return np.concatenate([own, errors, [wanted.period], wanted.edges, [relative]])

    def _build(self) -> Any:
        text = self.text()
        if text is None:
            return None
        named, sizes = text
        # Sines and their like are those of explicit loops, so that a law's commands do not rest on the integrator.
        counted = {**sizes, "LANES": 1, "COUNTED": 1}
        lib = library(generated(named, counted, own_text(self.around), NUMBERS))
        if lib is not None:
            declare(lib)
            lib.steps.argtypes = [ctypes.c_void_p]
            self.work = max(f.sz_w() for f in named) + 1
        return lib

    def text(self) -> tuple[list[ca.Function], dict[str, object]] | None:
        """(functions that stiff.c calls, by name; its #defines); None where they are too long for a compiler."""
        t = self.traced
        parts = {
            "flow": t.motion,
            "jump": t.jump,
            "release": t.release,
            "start": t.start,
            "measured": t.out,
            "slope": self.slope,
            "lu": self.lu,
            "solve": self.solve,
            **shown(t),
            **projection(t),
        }
        if max(f.n_instructions() for f in parts.values()) > MOST_OPERATIONS:
            return None
        named = [renamed(f, name) for name, f in parts.items()]
        table = lambda rows: (
            "{" + ", ".join("{" + ", ".join(map(repr, row or (0.0,))) + "}" for row in rows) + "}"
        )
        row = lambda numbers: "{" + ", ".join(map(repr, numbers)) + "}"
        defines = {
            "NX": self.n_x,
            "NI": t.n_moving,
            "NQ": self.n_q,
            "NW": self.n_w,
            "NM": self.n_m,
            "NC": self.n_c,
            "NJ": self.pattern.nnz(),
            "NLU": self.lu.numel_out(0),
            "NE": self.edges,
            "WATCHED": self.watched,
            "NODES": len(NODES),
            "WSTRIDE": self.n_w if t.flow_is_driven else 0,
            "PROJECTED": len(projection(t)),
            "FIXED": int(self.fixed),
            "FIRST": self.FIRST,
            "NEAR": self.NEAR,
            "GAMMA": GAMMA,
            "TABLE_A": table(A),
            "TABLE_C": table(C),
            "TABLE_AT": row(AT),
            "TABLE_D": row(D),
            "TABLE_ROW": row(ROW),
            "TABLE_SLOPE": row(map(float, SLOPE)),
            "TABLE_POLY": table(POLY.tolist()),
        }
        return named, defines

    def begin(self, t0: Scalar, x: Vector, w: Vector, c: Any) -> np.ndarray:
        return super().begin(t0, x, w, c[: self.n_c])

    def steps(self) -> tuple[int, int]:
        """Steps tried and accepted since the code was loaded (compiled only)."""
        out = np.zeros(2, dtype=np.int64)
        assert self.lib is not None  # the virtual machine counts none
        self.lib.steps(address(out))
        return int(out[0]), int(out[1])

    def _run_vm(self, asked: Samples) -> int:
        from workbench.numerics.stiff_vm import run

        return run(self, asked)


_machines: dict = {}


def stiff_loop(
    system: System, traced: Traced, compiled: bool | None = None, tolerance: float = 1.0
) -> tuple[StiffLoop, np.ndarray]:
    """The integrator of a trace, built once, and the constants it takes."""
    wanted = None if fixed(system) else adaptive(system)
    key = (id(traced), wanted and (len(wanted.edges), wanted.watched), compiled)
    if key not in _machines:
        _machines[key] = (traced, StiffLoop(traced, wanted, names(system.states), compiled))
    machine = _machines[key][1]
    return machine, machine.constants(system, tolerance)
