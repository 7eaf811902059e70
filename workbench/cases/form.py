"""What the sections of a case file may hold, as classes: `build` reads by them, `schema` describes them.

Plants and controllers are described by their own classes; these are the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, make_dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_type_hints

from workbench.contract.parameters import Unit, nonnegative, positive
from workbench.run.deviated import Deviated
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.sampling import Space
from workbench.run.spline import Spline
from workbench.run.steps import Steps

Number = str | float  # a number or "2 bar", whose unit is that of the signal it belongs to


@dataclass(frozen=True)
class Recorded:
    """A path recorded in a file of text: time, component 1, …; in SI units, or in those of its header (`time [ms]; x [mm]`)."""

    file: Annotated[str, "file of rows time, component 1, …, in SI units or in those of its header"]
    space: Space


Reference = Waypoints | Sine | Hold | Spline | Steps | Deviated | Recorded


@dataclass(frozen=True)
class Shipped:
    """A shipped machine by name (or a file with a plant: section), and what is different here."""

    machine: Annotated[str, "name of a shipped machine, or a file with a plant: section"]
    change: Mapping[str, Any] = field(default_factory=dict)
    friction: Any = None
    lock: Annotated[
        Mapping[str, Annotated[float, Unit("m")]],
        "prismatic joints that are held: extension: 0.5 m",
    ] = field(default_factory=dict)


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
    filter: Annotated[Filter | tuple[Filter, ...], "low-pass filters of measured signals"] = ()
    noise: Annotated[Noise | tuple[Noise, ...], "white noise on measured signals"] = ()
    quantise: Annotated[Quantise | tuple[Quantise, ...], "steps by which signals are measured"] = ()
    limit: Annotated[
        Number | None, Unit("1"), "largest command, both ways, in the commands' unit", positive
    ] = None
    accuracy: Annotated[
        float | None,
        Unit("1"),
        "error of a run, as a share of each state's largest value",
        positive,
    ] = None


@dataclass(frozen=True)
class Run:
    """A scenario: reference, duration, where to start, what disturbs."""

    reference: Annotated[Reference | None, "the path that is wanted"] = None
    duration: Annotated[float | None, Unit("s"), "length of the run", positive] = None
    start: Annotated[
        tuple[Number, ...] | None, "where the machine begins, in its own coordinates"
    ] = None
    offset: Annotated[
        Mapping[str, Number], "how far states begin from the start: q_1: 0.02 rad"
    ] = field(default_factory=dict)
    disturbances: Annotated[
        Mapping[str, Any], "disturbance inputs by name: a value, or a reference such as Sine"
    ] = field(default_factory=dict)
    seed: Annotated[int, Unit("1"), "seed of all noise", nonnegative] = 0
    log_period: Annotated[float | None, Unit("s"), "distance of logged instants", positive] = None
    max_step: Annotated[float, Unit("s"), "longest integrator step", positive] = 1e-3


@dataclass(frozen=True)
class LQR:
    """A linear–quadratic regulator, designed for these weights; see `controllers.lqr`."""

    Q: Annotated[
        float | tuple[float, ...], Unit("1"), "weights of the states, 1/unit²", nonnegative
    ]
    R: Annotated[float | tuple[float, ...], Unit("1"), "weights of the commands, 1/unit²", positive]
    integral: Annotated[float | None, Unit("1"), "weight of the summed errors", positive] = None
    tracked: Annotated[tuple[str, ...], "outputs that follow references"] = ()
    u_max: Annotated[float | None, Unit("1"), "limit of every command, both ways", positive] = None
    model: Model | None = None


@dataclass(frozen=True)
class Compiled:
    """An exported law as compiled code; commands that read such a file need --trust, as the code is run."""

    library: Annotated[
        str, "folder that workbench export --c wrote, or a library built of it, beside its law.json"
    ]
    digest: Annotated[str, "digest of the law's numbers; others are refused; law.h has it"] = ""


SECTIONS = {
    "title": "what this case is called",
    "sources": "short name → full name of what `source:` refers to",
    "plant": "the machine",
    "controller": "the law and its gains",
    "loop": "sampling, delay, filters, noise between law and machine",
    "scenario": "reference, start, disturbances, duration",
    "claims": "what is to be verified",
}


HIDDEN = {"MPC": ("T_s", "extra")}  # the loop gives the sample time; files hold no code


@cache
def law_form(cls: type, units: tuple[tuple[str, str], ...] = ()) -> type:
    """A controller's class as a file gives it: `model` is a `Model`, one number may stand for a list of equal ones.

    units: (field, unit) where they follow the plant's, else those of the class.
    """
    if cls.__name__ == "LQR":
        return LQR
    hints = get_type_hints(cls, include_extras=True)
    made = []
    for f in fields(cls):
        if not f.init or f.name.startswith("_") or f.name in HIDDEN.get(cls.__name__, ()):
            continue
        name = f.name
        declared = hints[f.name]
        default = f.default
        if name == "model":
            declared = Model | None
            default = None
        elif name == "observer":
            declared = law_form(_classes(declared)[0]) | None
        elif cls.__name__ == "MPC" and name == "N":
            name = "horizon"
            declared = Annotated[int, Unit("1"), "samples looked ahead", positive]
        elif _list_of_numbers(declared):
            declared = Annotated[float | tuple[float, ...], *declared.__metadata__]
        if name in (given := dict(units)):
            kept = (Unit(given[name]) if isinstance(m, Unit) else m for m in declared.__metadata__)
            declared = Annotated[declared.__origin__, *kept]
        made.append((name, declared, field() if default is MISSING else field(default=default)))
    made.sort(key=lambda entry: entry[2].default is not MISSING)
    names = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    return make_dataclass(cls.__name__, made, frozen=True, namespace=names)


def _list_of_numbers(declared: Any) -> bool:
    return hasattr(declared, "__metadata__") and declared.__origin__ == tuple[float, ...]


def _classes(declared: Any) -> list[type]:
    return [c for c in get_args(declared) if is_dataclass(c)]


def real(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a file gave for `cls` as that takes it: numbers that stand for lists as such, its own names and classes."""
    hints = get_type_hints(cls, include_extras=True)
    found = {}
    for name, value in values.items():
        name = "N" if name == "horizon" else name
        declared = hints.get(name)
        if isinstance(value, float) and _list_of_numbers(declared):
            value = (value,)
        elif name == "observer" and value is not None:
            inner = _classes(declared)[0]
            value = inner(**real(inner, {f.name: getattr(value, f.name) for f in fields(value)}))
        found[name] = value
    return found


@cache
def claim_names(union: Any) -> dict[str, type]:
    """Name in a file → claim: PracticalStability is practical-stability.

    Claims of which a file may state several have the name of their section.
    """
    return {cls.section or kebab(cls.__name__): cls for cls in get_args(union)}


def kebab(name: str) -> str:
    """PracticalStability → practical-stability, MPCStability → mpc-stability."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()
