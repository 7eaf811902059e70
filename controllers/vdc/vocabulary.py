"""What virtual decomposition control of a mechanism reads, remembers and logs, and what it is called."""

from __future__ import annotations

from typing import NamedTuple

from controllers.vdc import force_rate
from controllers.vdc.part import Part
from controllers.vdc.parts import part
from plants.drives.contract import Line
from plants.multibody import coordinates, signals
from plants.multibody.built import Built
from plants.multibody.mechanism import Mechanism
from workbench.contract.system import Controller, Signal, names
from workbench.contract.units import derived
from workbench.run.targets import target_name


class Reading(NamedTuple):
    """What the law reads: q, q̇, measured states of every drive, the line each of them sees where that is measured or a number,
    and [τ_d, τ̇_d, τ̈_d, τ⃛_d]."""

    q: list
    qd: list
    p: list
    lines: list[Line] | None
    τ: list


class Vocabulary(Controller):
    """The part of `controllers.vdc.law.VDC` that has its signals and the laws of its drives."""

    model: Mechanism | Built
    space: str
    k_x: tuple[float, ...]
    βk_f: tuple[float, ...]
    k_m: tuple[float, ...]
    Kk_f: tuple[float, ...]
    derivative: str

    @property
    def machine(self) -> Mechanism:
        """The model's bodies, joints, loops and drives."""
        return self.model.mechanism

    @property
    def parts(self) -> list[Part]:
        """The law of every driven actuator, in order."""
        own = [self.machine.actuators[i] for i in coordinates.driven(self.machine)]
        each = {name: self._each(given, len(own)) for name, given in self._drive_gains.items()}
        return [
            part(a.name, a.drive, {name: numbers[k] for name, numbers in each.items()})
            for k, a in enumerate(own)
        ]

    @property
    def _drive_gains(self) -> dict[str, tuple[float, ...]]:
        return {"k_x": self.k_x, "βk_f": self.βk_f, "k_m": self.k_m, "Kk_f": self.Kk_f}

    @staticmethod
    def _each(values, n: int) -> list:
        return list(values) * n if len(values) == 1 else list(values)

    @property
    def labels(self) -> list[str]:
        """Names of the driven actuators."""
        return [self.machine.actuators[i].name for i in coordinates.driven(self.machine)]

    @property
    def measured(self):
        at = {s.name: s for s in self.model.outputs}
        own = [name for p in self.parts for name in p.measured]
        supply = () if self.machine.supply is None else self.machine.supply.states()
        moving = self.machine.states[: self._moving]
        called = self.model.called
        sought = (*names(moving), *own, *names(supply))
        return tuple(at[called.get(name, name)] for name in sought)

    @property
    def commands(self):
        return self.model.inputs[: len(self.labels)]

    @property
    def references(self):
        unit = {s.name: s.unit for s in self.model.outputs} | {"tcp_φ": "rad"}
        tasks = self.model.task_names(self.space)
        return tuple(
            Signal(
                target_name(name, k),
                derived(unit.get(name, "m"), k),
                f"desired {name}, derivative {k}",
                "reference",
            )
            for k in range(4)
            for name in tasks
        )

    @property
    def states(self):
        own = [s for p in self.parts for s in p.memory]
        return (*own, *force_rate.memory(self.derivative, self.labels))

    @property
    def monitors(self):
        unit = {s.name: s.unit for s in self.model.outputs} | {"tcp_φ": "rad"}
        forces = signals.forces(self.machine)
        called = self.model.called
        pushes = zip(self.labels, [forces[i].unit for i in coordinates.driven(self.machine)])
        required = [(f"f_pr_{label}", unit, f"required force of {label}") for label, unit in pushes]
        return (
            *(Signal(called.get(name, name), *rest) for name, *rest in required),
            *(
                Signal(f"e_{name}", unit.get(name, "m"), f"tracking error of {name}")
                for name in self.model.task_names(self.space)
            ),
        )

    def read(self, y, r) -> Reading:
        """Measurement and reference by meaning."""
        n = len(self.machine.lead)
        n_q = len(self.machine.own[0])
        at = self._moving
        p = []
        for own in self.parts:
            p.append(list(y[at : at + len(own.measured)]))
            at += len(own.measured)
        supply = self.machine.supply
        lines = None
        if supply is not None and not supply.settles:
            each = supply.lines(list(y[at:]), [(a.drive,) for a in self.machine.actuators])
            lines = [each[i] for i in coordinates.driven(self.machine)]
        return Reading(
            list(y[:n_q]),
            list(y[n_q : self._moving]),
            p,
            lines,
            [list(r[k * n : (k + 1) * n]) for k in range(4)],
        )

    def observed(self, z) -> list[list]:
        """The law's memory of every drive."""
        found = []
        at = 0
        for own in self.parts:
            found.append(list(z[at : at + len(own.memory)]))
            at += len(own.memory)
        return found

    @property
    def _moving(self) -> int:
        """How many positions and rates are measured."""
        return sum(map(len, self.machine.own))

    @property
    def _observers(self) -> int:
        return sum(len(p.memory) for p in self.parts)
