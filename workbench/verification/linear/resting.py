"""A loop at rest: what its graphs give there, and its matrices from sample to sample, or in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from workbench.contract.system import names
from workbench.contract.wrappers import dead_time
from workbench.numerics.calculus import Traced, trace


@dataclass(frozen=True, eq=False)
class Rest:
    """A loop, its graphs and their slopes at states x and inputs w, which are moved until it rests there.

    state: names of the states. commands: of what the law commands. held: where x has the held commands of a sampled law.
    """

    loop: Any
    traced: Traced
    jac: Mapping[str, ca.Function]
    constants: np.ndarray
    x: np.ndarray
    w: np.ndarray

    @property
    def state(self) -> list[str]:
        """Names of the loop's states, in their order."""
        return list(names(self.loop.states))

    @property
    def commands(self) -> list[str]:
        """Names of what the law commands, in their order."""
        return list(names(self.loop.controller.commands))

    @property
    def held(self) -> list[int]:
        """Where x has the held command of each of `commands`; only a sampled law has them."""
        state = self.state
        return [state.index(f"{u}_held") for u in self.commands]

    def value(self, graph: ca.Function) -> np.ndarray:
        """What a graph gives here, as one row of numbers."""
        return np.array(graph(0.0, self.x, self.w, self.constants)).ravel()

    def by_states(self, part: str) -> np.ndarray:
        """Slopes of flow, jump, release or log by the states."""
        return np.array(self.jac[part](0.0, self.x, self.w, self.constants)[0])

    def by_inputs(self, part: str) -> np.ndarray:
        """Slopes of flow, jump, release or log by the inputs."""
        return np.array(self.jac[part](0.0, self.x, self.w, self.constants)[1])

    def put(self, name: str, value: float) -> None:
        """Sets a state, where the loop has it."""
        if name in self.state:
            self.x[self.state.index(name)] = value


def monodromy(at: Rest, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(M, B, C) of a sampled loop, from sample to sample; A: its flow between them."""
    from scipy.linalg import expm

    T = float(at.loop.period)
    lag = float(at.loop.lag)
    J = at.by_states("jump")
    after = expm(A * (T - lag))
    if lag > 0:
        after = after @ at.by_states("release") @ expm(A * lag)
    state = at.state
    enter = np.zeros((len(state), len(at.held)))
    delay = dead_time(at.loop.controller)
    for k, (i, u) in enumerate(zip(at.held, at.commands)):
        enter[i, k] = 1.0
        if f"{u}_applied" in state and delay == 0:
            enter[state.index(f"{u}_applied"), k] = 1.0
    return after @ J, after @ enter, J[at.held]


def continuous(at: Rest, A, rows: list[int], wanted) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(A, B, C) of a loop without samples. rows: where its log has the commands; wanted: what they are there."""
    plant = at.loop.plant
    own = trace(plant, tuple(at.commands))
    m = own.n_states
    a = [ca.SX.sym(n, own.flow.size1_in(i)) for i, n in enumerate("txwc")]
    drive = ca.Function("drive", a, [ca.densify(ca.jacobian(own.flow(*a), a[2]))])
    B = np.zeros((len(A), len(at.commands)))
    B[:m] = np.array(drive(0.0, at.x[:m], wanted, own.constants(plant)))[:m]
    return A, B, at.by_states("log")[rows]
