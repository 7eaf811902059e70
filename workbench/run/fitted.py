"""States of a machine whose positions depend on each other, put where they fit together."""

from __future__ import annotations

from workbench.contract.scalars import Vector
from workbench.contract.system import System

TIMES = 4  # a projection takes an error of ε to about ε³


def fitted(loop: System, x: Vector) -> list[float]:
    """The state of a loop, its plant's positions and rates nearest to x that close all of its loops."""
    found = [float(v) for v in x]
    if loop.plant.dependent:
        for _ in range(TIMES):
            found = [float(v) for v in loop.project(0.0, found)]
    return found
