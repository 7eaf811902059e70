"""A predictive law as numbers: what its C takes, remembers and solves at a sample, and what stands around it."""

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
from workbench.interop.export.linear_core import LinearCore
from workbench.interop.export.path_core import PathCore
from workbench.interop.export.surroundings import Surroundings, surroundings

REGULARISED = 0.1  # n ε cond(H) above which DAQP solves another problem


@dataclass(frozen=True, eq=False)
class SolverGraph:
    """The predictive law inside `controller`; its memory, then that of the wrappers around it.

    core: the law's own numbers, memory and text.
    """

    controller: Any
    core: LinearCore | PathCore

    parameters: tuple[Leaf, ...] = ()

    @property
    def law(self) -> Any:
        return self.core.law

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
    def memory(self) -> tuple[Signal, ...]:
        return (*self.core.memory, *self.controller.states)

    @property
    def values(self) -> np.ndarray:
        return np.zeros(0)

    @property
    def constants(self) -> np.ndarray:
        return np.concatenate([values.ravel() for values in self.fields.values()])

    @property
    def initial(self) -> np.ndarray:
        """The law's memory before the first sample, then that of the wrappers."""
        return np.concatenate([self.core.initial, np.asarray(self.controller.initial(), float)])

    @cached_property
    def fields(self) -> dict[str, np.ndarray]:
        """Name of a member of the constants → its numbers, in order; C has no empty ones."""
        found = {**self.core.fields, "around": self.around.constants}
        return {
            name: np.asarray(v, float) if np.size(v) else np.zeros(1) for name, v in found.items()
        }


def is_solver(controller: Any) -> bool:
    """Whether the law inside is one that solves a program at every sample."""
    law = innermost(controller)
    return isinstance(law, Plain) and isinstance(law.law, Predictive)


def solver_graph(controller: Any) -> SolverGraph:
    """The numbers of a predictive law.

    Raises InputError for one that has constraints of the user's own, or whose Hessian is too near
    to singular.
    """
    law = innermost(controller).law
    why = _unfit(law)
    if why:
        raise InputError(
            f"MPC: {why}", key="controller", mend="export VDC, PID, LQR or an MPC without them"
        )
    core = PathCore(law) if law.relinearise else LinearCore(law)
    n = len(law.prepared.dense.H)
    if n * np.finfo(float).eps * core.condition > REGULARISED:
        raise InputError(
            f"MPC: its Hessian is nearly singular (condition {core.condition:.1e}), and the solver would change it",
            key="controller",
            mend="give commands or their moves a larger weight (R or S)",
        )
    return SolverGraph(controller, core)


def _unfit(law: Any) -> str:
    if law.extra is not None:
        return "constraints of your own are solved by a general solver, which has no C here"
    return ""
