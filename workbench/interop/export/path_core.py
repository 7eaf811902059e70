"""A predictive law that linearises anew at every sample, as numbers and the words of its template.

At every sample: extended Kalman filter; the derivatives of the plant along the path predicted last, as an expression graph; e^{AT}
of each point; the program of these models, condensed; DAQP; the path that follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.interop.export.c_text import function
from workbench.interop.export.languages import DOUBLE, statements
from workbench.interop.export.linear_core import (
    REFINED,
    ZERO,
    command_of,
    condition_of,
    listed,
    measured_by,
)
from workbench.interop.export.straight import straight
from workbench.numerics.tangents import HAIR, derivatives

NO_MODEL, FIRST = -10, 4  # of `controllers.mpc.loop` and `controllers.mpc.sequence`


@dataclass(frozen=True, eq=False)
class PathCore:
    """The numbers of the law, its memory, and the words of its template.

    Raises InputError for what its C does not do: constraints on outputs, a terminal cost, weights R of commands, a dead time of its
    own, known disturbances.
    """

    law: Any

    template = "mpc_path.c.in"
    allowed = 1e-9  # of the largest command: sums and exponentials are taken in another order than in the run

    def __post_init__(self) -> None:
        why = unfit(self.law)
        if why:
            raise InputError(
                f"MPC that linearises anew at every sample: {why}, which has no C here",
                key="controller",
                mend="leave it out, or export VDC, PID, LQR or a linear MPC",
            )

    @property
    def observed(self) -> bool:
        return self.law.prepared.L is not None

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Sizes of the template's arrays."""
        made = self.law.prepared
        q = made.problem
        return {
            "s": q.model.n,
            "d": q.model.B_d.shape[1],
            "y": len(self.law.measured),
            "r": len(self.law.references),
            "q": len(q.track),
            "u": len(self.law.commands),
            "w": len(made.held.size_w),
            "p": len(self.law.predicting.outputs),
            "z": len(made.dense.H),
            "g": len(made.dense.G),
            "n": q.N,
            "ahead": q.p,
        }

    @cached_property
    def memory(self) -> tuple[Signal, ...]:
        """What the law itself remembers."""
        return _remembered(self)

    @property
    def initial(self) -> np.ndarray:
        """The model's start and its covariance, nothing commanded, no solution, no path."""
        made = self.law.prepared
        start = np.asarray(made.start_x, float)
        cov = np.asarray(made.kalman_start, float).ravel() if self.observed else np.zeros(0)
        rest = len(self.memory) - len(start) - len(cov)
        return np.concatenate([start, cov, np.zeros(rest)])

    @property
    def condition(self) -> float:
        """An estimate of cond(H), of H where the law was prepared."""
        return condition_of(self.law.prepared.dense.H)

    @cached_property
    def fields(self) -> dict[str, np.ndarray]:
        """Name of a member of the constants → its numbers, in order."""
        made = self.law.prepared
        dense = made.dense
        q = made.problem
        held = made.held
        m = self.sizes["u"]
        w = self.sizes["w"]
        ends = [np.full(w, -np.inf), np.full(w, np.inf)]
        for end, inside in zip(ends, made.inside):
            end[:m] = inside
        filtered = (
            {"V": made.V, "process": made.W, "C_d": q.model.C_d}
            if self.observed
            else {"C_d": np.zeros(1)}
        )
        overlap = {"overlap": self.law.overlap.u_d} if self.law.overlap else {}
        return {
            "plant": made.tangents.c,
            **(measured_by(made) if self.observed else {}),
            **filtered,
            "size_x": held.size_x,
            "size_w": held.size_w,
            "open": made.open,
            "inside_low": np.clip(ends[0], -1e30, 1e30),
            "inside_high": np.clip(ends[1], -1e30, 1e30),
            "Q": q.Q,
            "S": q.S,
            "c1": dense.c1,
            "low": np.concatenate([dense.z_low, dense.low]),
            "high": np.concatenate([dense.z_high, dense.high]),
            "G": dense.G,
            "stroke": q.stroke,
            "per_stroke": 1 / q.stroke,
            "slew": q.slew,
            "slew_per_stroke": np.clip(q.slew / q.stroke, 0.0, 1e30),
            "u_min": q.u_min,
            "u_max": q.u_max,
            **overlap,
        }

    @cached_property
    def _derivatives(self) -> tuple[ca.Function, ca.Function]:
        return derivatives(self.law.prepared.tangents.traced)

    @cached_property
    def functions(self) -> Sequence[str]:
        """The plant's derivatives as C, one operation a line."""
        both, seen = self._derivatives
        found = _function(
            "law_tangent(const double *c, const double *x, const double *w, double *told)", both
        )
        if self.observed:
            found += _function(
                "law_outputs_at(const double *c, const double *x, double *told)", seen
            )
        return found

    @property
    def operations(self) -> int:
        """Outside the solver, at most at a sample that has a path: derivatives, exponentials, products of the condensed program."""
        at = self.sizes
        E = at["s"] + at["w"] + 1
        X = at["s"] + at["d"]
        tangent = sum(straight(self._derivatives[0]).counts.values())
        exponential = 2 * E**3 * 12
        cost = 2 * at["z"] * at["s"] * (at["s"] + at["q"]) + 2 * at["q"] * at["z"] ** 2
        return (at["n"] + 1) * (tangent + exponential + cost) + 2 * at["z"] ** 3 + 8 * X**3

    @property
    def per_iteration(self) -> int:
        """Operations of an iteration of the solver, about: products with all rows, a factor's update, two triangular solves."""
        z = self.sizes["z"]
        return 2 * z * (z + self.sizes["g"]) + 6 * z * z

    def words(self) -> dict[str, str]:
        """What stands in the template."""
        return _words(self)


