"""A made-up rig whose classes use every hint a file can hold; parameters distinct and far from one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest

import plants
from workbench.cases.build import build
from workbench.cases.shorthand import Shorthand
from workbench.cases.yaml_input import parse
from workbench.contract.errors import InputError
from workbench.contract.parameters import Bound, Unit, check_bounds, nonnegative, positive

HIAB = Path(plants.__file__).parent / "parameters" / "hiab-xs031.yaml"


@dataclass(frozen=True)
class Pipe:
    name: str
    length: Annotated[float, Unit("m"), "length between the fittings", positive]
    bore: Annotated[float, Unit("m"), "inner diameter", Bound(2e-3, 0.2)] = 0.012
    ends: Annotated[tuple[float, ...], Unit("m"), "position"] = (0.0, 0.0)

    def __post_init__(self):
        check_bounds(self)
        if self.bore >= self.length:
            raise ValueError(f"bore: {self.bore} m is not less than the length, {self.length} m")


@dataclass(frozen=True)
class Pump:
    Q: Annotated[float, Unit("m^3/s"), "flow", positive]
    ω: Annotated[float, Unit("rad/s"), "speed", nonnegative] = 157.0


@dataclass(frozen=True)
class Accumulator:
    V: Annotated[float, Unit("m^3"), "gas volume", positive] = 3e-3
    σ_0: Annotated[float | None, Unit("1/s"), "leak rate", nonnegative] = None


@dataclass(frozen=True)
class Idle:
    """Nothing supplies."""


@dataclass(frozen=True)
class Rig:
    p: Annotated[float, Unit("Pa"), "supply pressure", positive]
    pipes: tuple[Pipe, ...] = ()
    supply: Pump | Accumulator | Idle = Idle()
    mode: Literal["open", "closed"] = "open"
    stages: int = 2
    warm: bool = False
    title: str = ""
    spare: Pipe | None = None
    pressures: tuple[tuple[Annotated[float, Unit("Pa")], ...], ...] = ()
    gains: Mapping[str, Annotated[float, Unit("1/s"), "gain", positive]] = field(
        default_factory=dict
    )
    raw: Any = None
    shorthand: ClassVar[tuple[Shorthand, ...]] = (
        Shorthand(
            "depth",
            Annotated[float, Unit("m"), "water column", positive],
            ("p",),
            lambda depth, others: {"p": 9806.65 * depth * others["stages"]},
        ),
    )


def rig(text, provenance=None):
    return build(Rig, parse(text, "rig.yaml"), "rig", provenance)


def refused(text, *words, line, key, declared=Rig):
    with pytest.raises(InputError) as caught:
        build(declared, parse(text, "rig.yaml"), "rig")
    error = caught.value
    for word in words:
        assert word in str(error), f"{word!r} is not in: {error}"
    assert (error.file, error.line, error.key) == ("rig.yaml", line, key) and error.mend, str(error)


FULL = """\
p: 185 bar
pipes:
  - {name: main, length: 2.5 m, bore: 20 mm, ends: [80 mm, -0.3]}
  - {name: tank, length: 1}
supply:
  type: Pump
  Q: {value: 40 l/min, tag: V, source: sheet 7, note: rated}
  omega: 1500 rpm
mode: closed
stages: 3
warm: true
title: "12"
spare: {name: s, length: 300 mm}
pressures: [[130 bar, 3e6], [1 MPa, 2 MPa]]
gains: {x: 5, y: 120 1/s}
raw: {a: [1, two, null]}
"""
