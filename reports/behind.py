"""What is behind the metering valves of a plant, and what its parts are called."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.metered_twin import MeteredTwin
from plants.multibody.mechanism import Mechanism
from plants.supplies.shared_pump import SharedPump
from plants.valve_circuits.circuit import Circuit
from workbench.contract.system import names as names_of
from workbench.run.log import Log, column

from . import segments
from .style import clean

VALVES = {key: segments.VALVES[key] for key in ("hR", "hSC", "rR", "rSC")} | {
    "check": "pump check"
}  # of a section


# ---- machines behind valves ---------------------------------------------------------------------------------------------
class Behind(NamedTuple):
    """A machine's valve circuit and its bleed's opening; sections' names as in signals, and as people say them ("" for one);
    whether they regenerate.

    balance: what is in balance at every instant: "all"; "chambers", where the oil in the pump's line is compressible; or
    nothing but "volumes" of oil, whose pressures are states. source: knows the motion of the rods (`rods`), or the openings
    of regeneration (`regeneration`).
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
        states = names_of(plant.states)
        if any(name not in log for name in states):
            return None
        given = [column(log, name) for name in names_of(plant.inputs)]
        return self.source.rods([log.array(name) for name in states], given)

    def regeneration(self, log: Log, u_c: list) -> list:
        """Openings u_a of all sections along a run, 0 where a section has none."""
        if not any(self.regenerates):
            return [0.0 * u for u in u_c]
        return self.source.regeneration(
            [column(log, name) for name in names_of(self.source.inputs)]
        )


@lru_cache(4)
def behind(plant) -> Behind | None:
    """None for a machine that has no metering valves."""
    if isinstance(plant, MeteredTwin):
        return behind(plant.of)._replace(balance="volumes")
    if isinstance(plant, MeteredArms):
        return _of_arms(plant)
    if isinstance(plant, MeteredCrane):
        titles = [s.name for s in plant.crane.segments]
        return _of_cylinders(plant, plant.circuit, plant.u_b, titles)
    if isinstance(plant, Mechanism) and plant.valves is not None:
        return _of_mechanism(plant)
    return None


def _of_arms(plant: MeteredArms) -> Behind:
    titles = [f"arm {clean(name, 12)}" for name in plant.names]
    regenerates = tuple(a.regeneration != "none" for a in plant.arms)
    several = tuple(titles) if len(titles) > 1 else ("",)
    return Behind("all", plant, plant.circuit, plant.u_b, tuple(plant.names), several, regenerates)


def _of_mechanism(plant: Mechanism) -> Behind | None:
    """Of drives without regeneration on a pump whose line holds oil; other pumps have no bleed to draw, or log no rod's motion."""
    drives = plant.valves.drives.values()
    if not isinstance(plant.supply, SharedPump) or any(d.regeneration != "none" for d in drives):
        return None
    circuit = plant.valves.circuit
    return _of_cylinders(
        plant.valves, circuit, plant.supply.u_b, [s.name for s in circuit.sections]
    )


def _of_cylinders(source, circuit: Circuit, u_b: float, titles: list[str]) -> Behind:
    names = tuple(section.name for section in circuit.sections)
    several = tuple(clean(title, 20) for title in titles) if len(names) > 1 else ("",)
    return Behind("chambers", source, circuit, u_b, names, several, (False,) * len(names))


def words(plant, valve: str) -> str:
    """A valve's name as people say it, with its arm or cylinder where there are several."""
    if valve == "pR":
        return segments.VALVES["pR"]
    key, _, name = valve.partition("_")
    has = behind(plant)
    return of(VALVES[key], has.titles[has.names.index(name)])


def turns(section) -> bool:
    """Whether a section drives a motor: rad/s and N m in place of m/s and N."""
    return section.turns


def of(what: str, title: str) -> str:
    """ "head relief, arm 2"."""
    return f"{what}, {title}" if title else what
