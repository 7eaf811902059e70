"""The shortest time in which a path can be followed within the limits, the whole path slowed or sped up alike.

The factor on the duration is bracketed by doubling and halved on a logarithmic scale until it is known within RESOLUTION.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.contract.units import format_quantity
from workbench.planning.curve import weighed
from workbench.planning.dynamic import Search
from workbench.planning.feasible import NODES, RESOLUTION, feasible
from workbench.planning.paths import Stretched
from workbench.planning.recursion import solved
from workbench.planning.shortest import scaled, shortest_scaled
from workbench.planning.supplies import Speed
from workbench.planning.task import Task

FINE = 40  # nodes the fastest extension moves in a step, on grids for this question
LONGEST = 64.0  # times the given duration, tried before giving up
EASE = 1.5  # times what speeds alone take: for motions from which accelerations are brought down


class Shortest(NamedTuple):
    """s: the shortest time found for a path walked as a whole; with accelerations limited, extensions (N+1,) that take it, and what
    speeds, flow and pressure alone would take (s; None: nothing else is limited)."""

    seconds: float
    q_3: np.ndarray | None = None
    speeds: float | None = None

    @property
    def words(self) -> str:
        """How good it is."""
        if self.speeds is None:
            return f"the shortest time within {RESOLUTION:.0%}"
        return f"a motion that takes it was found; without limited accelerations: about {format_quantity(self.speeds, 's')}"


def shortest(task: Task) -> Shortest | None:
    """The shortest time, all of the path slowed or sped up alike; None where none was found.

    Speeds, flow and pressure on a grid; accelerations by `workbench.planning.shortest` from motions found there.
    """
    free = replace(task, order=1)
    factor = shortest_factor(free)
    if factor is None:
        return None
    seconds = factor * task.path.duration
    if task.order == 1:
        return Shortest(seconds)
    starts = []
    for supply, ease in ((Speed(), EASE), (task.supply, EASE), (task.supply, 2 * EASE))[
        : 3 if weighed(task) else 1
    ]:
        if (
            plan := solved(scaled(replace(free, supply=supply), factor * ease), Search(finest=1e-4))
        ) is not None:
            starts.append((ease * seconds, plan.q_3))
    found = shortest_scaled(task, starts)
    return (
        None if found is None else Shortest(found.seconds, found.q_3, min(seconds, found.seconds))
    )


def shortest_factor(task: Task) -> float | None:
    """How much longer the path must take without limited accelerations: the least feasible factor within RESOLUTION, or None."""
    slowed = lambda factor: replace(task, path=Stretched(task.path, factor))
    stroke = float(np.ptp(task.ranges[2]))

    def can(factor: float) -> bool:  # a slow step may go far: the grid is as fine as its moves need
        return feasible(
            slowed(factor), int(np.clip(FINE * stroke / (task.reach * factor), 131, NODES))
        )

    if not can(LONGEST):
        return None
    low = 0.0
    high = 1.0
    while not can(high):
        low = high
        high = 2 * high
    while low == 0.0:
        if not can(high / 2):
            low = high / 2
        elif (high := high / 2) < 1 / LONGEST:
            return high
    while high / low > 1 + RESOLUTION:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if can(middle) else (middle, high)
    return float(high)
