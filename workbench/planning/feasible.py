"""Whether a motion exists within a task's limits, and the least pressure that allows one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.planning.curve import weighed
from workbench.planning.dynamic import Search, parts
from workbench.planning.recursion import solved
from workbench.planning.supplies import Speed
from workbench.planning.task import Task

NODES = 1041  # over the stroke, when asking whether a motion exists
UNLIMITED = 1e9  # Pa


def enough_pressure(task: Task) -> float | None:
    """Pa, within RESOLUTION: the pressure that must be allowed for a motion in the given time; None where it is no matter."""
    if (
        not weighed(task)
        or (plan := solved(_allowed(replace(task, order=1), UNLIMITED), Search(finest=1e-3)))
        is None
    ):
        return None
    low = float(task.step.highest)
    step = plan.task.step
    high = float(np.max(step.needed(*step.motion(*parts(plan.task, plan.q_3)))))
    while high / low > 1 + RESOLUTION:
        middle = np.sqrt(low * high)
        low, high = (
            (low, middle) if feasible(_allowed(replace(task, order=1), middle)) else (middle, high)
        )
    return high


def _allowed(task: Task, top: float) -> Task:
    """The task with another highest pressure, Pa."""
    supply = task.supply
    if supply.high is not None:
        supply = replace(supply, high=top)
    elif supply.p_s is not None:
        supply = replace(supply, p_s=top)
    return replace(task, p_max=top, supply=supply)


# ---- the shortest time ----------------------------------------------------------------------------------------------
RESOLUTION = 0.01  # share of the shortest time


def raised(seconds: float) -> float:
    """Rounded up to the digits that are printed, so that what is printed is long enough."""
    digit = 10.0 ** (np.floor(np.log10(seconds)) - 3)
    return float(np.ceil(seconds / digit - 1e-9) * digit)


def feasible(task: Task, nodes: int = NODES) -> bool:
    """Whether a motion exists on a grid of so many nodes."""
    if task.step.highest is None:  # then forces do not matter
        task = replace(task, supply=Speed())
    return solved(task, Search(nodes=nodes, finest=1.0)) is not None
