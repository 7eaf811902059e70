"""A plant, or a loop, as graphs of its own, with the steps that its verified run takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import Leaf, leaves
from workbench.contract.system import Signal, System, names
from workbench.numerics.adaptive import adaptive, fixed
from workbench.numerics.calculus import Traced
from workbench.numerics.native import Loop
from workbench.numerics.stiff import StiffLoop
from workbench.run.grid import Grid


@dataclass(frozen=True, eq=False)
class SystemGraph:
    """A plant or a loop over (t, x, w, c), as `Traced`, and how a sample of it is integrated.

    grid      samples of the run, and the steps within one
    start     x before the first sample
    driven    whether inputs change between samples in the run, so that a step takes them at its stages
    stiff     whether its steps are those of `workbench.numerics.stiff`; tolerance: share of the errors that they may make
    """

    part: str
    system: System
    traced: Traced
    grid: Grid
    start: np.ndarray
    driven: bool
    stiff: bool = False
    tolerance: float = 1.0

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
        """Constants of the flow, and behind them the integrator's settings where it has some."""
        method = self.method
        if isinstance(method, StiffLoop):
            return method.constants(self.system, self.tolerance)
        return self.traced.constants(self.system)

    @property
    def settings(self) -> np.ndarray:
        """The integrator's, which no parameter of the flow changes."""
        return self.constants[self.traced.flow.size1_in(3) :]

    @property
    def sample_time(self) -> float:
        return float(self.grid.T)

    @property
    def evaluations(self) -> str:
        """Of the flow in a step, in words."""
        return "six, and its Jacobian" if self.stiff else "four or five"

    @property
    def stages(self) -> int:
        """Instants within a sample at which a flow that is driven needs its inputs."""
        return len(self.method.offsets) * (self.grid.n1 + self.grid.n2)

    @cached_property
    def method(self) -> Loop:
        """The integrator, of the flow alone, without energies."""
        t = self.traced
        given = [ca.SX.sym(t.motion.name_in(i), t.motion.size1_in(i)) for i in range(4)]
        motion = ca.Function("motion", given, [t.motion(*given)[: t.n_moving]])
        nothing = ca.Function("logged", given, [ca.SX(0, 1)])
        alone = replace(t, n_powers=0, motion=motion, log=nothing)
        if not self.stiff:
            return Loop(alone, compiled=False)
        wanted = None if fixed(self.system) else adaptive(self.system)
        return StiffLoop(alone, wanted, names(self.states), compiled=False)

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
        """What the integrator's text calls, by name, and its #defines.

        Raises InputError where these are too long for a compiler.
        """
        found = self.method.text()
        if found is None:
            raise InputError(
                f"the {self.part} has more operations than a C compiler bears",
                key=self.part,
                mend="export the controller alone",
            )
        functions, sizes = found
        return functions, {**sizes, "WSTRIDE": sizes["NW"] if self.driven else 0}