def _function(head: str, f: ca.Function) -> list[str]:
    """Derivatives as a function of C; time and inputs that it is not given are 0."""
    given = "w[{}]" if "double *w" in head else "0.0"
    reads = lambda argument, place: ("0.0", f"x[{place}]", given.format(place), f"c[{place}]")[
        argument
    ]
    writes = [[f"told[{i}]" for i in range(f.size1_out(0))]]
    return [*function(f"static void {head}", statements(straight(f), DOUBLE, reads, writes)), ""]


def unfit(law: Any) -> str:
    """What the law has that its C has not; "" where there is nothing."""
    q = law.prepared.problem
    found = {
        "it has limits of outputs": bool(law.limits),
        "it has a terminal cost": q.P is not None,
        "R weighs its commands": bool(q.R.any()),
        "it predicts through a dead time of its own": bool(law.delay),
        "disturbances are known ahead": bool(law.known),
    }
    return next((why for why, so in found.items() if so), "")


def _covariance(core: PathCore) -> list[Signal]:
    """Entries of the covariance of states and disturbances, row by row; none without an observer."""
    if not core.observed:
        return []
    every = range(core.sizes["s"] + core.sizes["d"])
    return [Signal(f"covariance_{i}_{j}", "", "of the estimate") for i in every for j in every]


def _remembered(core: PathCore) -> tuple[Signal, ...]:
    """What the law itself remembers."""
    at = core.sizes
    states = core.law.predicting.states
    commands = core.law.commands
    return (
        *(Signal(f"estimate_{s.name}", s.unit) for s in states),
        *(Signal(f"disturbance_{i}", "", "estimated") for i in range(at["d"])),
        *_covariance(core),
        *(Signal(f"{s.name}_before", s.unit, f"last {s.name}") for s in commands),
        *(Signal(f"solution_{i}", "1", "last solution") for i in range(at["z"])),
        Signal("solution_age", "1", "samples since it was found, and one; 0: there is none"),
        Signal("path_known", "1", "whether there is a path"),
        *(
            Signal(f"path_{k}_{s.name}", "", "predicted")
            for k in range(at["n"] + 1)
            for s in states
        ),
        *(
            Signal(f"path_{k}_{s.name}", s.unit, "predicted")
            for k in range(at["n"])
            for s in commands
        ),
        Signal("status", "1", "of the last solve: 1 optimal, -10: no finite derivative, else none"),
        Signal("iterations", "1", "of the last solve"),
        Signal("fallback", "1", "0 none, 1 the last solution, 3 held"),
    )


def _words(core: PathCore) -> dict[str, str]:
    """What stands in the template."""
    law = core.law
    made = core.law.prepared
    q = made.problem
    places = [-1 if place is None else place for place in made.held.places]
    x = core.sizes["s"] + core.sizes["d"]
    return {
        "reads": listed(() if core.observed else made.reads),
        "n_reads": str(0 if core.observed else len(made.reads)),
        "rows_of_y": ", ".join(map(str, made.rows)),
        "tracked": ", ".join(map(str, q.track)),
        "acts_at": listed(places),
        "block_of": ", ".join(map(str, np.repeat(np.arange(len(q.blocks)), q.blocks)[: q.N])),
        "observed": str(int(core.observed)),
        "fitted": str(q.model.n),
        "covariance": "X * X" if core.observed else "0",
        "x": str(x),
        "hair": repr(HAIR),
        "zero": repr(ZERO),
        "refined": repr(REFINED),
        "rounds": str(law.iterations),
        "first": str(FIRST),
        "no_model": f"({NO_MODEL})",
        "command": command_of(law),
    }
