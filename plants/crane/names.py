"""Names of the parts of a manipulator: cylinders, joints, the paper's subscripts, and all signals."""

from __future__ import annotations

from typing import NamedTuple

from plants.components.chamber import Oil
from plants.components.spatial import Frame, unturn
from plants.crane.segments import Structure
from plants.multibody import surroundings
from plants.multibody.built import Built
from workbench.contract.system import Signal


class Parts(NamedTuple):
    """The manipulator's state by meaning, one entry per joint."""

    q: list
    qd: list
    p: list  # (p_a, p_b)
    spool: list  # spool states of each valve
    rub: list  # friction states of each cylinder


class CraneNames(Built):
    """The part of `plants.crane.manipulator.Manipulator` that lists its parts and names its signals."""

    name: str
    structures: tuple[Structure, ...]
    base: Frame
    oil: Oil
    p_s: float
    p_r: float
    g: float

    supply_names: tuple[str, ...] = ()  # supply pressures that are states
    lines: tuple[str, ...] = ("",)  # from the pump: what follows p_s and p_L in their names

    @property
    def upward(self) -> tuple:
        """Weight direction in the world, m/s²."""
        return 0.0, self.g, 0.0

    @property
    def up(self) -> list:
        """Weight direction in the base frame, while the base is at rest, m/s²."""
        return unturn(self.base.R, self.upward)

    @property
    def segments(self) -> tuple:
        """Revolute and prismatic segments in joint order."""
        return tuple(s for structure in self.structures for s in structure.segments)

    @property
    def cylinders(self) -> tuple:
        return tuple(s.cylinder for s in self.segments)

    @property
    def n(self) -> int:
        return len(self.segments)

    @property
    def supplies(self) -> list:
        """Supply pressure of every cylinder: p_s for all, or one for each on a pump whose pressures are states (`OnPump`)."""
        return self.p_s if isinstance(self.p_s, list) else [self.p_s] * self.n

    @property
    def labels(self) -> tuple[str, ...]:
        """The paper's subscripts: "1", "2", "t2" …"""
        found = []
        for j, structure in enumerate(self.structures, 1):
            found += [f"{j}"] if structure.prismatic is None else [f"{j}", f"t{j}"]
        return tuple(found)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(
            f"x_{label}" if s.slides else f"q_{label}"
            for label, s in zip(self.labels, self.segments)
        )

    @property
    def states(self):
        joints = [
            Signal(name, "m" if name.startswith("x") else "rad", f"{s.name} joint position")
            for name, s in zip(self.joint_names, self.segments)
        ]
        rates = [
            Signal("d" + s.name, s.unit + "/s", s.meaning.replace("position", "rate"))
            for s in joints
        ]
        p = [
            Signal(f"p_{side}{label}", "Pa", f"{s.name} chamber {side} pressure")
            for label, s in zip(self.labels, self.segments)
            for side in "ab"
        ]
        own = list(zip(self.labels, self.cylinders))
        spools = [s for label, c in own for s in c.valve.spool_states(label)]
        rubs = [s for label, c in own for s in c.friction.states(label)]
        return (*joints, *rates, *p, *spools, *rubs, *self._supplied)

    @property
    def _supplied(self):
        return tuple(Signal(name, "Pa", "supply pressure") for name in self.supply_names)

    @property
    def inputs(self):
        u = [
            Signal(f"u_{label}", "V", f"{s.name} valve voltage")
            for label, s in zip(self.labels, self.segments)
        ]
        return (*u, *surroundings.signals(self.mechanism))

    def defaults(self):
        return self.mechanism.defaults()

    @property
    def outputs(self):
        x = [
            Signal(f"x_{k}", "m", f"{s.name} piston position") for k, s in self._revolute_cylinders
        ]
        dx = [Signal("d" + s.name, "m/s", s.meaning.replace("position", "velocity")) for s in x]
        return (*self.states[: 4 * self.n], *x, *dx, *self._supplied)

    @property
    def _revolute_cylinders(self):
        return [(label, s) for label, s in zip(self.labels, self.segments) if not s.slides]

    @property
    def monitors(self):
        found = list(self.outputs[4 * self.n : len(self.outputs) - len(self.supply_names)])
        for label, s in zip(self.labels, self.segments):
            found += [
                Signal(f"f_p{label}", "N", f"{s.name} piston force"),
                Signal(f"f_f{label}", "N", f"{s.name} friction"),
                Signal(f"Q_s{label}", "m^3/s", f"{s.name} flow from the pump"),
            ]
        tool = (
            Signal(f"tcp_{a}", "m", "tool centre point in the world") for a in surroundings.AXES
        )
        felt = (
            Signal(f"p_L{line}", "Pa", "highest pressure that is felt")
            for line in self.lines
            if self.supply_names
        )
        return (*found, *tool, *felt)

    @property
    def pressure_names(self):
        return tuple(f"p_{side}{label}" for label in self.labels for side in "ab")

    def split(self, x) -> Parts:
        """State vector by meaning."""
        n = self.n
        p = [(x[2 * n + 2 * i], x[2 * n + 2 * i + 1]) for i in range(n)]
        at = 4 * n
        spool = []
        rub = []
        for group, count in (
            (spool, lambda c: len(c.valve.spool_states(""))),
            (rub, lambda c: len(c.friction.states(""))),
        ):
            for c in self.cylinders:
                group.append(list(x[at : at + count(c)]))
                at += count(c)
        return Parts(list(x[:n]), list(x[n : 2 * n]), p, spool, rub)
