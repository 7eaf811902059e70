"""Which cases a sweep has: every combination of the axes' values, each with every random draw."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.run.log import plain

MOST = 1_000_000  # cases; a slip of the pen is likelier than a wish for more


@final
@dataclass(frozen=True)
class Draw:
    """Where a parameter is drawn from.

    uniform      evenly between `a` and `b`                        log-uniform  so is its logarithm
    normal       mean `a`, standard deviation `b`                  choice       one of `among`
    unit         of a and b; the study is then given text such as "0.25 kg", without a unit the number
    """

    kind: Literal["uniform", "log-uniform", "normal", "choice"]
    a: float = 0.0
    b: float = 1.0
    among: tuple = ()
    unit: str = ""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise InputError(
                f"draw: there is no distribution {self.kind!r}",
                mend=f"choose one of {', '.join(KINDS)}",
            )
        if self.kind == "choice" and not self.among:
            raise InputError("choice: there is nothing to choose from", mend="list the values")
        if not (math.isfinite(self.a) and math.isfinite(self.b)):
            raise InputError(f"{self.kind}: both numbers must be finite")
        if self.kind == "normal" and self.b < 0:
            raise InputError(
                "normal: the standard deviation must be zero or greater",
                mend="give mean and standard deviation",
            )
        if self.kind in ("uniform", "log-uniform") and self.b < self.a:
            raise InputError(
                f"{self.kind}: the lower end {self.a:g} is above the upper end {self.b:g}",
                mend="swap them",
            )
        if self.kind == "log-uniform" and self.a <= 0:
            raise InputError(
                "log-uniform: both ends must be greater than zero",
                mend="draw it uniform, or from above zero",
            )

    def value(self, rng: np.random.Generator) -> Any:
        """One value."""
        if self.kind == "choice":
            return self.among[int(rng.integers(len(self.among)))]
        if self.kind == "normal":
            number = self.a + self.b * rng.standard_normal()
        elif self.kind == "uniform":
            number = self.a + (self.b - self.a) * rng.random()
        else:
            number = math.exp(
                math.log(self.a) + (math.log(self.b) - math.log(self.a)) * rng.random()
            )
        return f"{float(number)!r} {self.unit}" if self.unit else float(number)


KINDS = ("uniform", "log-uniform", "normal", "choice")


@final
@dataclass(frozen=True)
class Grid:
    """Cases in a fixed order: axes in the order given, the last one fastest, then the draws.

    axes     parameter → its values (numbers, text with a unit such as "50 kg", or other plain data)
    draws    parameter → Draw; draw k of a parameter depends on `seed`, k and its name only. So every point of the grid meets
             the same draws, and a larger `count` keeps those there were
    """

    axes: Mapping[str, Sequence] = field(default_factory=dict)
    draws: Mapping[str, Draw] = field(default_factory=dict)
    count: int = 0
    seed: int = 0

    def __post_init__(self):
        for name, values in self.axes.items():
            if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
                raise InputError("expected a list of values", key=name, mend=f"write [{values}]")
            if len(values) == 0:
                raise InputError(
                    "there are no values", key=name, mend="give one or more, or leave it out"
                )
        object.__setattr__(
            self, "axes", {name: tuple(plain(list(v), name)) for name, v in self.axes.items()}
        )
        object.__setattr__(self, "draws", dict(self.draws))
        if twice := self.axes.keys() & self.draws.keys():
            raise InputError("is on the grid and drawn", key=min(twice), mend="keep one of them")
        if not self.axes and not self.draws:
            raise InputError("sweep: there is nothing to vary", mend="give a grid or draws")
        if bool(self.draws) != (self.count > 0):
            raise InputError(
                f"draws: {self.count} of {len(self.draws)} parameters", mend="give both, or neither"
            )
        if len(self) > MOST:
            raise InputError(
                f"sweep: {len(self)} cases, expected at most {MOST}",
                mend="give fewer values, or draw them",
            )

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.axes.values()) * max(self.count, 1)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the table's columns."""
        return (*self.axes, *self.draws)

    def points(self) -> list[dict[str, Any]]:
        """Parameter → value of every case, in order."""
        drawn = [
            {name: d.value(_stream(self.seed, name, k)) for name, d in self.draws.items()}
            for k in range(self.count)
        ]
        combined = [
            dict(zip(self.axes, values)) for values in itertools.product(*self.axes.values())
        ]
        return [{**point, **draw} for point in combined for draw in (drawn or [{}])]


def _stream(seed: int, name: str, k: int) -> np.random.Generator:
    """Random numbers of one draw of one parameter, of nothing else."""
    named = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.default_rng([seed, named, k])


def spaced(low: float, high: float, count: int, unit: str = "", log: bool = False) -> list:
    """`count` values from low to high with both ends, evenly or in equal ratios; as text where there is a unit."""
    if count < 1 or (count == 1 and low != high):
        raise InputError(
            f"{count} values from {low:g} to {high:g}", mend="give a count of two or more"
        )
    if log and not (low > 0 and high > 0):
        raise InputError(
            "equal ratios need both ends greater than zero", mend="leave the spacing out"
        )
    values = np.geomspace(low, high, count) if log else np.linspace(low, high, count)
    return [f"{v!r} {unit}" if unit else v for v in values.tolist()]
