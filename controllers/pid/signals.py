"""Signals of a PID: what it measures, follows and remembers, and whether its fields fit its actuators."""

from __future__ import annotations

from controllers.pid.units import positions_of
from workbench.contract.declared import Notched
from workbench.contract.errors import InputError, miscounted
from workbench.contract.system import Controller, Signal, controls, find
from workbench.run.targets import target_name


def check_actuators(law) -> None:
    """InputError where a field does not fit the number of actuators, or the law needs valves that the model has not."""
    for field in ("K_p", "K_i", "K_d", "K_v", "K_f"):
        count = len(getattr(law, field))
        if count not in (1, law.n):
            raise miscounted(field, count, law.n, "actuator", [s.name for s in law.commands])
    if len(law.positions) != law.n:
        raise InputError(
            f"signals: expected {law.n} measured positions, one per command "
            f"({', '.join(s.name for s in law.commands)}), got {len(law.positions)}"
        )
    wanted = _needs_chambers(law)
    if wanted:
        _check_chambers(law, wanted)


def _check_chambers(law, wanted: dict[str, str]) -> None:
    """InputError where an actuator has no two chambers behind a valve, or another position is measured than that of its piston."""
    need = " and ".join(wanted)
    mend = (
        f"write {' and '.join(wanted.values())}, or PID.design(plant), which chooses what suits it"
    )
    without = [s.name for s in law.commands if s.name not in law.behind_valves]
    if without:
        raise InputError(
            f"PID: {need}: needs two chambers behind a valve at every actuator; "
            f"this plant is a {type(law.model).__name__} and has none at {', '.join(without)}",
            mend=mend,
        )
    own = [one.position for one in law.chambers]
    measured = [s.name for s in law.positions]
    if law.feed == "flow" and sorted(measured) != sorted(own):
        raise InputError(
            f"PID: feed='flow' needs the actuators' own positions, {', '.join(own)}; it measures {', '.join(measured)}",
            key="signals",
            mend=f"write signals: [{', '.join(own)}], or feed='gain'",
        )


def _needs_chambers(law) -> dict[str, str]:
    """Settings of a PID that need the valves and chambers of cylinders → what does without."""
    found = {}
    if law.feed == "flow":
        found["feed='flow'"] = "feed='gain' or feed='none'"
    if law.damping == "pressure":
        found["damping='pressure'"] = "damping='none'"
    if law.δ > 0:
        found[f"δ={law.δ:g}"] = "δ=0"
    return found


class ActuatorSignals(Controller):
    """Signals of a law with one position loop an actuator; its fields are those of `PID`."""

    @property
    def searched(self) -> tuple[str, ...]:
        """Gains that a search may turn: those above zero."""
        return tuple(name for name in ("K_p", "K_i", "K_d") if any(getattr(self, name)))

    @property
    def behind_valves(self) -> dict[str, Notched]:
        """Command → the two chambers behind its valve."""
        return {one.command: one for one in self.model.notched}

    @property
    def chambers(self) -> tuple[Notched, ...]:
        """The two chambers behind the valve of every actuator; () where one has none."""
        own = self.behind_valves
        found = [own[s.name] for s in self.commands if s.name in own]
        return tuple(found) if len(found) == self.n else ()

    @property
    def commands(self):
        return controls(self.model)

    @property
    def n(self) -> int:
        """Number of actuators."""
        return len(self.commands)

    @property
    def positions(self) -> tuple[Signal, ...]:
        """The measured position of every actuator."""
        return positions_of(self.model, self.signals, self.n)

    @property
    def misplaced(self) -> str:
        """Which commands act on another actuator's position, in words: `signals` are the machine's in another order; else ""."""
        own = [s.name for s in positions_of(self.model, (), self.n)]
        if sorted(self.signals) != sorted(own):
            return ""
        pairs = zip(self.commands, self.signals, own)
        told = [f"{u.name} acts on {given} and moves {at}" for u, given, at in pairs if given != at]
        return (
            f"signals in another order than the actuators (controller.signals): {', '.join(told)}"
            if told
            else ""
        )

    @property
    def damped_by(self) -> str:
        """Dynamic pressure feedback, where the machine has chambers for it and the law does without."""
        return "damping: pressure" if self.chambers and self.damping == "none" else ""

    @property
    def uses_pressures(self) -> bool:
        """Whether the law needs the chamber pressures."""
        return self.feed == "flow" or self.damping == "pressure"

    @property
    def measured(self):
        """Positions, and the chamber pressures where the law needs them."""
        if not self.uses_pressures:
            return self.positions
        return (
            *self.positions,
            *(
                find(self.model.outputs, name, "PID, measurement")
                for one in self.chambers
                for name in one.pressures
            ),
        )

    @property
    def references(self):
        """Desired positions and velocities."""
        return tuple(
            Signal(
                target_name(s.name, k),
                s.unit + rate,
                f"desired {s.meaning or s.name}, derivative {k}",
                "reference",
            )
            for k, rate in ((0, ""), (1, "/s"))
            for s in self.positions
        )

    @property
    def states(self):
        """I and e_f of every actuator, p̄_a and p̄_b where they are used."""
        unit = [(s.name, s.unit, u.unit) for s, u in zip(self.positions, self.commands)]
        return (
            *(Signal(f"I_{name}", u, f"integral action of {name}") for name, _, u in unit),
            *(
                Signal(f"e_{name}_slow", x, f"error of {name} behind its derivative")
                for name, x, _ in unit
            ),
            *(
                Signal(f"{s.name}_slow", s.unit, f"filtered {s.meaning}")
                for s in self.measured[self.n :]
            ),
        )

    @property
    def monitors(self):
        return tuple(
            Signal(f"e_{s.name}", s.unit, f"tracking error of {s.name}") for s in self.positions
        )

    def each(self, values) -> list:
        """A field as one number for each actuator."""
        return list(values) * self.n if len(values) == 1 else list(values)

    def errors(self, y, r) -> list:
        """e = x_d − x."""
        return [r[i] - y[i] for i in range(self.n)]
