"""What is behind the metering valves of a plant, and what its parts are called."""

from __future__ import annotations

from functools import lru_cache

from plants.valve_circuits.valve_sections import ValveSections
from workbench.contract.capabilities import HasValveSections

from . import segments
from .style import clean

# Of a section.
VALVES = {key: segments.VALVES[key] for key in ("hR", "hSC", "rR", "rSC")} | {"check": "pump check"}


# ---- machines behind valves ---------------------------------------------------------------------------------------------
@lru_cache(4)
def behind(plant) -> ValveSections | None:
    """The metering valves of a plant, their titles cut to fit labels; None where it has none, or none that can be drawn."""
    valves = None if plant is None else plant.valves
    found = valves.valve_sections if isinstance(valves, HasValveSections) else None
    if found is None:
        return None
    return found._replace(titles=tuple(clean(title, 20) for title in found.titles))


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
