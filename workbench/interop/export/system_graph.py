"""A plant, or a loop, as graphs of its own, with the steps that its verified run takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf, leaves
from workbench.contract.system import ClosedLoop, Signal, System
from workbench.numerics.calculus import Traced
from workbench.numerics.native import OFFSETS, Loop
from workbench.run.grid import Grid


@dataclass(frozen=True, eq=False)
class SystemGraph:
    """A plant or a loop over (t, x, w, c), as `Traced`, and how a sample of it is integrated.

    grid      samples of the run, and the steps within one
    start     x before the first sample
    driven    whether inputs change between samples in the run, so that a step takes them at its stages
    """

    part: str
    system: System
    traced: Traced
    grid: Grid
    start: np.ndarray
    driven: bool

    @property
    def states(self) -> tuple[Signal, ...]:
        return self.system.states

    @property
    def inputs(self) -> tuple[Signal, ...]:
        return self.system.inputs

    @property
    def outputs(self) -> tuple[Signal, ...]:
        """Outputs of the plant and, of a loop, the commands that are held."""
        return (*self.system.outputs, *self._commands)

    @property
    def _commands(self) -> tuple[Signal, ...]:
        """None of a plant: there they are inputs."""
        return self.system.controller.commands if isinstance(self.system, ClosedLoop) else ()

    @property
    def moving(self) -> int:
        """How many of the states are the plant's; the others are the law's memory."""
        return len(self.system.plant.states)

    @property
    def defaults(self) -> list[float]:
        """What the inputs are where nobody gives them."""
        given = self.system.defaults()
        return [float(given.get(s.name, 0.0)) for s in self.inputs]

    @cached_property
    def parameters(self) -> tuple[Leaf, ...]:
        at = {leaf.path: leaf for leaf in leaves(self.system)}
        return tuple(at[path] for path in self.traced.paths)

    @property
    def values(self) -> np.ndarray:
        return self.traced.numbers(self.system)

    @property
    def constants(self) -> np.ndarray:
        return self.traced.constants(self.system)

    @property
    def sample_time(self) -> float:
        return float(self.grid.T)

    @property
    def stages(self) -> int:
        """Instants within a sample at which a flow that is driven needs its inputs."""
        return len(OFFSETS) * (self.grid.n1 + self.grid.n2)

    @cached_property
    def outcome(self) -> ca.Function:
        """y(t, x, w, c)."""
        t = self.traced
        given = [ca.SX.sym(t.out.name_in(i), t.out.size1_in(i)) for i in range(4)]
        told = t.log(*given)
        end = told.numel() - 1  # the last is the stored energy, before it are the commands
        commands = [told[i] for i in range(end - len(self._commands), end)]
        y = ca.densify(ca.vertcat(t.out(*given), *commands))
        return ca.Function("outcome", given, [y], t.out.name_in(), ["y"])

    @cached_property
    def functions(self) -> tuple[list[ca.Function], dict[str, object]]:
        """What driver.c calls, by name, and its #defines: the flow alone, without energies.

        Raises InputError where these are too long for a compiler.
        """
        t = self.traced
        given = [ca.SX.sym(t.motion.name_in(i), t.motion.size1_in(i)) for i in range(4)]
        motion = ca.Function("motion", given, [t.motion(*given)[: t.n_moving]])
        nothing = ca.Function("logged", given, [ca.SX(0, 1)])
        found = Loop(replace(t, n_powers=0, motion=motion, log=nothing), compiled=False).text()
        if found is None:
            raise InputError(
                f"the {self.part} has more operations than a C compiler bears",
                key=self.part,
                mend="export the controller alone",
            )
        functions, sizes = found
        return functions, {**sizes, "WSTRIDE": sizes["NW"] if self.driven else 0}
