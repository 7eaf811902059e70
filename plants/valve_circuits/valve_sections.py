"""What reports ask of a plant behind metering valves: its circuit, and what its sections are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from plants.valve_circuits.circuit import Circuit
from workbench.contract.system import names

if TYPE_CHECKING:
    from workbench.run.log import Log


class ValveSections(NamedTuple):
    """A plant's valve circuit as reports draw it.

    balance      whose flows are in balance at every instant: "all"; "chambers", where the pump's pressure is a state; "volumes",
                 where the pressures of the chambers are states as well, so that nothing is
    source       the object whose `rods(x, u)` gives the motion of the rods, or whose `regeneration(u)` the openings u_a
    u_b          opening of the bleed
    names        the sections' names, as in signals
    titles       the same for readers; "" where there is a single section
    regenerates  whether each of them can regenerate
    """

    balance: Literal["all", "chambers", "volumes"]
    source: Any
    circuit: Circuit
    u_b: float
    names: tuple[str, ...]
    titles: tuple[str, ...]
    regenerates: tuple[bool, ...]

    def motion(self, log: Log, plant) -> tuple[list, list] | None:
        """Velocities and forces of all rods along a run; None where the log lacks what they follow from."""
        if self.balance != "chambers":
            wanted = [[f"{key}_{name}" for name in self.names] for key in "vf"]
            if any(name not in log for each in wanted for name in each):
                return None
            v, f = ([log.array(name) for name in each] for each in wanted)
            return v, f
        states = names(plant.states)
        if any(name not in log for name in states):
            return None
        given = columns(log, names(plant.inputs))
        return self.source.rods([log.array(name) for name in states], given)

    def regeneration(self, log: Log, u_c: list) -> list:
        """Openings u_a of all sections along a run, 0 where a section has none."""
        if not any(self.regenerates):
            return [0.0 * u for u in u_c]
        return self.source.regeneration(columns(log, names(self.source.inputs)))


def columns(log: Log, wanted: list[str]) -> list:
    """Signals of a log, by name; those it lacks as `workbench.run.log.column` has them."""
    from workbench.run.log import column  # which plants alone do not need

    return [column(log, name) for name in wanted]


def with_oil(source: Any, circuit: Circuit, u_b: float, titles: list[str]) -> ValveSections:
    """Of sections without regeneration on a pump whose line holds oil."""
    names = tuple(section.name for section in circuit.sections)
    several = tuple(titles) if len(names) > 1 else ("",)
    return ValveSections("chambers", source, circuit, u_b, names, several, (False,) * len(names))
