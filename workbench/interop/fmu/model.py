"""An FMU as it is wired: unpacked, described, its interface chosen, names found."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, final

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.parameters import Unit
from workbench.contract.units import quantity
from workbench.interop.fmu.archive import Unpacked, unpacked
from workbench.interop.fmu.description import Description, Interface, Variable
from workbench.interop.fmu.link import Spec
from workbench.interop.fmu.reading import described
from workbench.interop.fmu.wires import Connect, Wire, Wires, wired

EXCHANGE = "model-exchange"
KINDS = (EXCHANGE, "co-simulation")  # the first that an FMU offers is taken


@final
@dataclass(frozen=True)
class Setting:
    """A number of an FMU that is given: its name, its value in an SI unit."""

    name: str
    value: Annotated[float, Unit("1")]
    unit: str = "1"

    def units(self) -> Mapping[str, str]:
        return {"value": self.unit}


class Scaled:
    """Numbers in SI and in the units of the FMU, for wires in order: SI = factor · FMU + offset."""

    def __init__(self, wires: Iterable[Wire]) -> None:
        units = [wire.variable.si for wire in wires]
        self.factor = np.array([u.factor for u in units])
        self.offset = np.array([u.offset for u in units])
        self.same = bool((self.factor == 1).all() and (self.offset == 0).all())

    def to_si(self, values: np.ndarray) -> np.ndarray:
        return values if self.same else values * self.factor + self.offset

    def from_si(self, values: np.ndarray) -> np.ndarray:
        return values if self.same else (values - self.offset) / self.factor


@final
@dataclass(frozen=True, eq=False)
class Model:
    """What a plant rests on."""

    package: Unpacked
    about: Description
    interface: Interface
    wires: Wires

    @property
    def digest(self) -> str:
        return self.package.digest

    @property
    def exchange(self) -> bool:
        return self.interface.kind == EXCHANGE

    @cached_property
    def scales(self) -> tuple[Scaled, Scaled, Scaled]:
        """Of states, inputs and outputs."""
        w = self.wires
        return Scaled(w.states), Scaled(w.inputs), Scaled(w.outputs)

    def spec(self, limit: float) -> Spec:
        """For a process that runs it."""
        about = self.about
        ways = {"x": self.wires.states, "u": self.wires.inputs, "y": self.wires.outputs}
        discrete = [w.variable.variability != "continuous" for w in self.wires.inputs]
        text = {
            "folder": str(self.package.folder),
            "library": str(self.package.library(self.interface.identifier, about.version)),
            "identifier": self.interface.identifier,
            "token": about.token,
            "version": about.version,
            "kind": self.interface.kind,
            "indicators": about.indicators,
            "discrete": any(discrete),
            **{key: [_address(w.variable) for w in wires] for key, wires in ways.items()},
        }
        own = self.interface
        return Spec(about.file, json.dumps(text), limit, own.once, own.tool)

    def settings(self, group: str, given: Any) -> list[Setting]:
        """The entries of `parameters` or `start` as settings: names are checked, numbers have the FMU's units."""
        if all(isinstance(entry, Setting) for entry in given) and not isinstance(given, Mapping):
            return list(given)
        return [self._setting(group, name, value) for name, value in dict(given).items()]

    def _setting(self, group: str, name: str, value: Any) -> Setting:
        about = self.about
        can = [v for v in about.variables.values() if v.settable and v.number]
        wanted = [v.name for v in can if (v.causality == "parameter") == (group == "parameters")]
        v = about.variable(name, group, wanted)
        if name not in wanted:
            other = "start" if group == "parameters" and v in can else "parameters"
            where = f"write it below {other}" if v in can else ", ".join(wanted[:12])
            raise InputError(
                f"{group}: {short(name)!r} ({v.type}, {v.causality}) is nothing that could be set there",
                file=about.file,
                mend=where or f"the FMU has none: leave {group} out",
            )
        if isinstance(value, bool):
            value = float(value)
        try:
            number = quantity(value, v.si.unit)
        except InputError as why:
            raise InputError(
                f"{group}.{name}: {why.message}", file=about.file, mend=why.mend
            ) from None
        return Setting(name, number, v.si.unit)

    def ranges(self, given: Any) -> tuple[tuple[str, float, float], ...]:
        """(input, least, largest) of every command that has both, as given or as the FMU says."""
        if isinstance(given, tuple):
            given = {name: (low, high) for name, low, high in given}
        units = {w.name: w.signal.unit for w in self.wires.commands}
        for name in given:
            if name not in units:
                near = difflib.get_close_matches(name, units, 2) or list(units)
                raise InputError(
                    f"ranges: there is no command {short(name)!r}",
                    file=self.about.file,
                    mend=f"did you mean {' or '.join(near)}?" if near else "",
                )
        found = []
        for wire in self.wires.commands:
            ends = given.get(wire.name) or _own_range(wire.variable)
            if ends is None:
                continue
            low, high = (quantity(end, wire.signal.unit) for end in ends)
            if not low < high:
                raise InputError(
                    f"ranges.{wire.name}: {low:g} is not below {high:g}",
                    file=self.about.file,
                    mend="write [least, largest]",
                )
            found.append((wire.name, low, high))
        return tuple(found)

    def addressed(self, settings: Iterable[Setting]) -> list:
        """[type, reference, value] in the FMU's own units."""
        found = []
        for setting in settings:
            v = self.about.variables[setting.name]
            value = (setting.value - v.si.offset) / v.si.factor
            found.append([v.type, v.reference, value])
        return found


