"""Who is who in a mechanism: bodies, joints and their coordinates, and the names of all its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from plants.multibody import branching, signals, surroundings
from plants.multibody.assembly import Assembly, assemble
from plants.multibody.branching import Tree
from plants.multibody.parts import Actuator, Body, Loop, Pin
from plants.multibody.planar import Closing
from plants.multibody.starting import in_words
from plants.supplies.contract import Supply
from workbench.contract.system import Signal, System


class Vocabulary(System):
    """The part of `plants.multibody.mechanism.Mechanism` that says what there is and what it is called."""

    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...]
    actuators: tuple[Actuator, ...]
    supply: Supply | None
    method: str
    tcp: str | Pin | None
    moving_ground: bool
    tool_wrench: bool
    kept: tuple[int, ...]
    used: tuple[int, ...]
    closings: tuple[Closing, ...]
    leads: tuple[int, ...]

    # ---- as `plants.multibody.built` asks: a mechanism is one under its own names ---------------------------------------
    called: ClassVar[Mapping[str, str]] = MappingProxyType({})
    beginning: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @property
    def mechanism(self):
        return self

    def inner(self, x, t=0.0):
        return x

    def given(self, u):
        return u

    @property
    def tree(self) -> Tree:
        return branching.tree(self.bodies)

    @property
    def assembly(self) -> Assembly:
        """The consistent start: positions, rates, rows kept and left out, mobility."""
        return assemble(self)

    @property
    def in_words(self) -> str:
        """Degrees of freedom, constraints left out, and what the assembly moved."""
        return in_words(self)

    def number(self, body: str) -> int:
        """Index of the body with this name; −1 for the ground."""
        return next((j for j, b in enumerate(self.bodies) if b.name == body), -1)

    @property
    def cuts(self) -> list[tuple[int, int]]:
        """Numbers of the two bodies of every loop."""
        return [(self.number(loop.a.body), self.number(loop.b.body)) for loop in self.loops]

    @property
    def coordinates(self) -> tuple[Signal, ...]:
        """Positions of all joints."""
        return signals.positions(self.bodies)

    @property
    def rates(self) -> tuple[Signal, ...]:
        """Rates of all joints."""
        return signals.rates(self.bodies)

    @property
    def drive_states(self) -> tuple[Signal, ...]:
        """States of all drives, then of the supply."""
        own = () if self.supply is None else self.supply.states()
        return (*(s for a in self.actuators for s in a.drive.states(a.name)), *own)

    @property
    def own(self) -> tuple[list[int], list[int]]:
        """Which positions and rates are states: all, or the independent ones."""
        follow = {j for k in self.closings for j in k.unknown}
        lead = [j for j in range(len(self.bodies)) if j not in follow]
        return _spread(self.tree.z, lead), _spread(self.tree.v, lead)

    @property
    def lead(self) -> tuple[int, ...]:
        """Numbers of the rates that all others follow from, one a degree of freedom (`plants.multibody.leading`)."""
        return self.leads or tuple(self.own[1])

    def pose_and_rates(self, x) -> tuple[list, list]:
        """The positions and the rates among the states x, or their rates among its rates."""
        zs, vs = self.own
        n = len(zs)
        return list(x[:n]), list(x[n : n + len(vs)])

    @property
    def states(self):
        zs, vs = self.own
        positions = self.coordinates
        rates = self.rates
        return (*(positions[i] for i in zs), *(rates[i] for i in vs), *self.drive_states)

    @property
    def inputs(self):
        own = () if self.supply is None else self.supply.inputs()
        driven = (s for a in self.actuators for s in a.drive.inputs(a.name))
        return (*driven, *own, *surroundings.signals(self))

    def defaults(self):
        return surroundings.defaults(self)

    @property
    def outputs(self):
        sensed = (s for a in self.actuators for s in a.drive.sensed(a.name))
        return (
            *signals.lengths(self),
            *self.coordinates,
            *self.rates,
            *self.drive_states,
            *sensed,
        )

    @property
    def monitors(self):
        return (
            *signals.lengths(self),
            *self._following(self.coordinates, self.rates),
            *signals.forces(self),
            *(
                Signal(f"open_{loop.name}", "m", f"how far {loop.name} is open")
                for loop in self.loops
            ),
            *signals.bends(self),
            *signals.of_parts(self),
            *(Signal(f"tcp_{a}", "m", "tool centre point in the world") for a in self._tool_axes),
        )

    @property
    def _tool_axes(self) -> str:
        return "" if self.tcp is None else "xyz"

    def _following(self, positions, rates) -> list:
        """Those that are no states."""
        zs, vs = self.own
        return [v for i, v in enumerate(positions) if i not in zs] + [
            v for i, v in enumerate(rates) if i not in vs
        ]

    @property
    def power_names(self):
        own = () if self.supply is None else self.supply.power_names()
        parts = (name for a in self.actuators for name in a.drive.power_names(a.name))
        return (*parts, *own, "damping", *surroundings.power_names(self))


def _spread(places: Sequence[tuple[int, int]], joints: list[int]) -> list[int]:
    """Numbers of the coordinates of some joints; places: of every joint, its first coordinate and how many it has."""
    return [i for at, n in (places[j] for j in joints) for i in range(at, at + n)]
