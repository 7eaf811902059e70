"""A linear predictive law as numbers: what it multiplies, bounds and solves at a sample. Its quadratic program is solved by DAQP.

    x ← x + L (y − h − C_a x),  θ = (x, u_{−1}, d, r, 1),  z = argmin ½ zᵀHz + (F θ + c₁)ᵀz  within bounds that follow θ,
    u = stroke · (first move of z),  x ← next θ + B u

DAQP has H = RᵀR as R⁻¹, and the constraints as M = G R⁻¹, rows of both of length one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.contract.capabilities import Predictive
from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf
from workbench.contract.plain import Plain
from workbench.contract.system import Signal, innermost
from workbench.interop.export.surroundings import Surroundings, surroundings

ZERO = 1e-11  # squared length of a row below which DAQP leaves it out
REGULARISED = 0.1  # n ε cond(H) above which DAQP solves another problem
REFINED = 1e6  # cond(H) above which it refines its solution


@dataclass(frozen=True, eq=False)
class SolverGraph:
    """The predictive law inside `controller`, with the numbers of its problem; its memory, then that of the wrappers around it."""

    controller: Any
    law: Any

    parameters: tuple[Leaf, ...] = ()

    @cached_property
    def around(self) -> Surroundings:
        """The wrappers around the law."""
        return surroundings(self.controller)

    @property
    def measured(self) -> tuple[Signal, ...]:
        return tuple(self.controller.measured)

    @property
    def references(self) -> tuple[Signal, ...]:
        return tuple(self.controller.references)

    @property
    def commands(self) -> tuple[Signal, ...]:
        return tuple(self.law.commands)

    @property
    def values(self) -> np.ndarray:
        return np.zeros(0)

    @property
    def constants(self) -> np.ndarray:
        return np.concatenate([values.ravel() for values in self.fields.values()])

    @property
    def initial(self) -> np.ndarray:
        """The model's start, nothing commanded, no plan."""
        start = np.asarray(self.law.prepared.start_x, float)
        rest = np.zeros(len(self.own_memory) - len(start))
        return np.concatenate([start, rest, np.asarray(self.controller.initial(), float)])

    @property
    def memory(self) -> tuple[Signal, ...]:
        return (*self.own_memory, *self.controller.states)

    @cached_property
    def own_memory(self) -> tuple[Signal, ...]:
        """What the law itself remembers."""
        law, dense = self.law, self.law.prepared.dense
        q = dense.problem
        n_z = len(dense.H)
        states = [
            Signal(f"estimate_{i}", "", f"of the model's state {i}") for i in range(len(q.model.A))
        ]
        offs = len(law.prepared.start_x) - len(states)
        return (
            *states,
            *(Signal(f"disturbance_{i}", "", "estimated") for i in range(offs)),
            *(Signal(f"{s.name}_before", s.unit, f"last {s.name}") for s in self.commands),
            *(Signal(f"plan_{i}", "1", "last solution") for i in range(n_z)),
            Signal("plan_age", "1", "samples since it was found, and one; 0: there is none"),
            *(
                Signal(f"active_{i}", "1", "number of an active limit, < 0 a lower one, 0 none")
                for i in range(n_z + 1)
            ),
            Signal(
                "status", "1", "of the last solve: 1 optimal, 2 soft limits exceeded, else none"
            ),
            Signal("iterations", "1", "of the last solve"),
            Signal("fallback", "1", "0 none, 1 the last plan, 2 the terminal law, 3 held"),
        )

    @cached_property
    def ldp(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(R⁻¹ with rows of length one, M likewise, their scaling, which rows of M are zero)."""
        dense = self.law.prepared.dense
        inverse = np.linalg.inv(np.linalg.cholesky((dense.H + dense.H.T) / 2).T)
        M = dense.G @ inverse
        lengths = np.linalg.norm(np.vstack([inverse, M]), axis=1)
        zero = np.square(lengths) < ZERO
        zero[: len(inverse)] = False
        scaling = 1 / np.where(zero, 1.0, lengths)
        n = len(inverse)
        return scaling[:n, None] * inverse, scaling[n:, None] * M, scaling, zero[n:]

    @cached_property
    def condition(self) -> float:
        """An estimate of cond(H), as DAQP makes it."""
        H = self.law.prepared.dense.H
        return float(np.linalg.inv(H).diagonal().max() * H.diagonal().max())

    @cached_property
    def fields(self) -> dict[str, np.ndarray]:
        """Name of a member of the constants → its numbers, in order."""
        law, made = self.law, self.law.prepared
        dense = made.dense
        q = dense.problem
        inverse, M, scaling, _ = self.ldp
        law_of_rest = _terminal(q)
        found = {
            **_observer(law, made),
            "rows": np.vstack([dense.F, dense.G_θ]),
            "c1": dense.c1,
            "low": np.concatenate([dense.z_low, dense.low]),
            "high": np.concatenate([dense.z_high, dense.high]),
            "G": dense.G,
            "M": M,
            "Rinv": inverse[np.triu_indices(len(inverse))],
            "scaling": scaling,
            "stroke": q.stroke,
            "per_stroke": 1 / q.stroke,
            "slew": q.slew,
            "slew_per_stroke": np.clip(q.slew / q.stroke, 0.0, 1e30),
            "u_min": q.u_min,
            "u_max": q.u_max,
            "next": made.next_θ,
            "B": q.model.B,
            **law_of_rest,
            **({"overlap": law.overlap.u_d} if law.overlap else {}),
            "around": self.around.constants,
        }
        return {
            name: np.asarray(v, float) if np.size(v) else np.zeros(1) for name, v in found.items()
        }


def _observer(law: Any, made: Any) -> dict[str, np.ndarray]:
    """What the estimate is corrected by, and fitted by to the first measurement: the nearest state that explains it."""
    if made.L is None:
        return {}
    model = made.problem.model
    scaled = model.C[:, : model.n] * made.sizes
    fit = made.sizes[:, None] * np.linalg.pinv(scaled, rcond=1e-10)
    return {"L": made.L, "C_a": made.C_a, "h": np.asarray(model.h), "start": fit}


def _terminal(q: Any) -> dict[str, np.ndarray]:
    """The terminal law, and the rest it leads to."""
    if q.K is None:
        return {}
    x_s, u_s = (M[:, : q.n_θ] for M in q.steady(q.N))
    return {"x_s": x_s, "u_s": u_s, "K": q.K}


def is_solver(controller: Any) -> bool:
    """Whether the law inside is one that solves a program at every sample."""
    law = innermost(controller)
    return isinstance(law, Plain) and isinstance(law.law, Predictive)


def solver_graph(controller: Any) -> SolverGraph:
    """The numbers of a linear predictive law.

    Raises InputError for one that linearises anew at every sample, has constraints of the user's own, or whose Hessian is too near
    to singular.
    """
    law = innermost(controller).law
    why = _unfit(law)
    if why:
        raise InputError(
            f"MPC: {why}", key="controller", mend="export VDC, PID, LQR or a linear MPC"
        )
    graph = SolverGraph(controller, law)
    n = len(law.prepared.dense.H)
    if n * np.finfo(float).eps * graph.condition > REGULARISED:
        raise InputError(
            f"MPC: its Hessian is nearly singular (condition {graph.condition:.1e}), and the solver would change it",
            key="controller",
            mend="give commands or their moves a larger weight (R or S)",
        )
    return graph


def _unfit(law: Any) -> str:
    if law.relinearise:
        return "it linearises anew along every prediction, which is calculated in Python"
    if law.extra is not None:
        return "constraints of your own are solved by a general solver, which has no C here"
    return ""
