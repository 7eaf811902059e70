"""Signals of ours and variables of an FMU, wired by name.

What the user does not connect is connected by default: every real input is a command, every number among the outputs is measured,
and continuous states of co-simulation whose start value may be set are states. Characters that no signal may have become _.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

from workbench.contract.errors import InputError, short
from workbench.contract.system import Signal
from workbench.interop.fmu.description import Description, Variable


@final
@dataclass(frozen=True)
class Wire:
    """A signal of ours and the variable it stands for."""

    signal: Signal
    variable: Variable

    @property
    def name(self) -> str:
        return self.signal.name


@final
@dataclass(frozen=True)
class Connect:
    """Which variables of an FMU are which signals, ours: the FMU's, or names alone that stay as they are.

    inputs         commands; None: every real input that is not a disturbance
    disturbances   inputs that a scenario drives
    outputs        what is measured; None: every output that is a number
    states         variables that a start value can be given to and that are read back (co-simulation); None: those it declares
    """

    inputs: Any = None
    disturbances: Any = ()
    outputs: Any = None
    states: Any = None

    def __post_init__(self) -> None:
        for name in ("inputs", "disturbances", "outputs", "states"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else _pairs(given))


def _pairs(given: Mapping[str, str] | Iterable) -> tuple:
    """Pairs (ours, the FMU's) of a mapping, of names, or of such pairs."""
    if isinstance(given, str):
        given = (given,)
    items = given.items() if isinstance(given, Mapping) else given
    pairs = ((spelled(p), p) if isinstance(p, str) else tuple(p) for p in items)
    return tuple(pairs)


def spelled(name: str) -> str:
    """An FMU's name as a signal's: boom.angle[1] is boom_angle_1."""
    found = re.sub(r"\W+", "_", name).strip("_")
    return found if found[:1].isalpha() else f"v_{found}"


@final
@dataclass(frozen=True)
class Wires:
    """All wires of a plant: of commands and disturbances, outputs, and states."""

    commands: tuple[Wire, ...]
    disturbances: tuple[Wire, ...]
    outputs: tuple[Wire, ...]
    states: tuple[Wire, ...]

    @property
    def inputs(self) -> tuple[Wire, ...]:
        return (*self.commands, *self.disturbances)


def wired(about: Description, connect: Connect, exchange: bool) -> Wires:
    """The wires of an FMU. exchange: it is run by model exchange, and its states are ours.

    Raises InputError for a name it does not have, for a variable that cannot be what it shall be, and for two of one name.
    """
    inputs = [v for v in about.of_causality("input") if v.real]
    pushed = _given(about, connect.disturbances, "disturbances", "input")
    taken = {wire.variable.name for wire in pushed}
    if connect.inputs is None:
        commands = [_wire(spelled(v.name), v) for v in inputs if v.name not in taken]
    else:
        commands = _given(about, connect.inputs, "inputs", "input")
    if connect.outputs is None:
        outputs = [_wire(spelled(v.name), v) for v in about.of_causality("output") if v.number]
    else:
        outputs = _given(about, connect.outputs, "outputs", "")
    states = _states(about, connect, exchange, outputs)
    pushes = tuple(_wire(w.name, w.variable, "disturbance") for w in pushed)
    made = Wires(tuple(commands), pushes, tuple(outputs), states)
    _check_names(about, made)
    return made


def _states(about: Description, connect: Connect, exchange: bool, outputs: list) -> tuple:
    if exchange and connect.states is not None:
        raise InputError(
            "connect.states: states of model exchange are those that the FMU declares",
            file=about.file,
            mend="leave them out, or run it by interface: co-simulation",
        )
    if connect.states is not None:
        made = _given(about, connect.states, "states", "")
        for wire in made:
            if not wire.variable.settable:
                raise InputError(
                    f"connect.states: the start value of {wire.variable.name!r} cannot be set",
                    file=about.file,
                    mend="name variables whose start the FMU lets be chosen (initial exact or approx)",
                )
        return tuple(made)
    called = {wire.variable.name: wire.name for wire in outputs}
    known = [v for v in about.states if exchange or (v.settable and v.real)]
    return tuple(_wire(called.get(v.name, spelled(v.name)), v) for v in known)


def _given(about: Description, pairs: tuple, group: str, causality: str) -> list[Wire]:
    """Wires that somebody named."""
    found = []
    among = [v.name for v in about.of_causality(causality)] if causality else []
    for ours, theirs in pairs:
        where = f"connect.{group}"
        v = about.variable(theirs, where, among)
        real = v.real if causality == "input" else v.number
        if not real or (causality and v.causality != causality):
            what = f"a real {causality}" if causality else "a number"
            said = f"an array of {v.type}" if v.array else f"{v.type}, {v.causality}"
            raise InputError(
                f"{where}: {short(theirs)!r} is no {what.removeprefix('a ')} ({said})",
                file=about.file,
                mend=f"choose from {', '.join(among[:12])}" if among else "name another variable",
            )
        if not ours.isidentifier():
            raise InputError(
                f"{where}: {short(ours)!r} is no name of a signal",
                file=about.file,
                mend="use letters, digits and _",
            )
        found.append(_wire(ours, v))
    return found


def _wire(name: str, v: Variable, kind: str = "") -> Wire:
    return Wire(Signal(name, v.si.unit, v.meaning, kind), v)


def _check_names(about: Description, made: Wires) -> None:
    """No name is used for two variables."""
    seen: dict[str, str] = {}
    for wire in (*made.inputs, *made.outputs, *made.states):
        if seen.setdefault(wire.name, wire.variable.name) != wire.variable.name:
            raise InputError(
                f"{seen[wire.name]!r} and {wire.variable.name!r} are both called {wire.name}",
                file=about.file,
                mend="give one of them another name in connect",
            )
    twice = [w.name for w in made.inputs]
    for name in twice:
        if twice.count(name) > 1:
            raise InputError(
                f"input {name} is connected twice", file=about.file, mend="name it once"
            )
