"""What is behind the metering valves of a plant, and what its parts are called."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.metered_twin import MeteredTwin
from plants.valve_circuits.circuit import Circuit

from . import segments
from .style import clean

VALVES = {key: segments.VALVES[key] for key in ("hR", "hSC", "rR", "rSC")} | {
    "check": "pump check"
}  # of a section


# ---- machines behind valves ---------------------------------------------------------------------------------------------
class Behind(NamedTuple):
    """A machine's valve circuit and its bleed's opening; sections' names as in signals, and as people say them ("" for one);
    whether they regenerate."""

    circuit: Circuit
    u_b: float
    names: tuple[str, ...]
    titles: tuple[str, ...]
    regenerates: tuple[bool, ...]


@lru_cache(4)
def behind(plant) -> Behind | None:
    """None for a machine that has no metering valves."""
    if isinstance(plant, MeteredTwin):
        return behind(plant.of)
    if not isinstance(plant, (MeteredArms, MeteredCrane)):
        return None
    if isinstance(plant, MeteredCrane):
        names = plant.labels
        titles = tuple(clean(s.name, 20) for s in plant.crane.segments)
    else:
        names = plant.names
        titles = tuple(f"arm {clean(n, 12)}" for n in plant.names)
    regenerates = tuple(a.regeneration != "none" for a in plant.arms) or (False,) * len(names)
    return Behind(
        plant.circuit, plant.u_b, tuple(names), titles if len(names) > 1 else ("",), regenerates
    )


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
