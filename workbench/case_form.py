"""What the sections of a case file may hold, as classes: `build` reads by them, `schema` describes them.

Plants and controllers are described by their own classes; these are the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_type_hints

from workbench.parameters import Unit, nonnegative, positive
from workbench.reference import Hold, Sine, Space, Waypoints
from workbench.spline import Spline

Number = str | float  # a number or "2 bar", whose unit is that of the signal it belongs to


@dataclass(frozen=True)
class Recorded:
    """A path recorded in a file of comma-separated values: time, component 1, …; SI units."""

    file: str
    space: Space


Reference = Waypoints | Sine | Hold | Spline | Recorded


@dataclass(frozen=True)
class Shipped:
    """A shipped machine by name (or a file with a plant: section), and what is different here."""

    machine: str
    change: Mapping[str, Any] = field(default_factory=dict)
    friction: Any = None
    lock: Mapping[str, Annotated[float, Unit("m")]] = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """What the controller believes: the plant, and what is different in its belief."""

    change: Mapping[str, Any] = field(default_factory=dict)
    friction: Any = None


@dataclass(frozen=True)
class Filter:
    """Second-order low-pass on measured signals; none named: all of them."""

    frequency: Annotated[float, Unit("Hz"), "corner frequency", positive] = 24.0
    damping: Annotated[float, Unit("1"), "damping ratio", positive] = 1.0
    signals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Noise:
    """White noise on measured signals, one draw a sample."""

    σ: Annotated[Number, Unit("1"), "standard deviation, in the signal's unit"]
    signals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quantise:
    """Rounding of measured signals, as an encoder or converter does."""

    resolution: Annotated[Number, Unit("1"), "step, in the signal's unit"]
    signals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loop:
    """What lies between law and machine."""

    sample_time: Annotated[Literal["continuous"] | float, Unit("s"), "sample time", positive] = 1e-3
    delay: Annotated[float, Unit("s"), "dead time from sample to valve", nonnegative] = 0.0
    filter: Filter | tuple[Filter, ...] = ()
    noise: Noise | tuple[Noise, ...] = ()
    quantise: Quantise | tuple[Quantise, ...] = ()
    limit: Annotated[float | None, Unit("V"), "largest command, both ways", positive] = None


@dataclass(frozen=True)
class Run:
    """A scenario: reference, duration, where to start, what disturbs."""

    reference: Reference | None = None
    duration: Annotated[float | None, Unit("s"), "length of the run", positive] = None
    start: tuple[Number, ...] | None = None
    offset: Mapping[str, Number] = field(default_factory=dict)
    disturbances: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    log_period: Annotated[float | None, Unit("s"), "distance of logged instants", positive] = None
    max_step: Annotated[float, Unit("s"), "longest integrator step", positive] = 1e-3


SECTIONS = {
    "title": "what this case is called",
    "sources": "short name → full name of what `source:` refers to",
    "plant": "the machine",
    "controller": "the law and its gains",
    "loop": "sampling, delay, filters, noise between law and machine",
    "scenario": "reference, start, disturbances, duration",
    "claims": "what is to be verified",
}


@cache
def law_form(cls: type) -> type:
    """A controller's class as a file gives it: `model` is a `Model`, one number may stand for a list of equal ones."""
    hints = get_type_hints(cls, include_extras=True)
    made = []
    for f in fields(cls):
        if not f.init or f.name.startswith("_"):
            continue
        declared, default = hints[f.name], f.default
        if f.name == "model":
            declared, default = Model | None, None
        elif hasattr(declared, "__metadata__") and declared.__origin__ == tuple[float, ...]:
            declared = Annotated[float | tuple[float, ...], *declared.__metadata__]
        made.append((f.name, declared, field() if default is MISSING else field(default=default)))
    made.sort(key=lambda entry: entry[2].default is not MISSING)
    names = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    return make_dataclass(cls.__name__, made, frozen=True, namespace=names)


@cache
def claim_names(union: Any) -> dict[str, type]:
    """Name in a file → claim: PracticalStability is practical-stability."""
    return {kebab(cls.__name__): cls for cls in get_args(union)}


def kebab(name: str) -> str:
    """PracticalStability → practical-stability, MPCStability → mpc-stability."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
