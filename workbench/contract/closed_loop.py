"""ClosedLoop: a plant and its controller as one System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from workbench.contract.checks import check_law, check_plant
from workbench.contract.once import once
from workbench.contract.parameters import graph_key
from workbench.contract.plain import Plain, joined
from workbench.contract.remembered import remembered
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.shown_loop import ShownLoop
from workbench.contract.system import Signal, System, innermost
from workbench.contract.wiring import Wiring, wired


def _initial(plant: System) -> Sequence[float]:
    """The plant's own start, worked out once for all loops that it stands in."""
    return remembered(("initial", graph_key(plant)), plant, lambda: tuple(plant.initial()))


@final
@dataclass(frozen=True, eq=False)
class ClosedLoop(ShownLoop, System):
    """Plant and controller joined by signal names; again a System: ClosedLoop(crane, Sampled(VDC(crane), T_s=1e-3)).

    controller: a law in its wrappers, or a Python function f(t, y, r) → u (`Plain`), which is sampled every 1 ms.
    states = plant's, then the controller's memory; that of a `Plain` stays in Python, its held command stands last.
    inputs = the plant's disturbances, then the controller's references. Raises InputError for signals that are not shared.
    """

    plant: System
    controller: Any
    wiring: Wiring = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_plant(self.plant)
        object.__setattr__(self, "controller", joined(self.controller, self.plant))
        check_law(self.controller, self.plant)
        object.__setattr__(self, "wiring", wired(self.plant, self.controller))

    @property
    def hosted(self) -> bool:
        """True when the controller must be called from Python: it is code, or its samples are those of a plant on floats."""
        sampled_on_floats = self.plant.on_floats and self.controller.period is not None
        return sampled_on_floats or isinstance(innermost(self.controller), Plain)

    @property
    def states(self) -> tuple[Signal, ...]:
        return (*self.plant.states, *self.controller.states)

    @property
    def inputs(self) -> tuple[Signal, ...]:
        free = (self.plant.inputs[i] for i in self.wiring.free)
        return (*free, *self.controller.references)

    @property
    def outputs(self) -> tuple[Signal, ...]:
        return self.plant.outputs

    @property
    def monitors(self) -> tuple[Signal, ...]:
        """What the plant tells, its outputs that are in no log otherwise, what the law tells, the commands."""
        measured = self.plant.outputs
        return (
            *self.plant.monitors,
            *(measured[i] for i in self.wiring.shows),
            *self.controller.monitors,
            *self.controller.commands,
        )

    @property
    def power_names(self) -> tuple[str, ...]:
        return self.plant.power_names

    @property
    def period(self) -> float | None:
        return self.controller.period

    @property
    def lag(self) -> float:
        return self.controller.lag

    @property
    def stiff(self) -> tuple[str, ...]:
        return self.plant.stiff

    @property
    def no_derivative(self) -> str:
        return self.plant.no_derivative or self.controller.no_derivative

    def defaults(self) -> Mapping[str, float]:
        return self.plant.defaults()

    def initial(self) -> Sequence[float]:
        return [*_initial(self.plant), *self.controller.initial()]

    def _measured(self, t: Scalar, xp: Vector) -> list:
        """What the law measures of the plant."""
        y = self.plant.out(t, xp)
        return [y[i] for i in self.wiring.reads]

    @once
    def parts(self, t: Scalar, x: Vector, w: Vector) -> Any:
        """(plant state, controller memory, measurement, reference, plant input) at (t, x, w)."""
        n = len(self.plant.states)
        m = len(self.wiring.free)
        xp = x[:n]
        z = x[n:]
        r = w[m:]
        y = self._measured(t, xp)
        u = [0.0] * len(self.plant.inputs)
        for i, value in zip(self.wiring.free, w[:m]):
            u[i] = value
        for i, value in zip(self.wiring.drives, self.controller.command(t, z, y, r)):
            u[i] = value
        return xp, z, y, r, u

    def start(self, t: Scalar, x: Vector, w: Vector) -> list:
        """Initial state with the controller's memory made consistent with the first measurement."""
        return self._jump("start", t, x, w)

    def rhs(self, t: Scalar, x: Vector, w: Vector) -> list:
        xp, z, y, r, u = self.parts(t, x, w)
        return [*self.plant.rhs(t, xp, u), *self.controller.rhs(t, z, y, r)]

    def out(self, t: Scalar, x: Vector) -> list:
        return self.plant.out(t, x[: len(self.plant.states)])

    def shown(self, t: Scalar, x: Vector) -> list:
        """Outputs of the plant that neither it nor the law logs (`wiring.shows`: their places)."""
        y = self.plant.out(t, x) if self.wiring.shows else []
        return [y[i] for i in self.wiring.shows]

    def monitor(self, t: Scalar, x: Vector, w: Vector) -> list:
        xp, z, y, r, u = self.parts(t, x, w)
        return [
            *self.plant.monitor(t, xp, u),
            *self.shown(t, xp),
            *self.controller.monitor(t, z, y, r),
            *(u[i] for i in self.wiring.drives),
        ]

    def guards(self, t: Scalar, x: Vector, w: Vector) -> list:
        xp, _, _, _, u = self.parts(t, x, w)
        return self.plant.guards(t, xp, u)

    def project(self, t: Scalar, x: Vector) -> list:
        n = len(self.plant.states)
        return [*self.plant.project(t, x[:n]), *x[n:]]

    def powers(self, t: Scalar, x: Vector, w: Vector) -> list:
        xp, _, _, _, u = self.parts(t, x, w)
        return self.plant.powers(t, xp, u)

    def stored(self, t: Scalar, x: Vector, w: Vector) -> Scalar:
        xp, _, _, _, u = self.parts(t, x, w)
        return self.plant.stored(t, xp, u)

    def _jump(self, which: Any, t: Scalar, x: Vector, w: Vector) -> list:
        """The state after the law's memory has started, is updated or released (`which`); the plant's stays."""
        n = len(self.plant.states)
        m = len(self.wiring.free)
        memory = getattr(self.controller, which)(t, x[n:], self._measured(t, x[:n]), w[m:])
        return [*x[:n], *memory]

    def update(self, t: Scalar, x: Vector, w: Vector) -> list:
        return self._jump("update", t, x, w)

    def release(self, t: Scalar, x: Vector, w: Vector) -> list:
        return self._jump("release", t, x, w)
