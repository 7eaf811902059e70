"""What a log holds of the rows an integrator makes, and beside them: which columns, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.contract.system import Signal, System
from workbench.run.demand import Demand
from workbench.run.room import release, table

PART = 4000  # rows copied at once
ENERGY = Signal("E_stored", "J", "energy stored in the plant")


def signals_of(loop: System) -> tuple[Signal, ...]:
    """What a row of an integrator holds."""
    powers = tuple(Signal(f"E_{n}", "J", f"energy by {n}, integrated") for n in loop.power_names)
    return (*loop.states, *powers, *loop.monitors, ENERGY)


@dataclass(frozen=True)
class Columns:
    """Columns of a log: those of an integrator's rows that it keeps, then live inputs.

    A monitor that is a state as well (a held command) is logged once. `keep` are places in an integrator's row, `extra` places
    among the live inputs: references and disturbances, without noise and previews.
    """

    signals: tuple[Signal, ...]
    keep: tuple[int, ...]
    extra: tuple[int, ...]

    @classmethod
    def of(cls, loop: System, demand: Demand) -> Columns:
        """The columns of a loop and what its scenario demands."""
        made = signals_of(loop)
        first: dict[str, int] = {}
        for i, signal in enumerate(made):
            first.setdefault(signal.name, i)
        keep = tuple(first.values())
        extra = tuple(
            i for i, n in enumerate(demand.live) if demand.kinds[n] != "noise" and "@" not in n
        )
        units = {s.name: s.unit for s in loop.inputs}
        given = (Signal(demand.live[i], units[demand.live[i]], "reference") for i in extra)
        return cls((*(made[i] for i in keep), *given), keep, extra)

    def room(self, rows: int) -> np.ndarray:
        """An empty table with this many rows, the inputs' columns included."""
        return table(rows, len(self.signals))

    def take(self, values: np.ndarray, made: np.ndarray) -> None:
        """Put an integrator's rows into rows of the table."""
        for at, block in self._blocks:
            values[:, at] = made[:, block]
        release(values)

    def give(self, values: np.ndarray, inputs: np.ndarray) -> None:
        """Put the live inputs at the same instants beside them."""
        extra = list(self.extra)
        for first in range(0, len(values), PART):
            part = slice(first, first + PART)
            values[part, len(self.keep) :] = inputs[part][:, extra]
            release(values)

    @cached_property
    def _blocks(self) -> list[tuple[slice, slice]]:
        """Kept columns as runs of neighbours: (where each run comes to stand, where it stood)."""
        keep = self.keep
        ends = [k for k in range(1, len(keep)) if keep[k] != keep[k - 1] + 1]
        found = []
        for first, last in zip([0, *ends], [*ends, len(keep)]):
            begin = keep[first]
            found.append((slice(first, last), slice(begin, begin + last - first)))
        return found if keep else []
