"""A factor or an offset on one signal between machine and law, fitted so that it explains the commands that were applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from workbench.contract.system import names
from workbench.verification.cause.edits import Edit, same, scaled, shifted

FACTORS = 41  # tried between a hundredth and a hundred, before the best is refined
CLOSE = np.linspace(0.8, 1.25, 46)  # factors that are tried of a sensor that is nearly right
SHIFTS = np.logspace(
    -4.0, 1.0, 26
)  # tried both ways, shares of the largest value that a wire carries
FINE = 1e-6  # share of the way between two of them: how near the best is sought


class Wires(NamedTuple):
    """Wires that one number changes alike: their places, what they are called, their unit, whether they carry measurements."""

    where: list[int]
    said: str
    unit: str
    sensor: bool

    def edit(self, change: Callable, words: str) -> Edit:
        """The fault that changes what these wires carry."""
        told = f"{self.said} {words}"
        return Edit(told, change, same) if self.sensor else Edit(told, same, change)

    def times(self, factor: float) -> Edit:
        """These wires times a number."""
        return self.edit(scaled(self.where, factor), f"times {factor:.4g}")

    def plus(self, number: float) -> Edit:
        """These wires and a number more."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        return self.edit(shifted(self.where, number), f"plus {number:.4g}{unit}")


def single(law) -> Iterator[Wires]:
    """Every wire alone, measurements first."""
    for k, s in enumerate(law.measured):
        yield Wires([k], f"the measurement {s.name}", s.unit, True)
    for k, s in enumerate(law.commands):
        yield Wires([k], f"the command {s.name}", s.unit, False)


def of_one_unit(law) -> Iterator[Wires]:
    """All measurements of one unit together."""
    measured = names(law.measured)
    units = [s.unit for s in law.measured]
    for unit in dict.fromkeys(units):
        where = [k for k, own in enumerate(units) if own == unit]
        listed = ", ".join(measured[k] for k in where[:3])
        said = f"the measurements {listed}{' …' if len(where) > 3 else ''}"
        yield Wires(where, said, unit, True)


def fitted(law, residual: Callable) -> Edit:
    """The wire times the number that explains most: a measurement, all of one unit, or a command."""
    grid = np.unique(np.concatenate([np.linspace(-2.0, 2.0, FACTORS), np.log10(CLOSE)]))
    best = [
        _refined(lambda v, w=wires: w.times(10**v), residual, grid)
        for wires in (*single(law), *of_one_unit(law))
    ]
    return min(best, key=residual)


def biased(law, residual: Callable, sizes: Sequence[float]) -> list[Edit]:
    """Every wire and the number on it that explains most, such as a sensor's or a valve's null.

    sizes: the largest values that the wires carry, measurements first.
    """
    grid = np.concatenate([-SHIFTS[::-1], SHIFTS])
    return [
        _refined(wires.plus, residual, grid * size)
        for wires, size in zip(single(law), sizes)
        if size > 0
    ]


def _refined(made: Callable, residual: Callable, grid: np.ndarray) -> Edit:
    """The edit that explains most, made of a number between two neighbours on a grid."""
    from scipy.optimize import minimize_scalar

    def size(number: float) -> float:
        return residual(made(number))

    k = int(np.argmin([size(v) for v in grid]))
    near = (grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)])
    room = {"xatol": FINE * (near[1] - near[0])}
    found = minimize_scalar(size, bounds=near, method="bounded", options=room)
    return made(float(found.x))
