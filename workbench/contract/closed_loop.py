"""ClosedLoop: a plant and its controller as one System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from workbench.contract.checks import check_law, check_plant
from workbench.contract.errors import InputError
from workbench.contract.once import once
from workbench.contract.plain import Plain, joined
from workbench.contract.scalars import Scalar, Vector
from workbench.contract.system import Signal, System, controls, find, innermost, names


@final
@dataclass(frozen=True, eq=False)
class ClosedLoop(System):
    """Plant and controller joined by signal names; again a System.

    states = plant's, then the controller's memory. inputs = the plant's disturbances, then the controller's references.
    A `Plain` controller's memory stays in Python; its held command then appears as the last states.
    """

    plant: System
    controller: Any
    _reads: tuple[int, ...] = field(init=False, repr=False)
    _drives: tuple[int, ...] = field(init=False, repr=False)
    _free: tuple[int, ...] = field(init=False, repr=False)
    shows: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_plant(self.plant)
        object.__setattr__(self, "controller", joined(self.controller, self.plant))
        check_law(self.controller, self.plant)
        who = f"{type(self.controller).__name__} on {type(self.plant).__name__}"
        outs = names(self.plant.outputs)
        ins = names(self.plant.inputs)
        reads = tuple(
            outs.index(find(self.plant.outputs, s.name, f"{who}, measurement").name)
            for s in self.controller.measured
        )
        drives = tuple(
            ins.index(find(self.plant.inputs, s.name, f"{who}, command").name)
            for s in self.controller.commands
        )
        undriven = [
            s.name for s in controls(self.plant) if s.name not in names(self.controller.commands)
        ]
        if undriven and not innermost(self.controller).open:
            raise InputError(
                f"{who}: nothing drives the plant's {', '.join(undriven)}",
                mend="let the controller command them, or build the plant without them",
            )
        twice = {
            n
            for n in names(self.controller.references)
            if names(self.controller.references).count(n) > 1
        }
        if twice:
            raise InputError(
                f"{who}: {', '.join(sorted(twice))} enters twice",
                mend="give each signal one Noisy wrapper",
            )
        object.__setattr__(self, "_reads", reads)
        object.__setattr__(self, "_drives", drives)
        object.__setattr__(self, "_free", tuple(i for i in range(len(ins)) if i not in drives))
        logged = names(
            (
                *self.plant.states,
                *self.plant.monitors,
                *self.controller.states,
                *self.controller.monitors,
                *self.plant.inputs,
                *self.controller.references,
            )
        )
        object.__setattr__(
            self, "shows", tuple(i for i, name in enumerate(outs) if name not in logged)
        )

    @property
    def hosted(self) -> bool:
        """True when the controller must be called from Python."""
        return isinstance(innermost(self.controller), Plain)

    @property
    def states(self) -> tuple[Signal, ...]:
        return (*self.plant.states, *self.controller.states)

    @property
    def inputs(self) -> tuple[Signal, ...]:
        given = self.plant.inputs
        free = tuple(given[i] for i in self._free)
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
            *(measured[i] for i in self.shows),
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
        return [*self.plant.initial(), *self.controller.initial()]

    @once
    def parts(self, t: Scalar, x: Vector, w: Vector) -> Any:
        """(plant state, controller memory, measurement, reference, plant input) at (t, x, w)."""
        n = len(self.plant.states)
        m = len(self._free)
        xp = x[:n]
        z = x[n:]
        r = w[m:]
        y_all = self.plant.out(t, xp)
        y = [y_all[i] for i in self._reads]
        u = [0.0] * len(self.plant.inputs)
        for i, value in zip(self._free, w[:m]):
            u[i] = value
        for i, value in zip(self._drives, self.controller.command(t, z, y, r)):
            u[i] = value
        return xp, z, y, r, u

    def start(self, t: Scalar, x: Vector, w: Vector) -> list:
        """Initial state with the controller's memory made consistent with the first measurement."""
        n = len(self.plant.states)
        m = len(self._free)
        y_all = self.plant.out(t, x[:n])
        return [*x[:n], *self.controller.start(t, x[n:], [y_all[i] for i in self._reads], w[m:])]

    def rhs(self, t: Scalar, x: Vector, w: Vector) -> list:
        xp, z, y, r, u = self.parts(t, x, w)
        return [*self.plant.rhs(t, xp, u), *self.controller.rhs(t, z, y, r)]

    def out(self, t: Scalar, x: Vector) -> list:
        return self.plant.out(t, x[: len(self.plant.states)])

    def shown(self, t: Scalar, x: Vector) -> list:
        """Outputs of the plant that neither it nor the law logs (`shows`: their places)."""
        y = self.plant.out(t, x) if self.shows else []
        return [y[i] for i in self.shows]

    def monitor(self, t: Scalar, x: Vector, w: Vector) -> list:
        xp, z, y, r, u = self.parts(t, x, w)
        return [
            *self.plant.monitor(t, xp, u),
            *self.shown(t, xp),
            *self.controller.monitor(t, z, y, r),
            *(u[i] for i in self._drives),
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

    def _jump(self, which: Any, t: Scalar, x: Vector, w: Vector) -> Any:
        n = len(self.plant.states)
        m = len(self._free)
        y_all = self.plant.out(t, x[:n])
        return [
            *x[:n],
            *getattr(self.controller, which)(t, x[n:], [y_all[i] for i in self._reads], w[m:]),
        ]

    def update(self, t: Scalar, x: Vector, w: Vector) -> list:
        return self._jump("update", t, x, w)

    def release(self, t: Scalar, x: Vector, w: Vector) -> list:
        return self._jump("release", t, x, w)