def _address(v: Variable) -> tuple[str, int]:
    return v.type, v.reference


def _own_range(v: Variable) -> tuple[float, float] | None:
    if v.low is None or v.high is None or not v.low < v.high:
        return None
    low, high = (v.si.factor * end + v.si.offset for end in (v.low, v.high))
    return min(low, high), max(low, high)


def model_of(file: str, connect: Connect, interface: str | None, digest: str = "") -> Model:
    """The FMU in a file. digest: what it must be; a file that has changed since is refused."""
    package = _package(os.path.abspath(file), digest)
    if digest and package.digest != digest:
        raise InputError(
            "this FMU is not the one that was read before: the file has changed",
            file=file,
            mend="build the plant again",
        )
    return _wired(package, connect, interface)


_known: dict[tuple[str, str], Unpacked] = {}


def _package(path: str, digest: str) -> Unpacked:
    """The unpacked file; of a digest that was seen before, without reading it again."""
    found = _known.get((path, digest))
    if found is None:
        found = unpacked(path)
        _known[path, found.digest] = found
    return found


_described = lru_cache(maxsize=16)(described)


@lru_cache(maxsize=32)
def _wired(package: Unpacked, connect: Connect, interface: str | None) -> Model:
    about = _described(package)
    chosen = _interface(about, interface)
    wires = wired(about, connect, chosen.kind == EXCHANGE)
    arrays = [w.variable.name for w in wires.states if not w.variable.real]
    if arrays:
        raise InputError(
            f"its state {short(arrays[0])!r} is an array or no Float64, which is not supported",
            file=about.file,
            mend="run it by interface: co-simulation",
        )
    package.library(chosen.identifier, about.version)
    return Model(package, about, chosen, wires)


def _interface(about: Description, wanted: str | None) -> Interface:
    if wanted is None:
        return next(about.interfaces[kind] for kind in KINDS if kind in about.interfaces)
    if wanted not in KINDS:
        raise InputError(
            f"interface: {short(wanted)!r} is none",
            file=about.file,
            mend=f"choose from {', '.join(KINDS)}",
        )
    if wanted not in about.interfaces:
        raise InputError(
            f"interface: the FMU offers no {wanted}",
            file=about.file,
            mend=f"choose from {', '.join(about.interfaces)}",
        )
    return about.interfaces[wanted]
