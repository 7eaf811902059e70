"""Signal, System, Controller: the contract everything else is written against.

System
  1. A system is a frozen dataclass; its annotated numbers are parameters, the rest decides the graph it is traced to
     (`workbench.contract.parameters`).
  2. `states`, `inputs`, `outputs`, `monitors` are tuples of Signal; every vector below has their length and order.
  3. `rhs(t, x, u)` is the flow ẋ. `out(t, x)` is measured and does not depend on inputs; `monitor(t, x, u)` may.
     `guards(t, x, u)` change their sign where the flow, still continuous, has a kink (an edge of a valve): integrators step onto
     it. `stiff` names the states whose block ∂ẋ_s/∂x_s of the Jacobian may be fast; the integrator treats that block exactly.
  4. `period` is None (no samples) or the sample time; then `update(t, x, u)` is the jump x⁺ at t = k·period, before the
     flow goes on, and `release(t, x, u)` a second jump at k·period + lag, `lag` in [0, period).
  5. `powers(t, x, u)` names power flows in W, integrated along the run; `stored(t, x, u)` is the energy they change.
  6. `project(t, x)` puts a state that a step has led off the system's constraints back on them; every integrator calls it
     after each step it accepts. Left out, it costs nothing. A state on the constraints must not change.
  7. All of these are plain NumPy on scalars: sequences in, lists out, no `if` on a value (np.where), no state on `self`.
     The same text runs on floats and on CasADi expressions.

Controller (its memory z is state of the loop, its number `references` come from the scenario)
  8. Continuous law: `command(t, z, y, r)` → u, `rhs(t, z, y, r)` → ż.
  9. Sampled law: `step(t, z, y, r)` → (z⁺, u), or `step_at(T_s, t, z, y, r)` where the recursion needs the sample time.
 10. `references` are Signals whose kind says who provides them: "reference" or "noise".

ClosedLoop (`workbench.contract.closed_loop`) is again a System. A user's own controller (an object with `step` or `command`, or a
function f(t, y, r) → u) is `Plain` (`workbench.contract.plain`): it may do anything Python can, so it is called from Python around
the compiled plant (`workbench.run.hosted`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.contract.declared import LawData, PlantData
from workbench.contract.errors import InputError
from workbench.contract.kinds import holding
from workbench.contract.machine_limits import command_limits
from workbench.contract.own_text import own
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.signals import Signal as Signal
from workbench.contract.signals import names as names


class System(PlantData, ABC):
    """A hybrid dynamic system, ẋ = f(t, x, u) between samples and x⁺ = g(t, x, u) at them: a plant, or a loop.

    What a subclass has to give is numbered in the docstring of `workbench.contract.system`.
    """

    outputs: tuple[Signal, ...] = ()
    monitors: tuple[Signal, ...] = ()
    power_names: tuple[str, ...] = ()
    pressure_names: tuple[str, ...] = ()  # logged signals that are chamber pressures
    period: float | None = None
    lag: float = 0.0
    stiff: tuple[str, ...] = ()  # such as rates under steep friction
    no_derivative: str = ""  # why `linearize` must refuse, in words; empty when it need not

    @property
    @abstractmethod
    def states(self) -> tuple[Signal, ...]: ...

    @property
    @abstractmethod
    def inputs(self) -> tuple[Signal, ...]: ...

    @abstractmethod
    def initial(self) -> Sequence[float]:
        """A sensible start: states in order."""

    @abstractmethod
    def rhs(self, t: Scalar, x: Vector, u: Vector) -> list: ...

    def out(self, t: Scalar, x: Vector) -> list:
        return []

    def monitor(self, t: Scalar, x: Vector, u: Vector) -> list:
        return []

    def guards(self, t: Scalar, x: Vector, u: Vector) -> list:
        return []

    def powers(self, t: Scalar, x: Vector, u: Vector) -> list:
        return []

    def stored(self, t: Scalar, x: Vector, u: Vector) -> Scalar:
        return 0.0

    def update(self, t: Scalar, x: Vector, u: Vector) -> list:
        return list(x)

    def release(self, t: Scalar, x: Vector, u: Vector) -> list:
        return list(x)

    def start(self, t: Scalar, x: Vector, u: Vector) -> list:
        """States consistent with the first instant; the default keeps them."""
        return list(x)

    def project(self, t: Scalar, x: Vector) -> list:
        return list(x)

    def defaults(self) -> Mapping[str, float]:
        """Values of inputs nobody provides (0 where not named)."""
        return {}

    def limits(self) -> Mapping[str, tuple[float, float]]:
        """Range of the controls, where the plant has one: input name → (low, high)."""
        return {}

    def scales(self) -> Mapping[str, object]:
        """What is large for this machine: kind → `Scale`, those it has (`workbench.verification.scales`)."""
        return {}

    def as_shipped(self) -> System | None:
        """The machine as it is shipped, or by default, that this one is a change of; None where there is none."""
        return None

    def machine_limits(self) -> tuple:
        """Every limit the plant has a number for, as `machine_limits.Limit`: pump flow, strokes, vacuum, reliefs, valves, commands.

        The default are the ranges of the commands.
        """
        return command_limits(self)

    def holding(self, x: Sequence[float], u: Sequence[float]) -> tuple:
        """Static force of every drive at state x (its velocities left out) under inputs u, as `machine_limits.Holding`.

        Drives whose limit is not known are left out; the default has none.
        """
        return ()

    @property
    def dead_ends(self) -> Mapping[str, str]:
        """Monitors that fall to zero where the equations end → what that is, in words; a run is stopped there."""
        return {}

    @property
    def change_points(self) -> Mapping[str, str]:
        """Monitors that fall to zero where the equations leave open how the motion goes on → what that is, in words."""
        return {}

    def free_joints(self, commands: Sequence[str] | None = None) -> tuple:
        """Every joint that no drive holds and no cut joint determines, as `machine_limits.FreeJoint`.

        commands: names of the inputs that a law drives; None: all of them. A drive whose command nobody drives holds nothing.
        """
        return ()


class Controller(LawData, ABC):
    """A control law u = c(t, z, y, r) with memory z. Give `command` (continuous) or `step` (sampled), or both.

    What a subclass has to give is numbered in the docstring of `workbench.contract.system`.
    """

    states: tuple[Signal, ...] = ()
    monitors: tuple[Signal, ...] = ()
    period: float | None = None
    lag: float = 0.0
    no_derivative: str = ""

    @property
    @abstractmethod
    def measured(self) -> tuple[Signal, ...]:
        """Plant outputs it reads, by name."""

    @property
    @abstractmethod
    def commands(self) -> tuple[Signal, ...]:
        """Plant inputs it drives, by name."""

    @property
    def references(self) -> tuple[Signal, ...]:
        return ()

    def initial(self) -> Sequence[float]:
        return [0.0] * len(self.states)

    def command(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        raise InputError(
            f"{type(self).__name__} is a sampled law without a continuous form",
            mend=f"wrap it: Sampled({type(self).__name__}(…), T_s=…)",
        )

    def rhs(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return [0.0] * len(self.states)

    def step(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        if self.states:
            raise InputError(
                f"{type(self).__name__} has memory but no sampled form",
                mend="give it `step` or `step_at`",
            )
        return [], self.command(t, z, y, r)

    def step_at(self, T_s: float, t: Scalar, z: Vector, y: Vector, r: Vector) -> tuple[list, list]:
        return self.step(t, z, y, r)

    def start(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        """Memory consistent with the first measurement (filters settled); the default keeps z."""
        return list(z)

    def update(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return list(z)

    def release(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return list(z)

    def monitor(self, t: Scalar, z: Vector, y: Vector, r: Vector) -> list:
        return []


def innermost(controller: Any) -> Any:
    """The law inside all wrappers, whatever it is."""
    while isinstance(controller, Controller) and controller.inner is not None:
        controller = controller.inner
    return controller


def rewrapped(controller: Any, law: Any) -> Any:
    """Another law inside the wrappers of this controller."""
    if isinstance(controller, Controller) and controller.inner is not None:
        wrapper: Any = controller
        return replace(wrapper, inner=rewrapped(controller.inner, law))
    return law


def controls(plant: System) -> tuple[Signal, ...]:
    """Inputs of `plant` that a controller drives (everything that is not a disturbance)."""
    return tuple(s for s in plant.inputs if s.kind == "")


def check_system(thing: Any) -> None:
    """Raise InputError for what is no System at all, neither a plant nor a loop."""
    if isinstance(thing, System):
        return
    kind = type(thing).__name__
    if name := holding(thing, System):
        mend = f"give its {name}: write .{name} behind it"
    elif own(type(thing)):
        mend = "give a loop, ClosedLoop(plant, law), or a plant"
    else:
        mend = "derive it from System: class MyPlant(System), with states, inputs, initial and rhs"
    raise InputError(f"{kind} is no plant and no loop", mend=mend)


def find(signals: Sequence[Signal], name: str, where: str) -> Signal:
    """The signal called `name`, or an InputError that lists the nearest ones."""
    for s in signals:
        if s.name == name:
            return s
    import difflib

    near = difflib.get_close_matches(str(name), names(signals), 3)
    raise InputError(
        f"{where}: there is no signal {name!r}",
        mend=f"did you mean {' or '.join(near)}?"
        if near
        else f"choose from {', '.join(names(signals)) or 'none'}",
    )
