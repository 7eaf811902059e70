"""What an FMU says of itself (modelDescription.xml): interfaces, variables, units, continuous states."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, final

from workbench.contract.errors import InputError, short
from workbench.interop.fmu.quantities import InSI

Kind = Literal["co-simulation", "model-exchange"]
NUMERIC = ("Real", "Float64", "Float32")
INTS = tuple(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
WHOLE = ("Integer", "Boolean", "Enumeration", *INTS)


@final
@dataclass(frozen=True)
class Interface:
    """How an FMU can be run: what its library is called, and what it can do.

    directional   it gives directional derivatives
    every         s, of its own steps, of which a communication step must be a multiple; None: not said
    tool          it needs the tool that made it
    once          a process can hold one instance, once
    """

    kind: Kind
    identifier: str
    directional: bool
    every: float | None
    tool: bool
    once: bool


@final
@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    type       as FMI calls it: Real, Float64, Boolean, …
    array      it is more than one number
    settable   its start value may be chosen
    start      its start value as written; "" where none is
    """

    name: str
    reference: int
    type: str
    causality: str
    variability: str
    settable: bool
    start: str
    low: float | None
    high: float | None
    meaning: str
    si: InSI
    array: bool = False

    @property
    def real(self) -> bool:
        return self.type in NUMERIC and not self.array

    @property
    def number(self) -> bool:
        """Whether its value is one number, whole numbers and truth values included."""
        return not self.array and self.type in (*NUMERIC, *WHOLE)

    @property
    def started(self) -> float:
        """Its start value in SI; 0 where none is written."""
        given = {"true": 1.0, "false": 0.0, "": 0.0}.get(self.start)
        value = float(self.start) if given is None else given
        return self.si.factor * value + self.si.offset


@final
@dataclass(frozen=True, eq=False)
class Description:
    """An FMU as it describes itself.

    states, derivatives   continuous states in the order of their vector, and the variables that are their derivatives
    indicators            number of event indicators; None: only its code knows (FMI 3)
    """

    file: str
    version: int
    name: str
    token: str
    interfaces: Mapping[str, Interface]
    variables: Mapping[str, Variable]
    states: tuple[Variable, ...]
    derivatives: tuple[Variable, ...]
    indicators: int | None

    def variable(self, name: str, where: str, among: Iterable[str] = ()) -> Variable:
        """The variable called so. Raises InputError with the nearest names."""
        if name in self.variables:
            return self.variables[name]
        known = list(among) or list(self.variables)
        near = difflib.get_close_matches(name, known, 3) or known[:12]
        raise InputError(
            f"{where}: the FMU has no variable {short(name)!r}",
            file=self.file,
            mend=f"did you mean {' or '.join(near)}?" if near else "",
        )

    def of_causality(self, causality: str) -> list[Variable]:
        """Its variables that are inputs, outputs, parameters."""
        return [v for v in self.variables.values() if v.causality == causality]
