"""Why there is no plan: where, which limit, by how much, and the shortest time that would do."""

from __future__ import annotations

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.planning.feasible import NODES, enough_pressure, feasible, raised
from workbench.planning.least_duration import Shortest, shortest
from workbench.planning.obstacle import _interval, _joint, _stuck
from workbench.planning.task import Task


def explain(task: Task, known: Shortest | None = None) -> InputError:
    """The InputError for a task without a feasible motion on the grid that was searched: where, which limit, by how much.

    known: the shortest time of the path, where it is known already.
    """
    if (error := unfit(task)) is not None:
        return error
    if task.order == 1 and feasible(task, NODES):
        return InputError(
            "no motion was found on this grid, but on a finer one there is one",
            key="search.nodes",
            mend=f"search with {NODES} nodes or more",
        )
    q3 = np.linspace(*task.ranges[2], 209)
    where = _stuck(task, q3, task.pistons(np.broadcast_to(q3, (task.steps + 1, len(q3))))[1])
    found = known or shortest(task)
    if found is None:
        enough = enough_pressure(task)
        mend = "even a very slow motion passes a limit: change the path, the load or the limits" + (
            f"; in this time {format_quantity(raised(enough), 'Pa')} would do" if enough else ""
        )
    else:
        mend = (
            f"take {format_quantity(raised(found.seconds), 's')} instead of "
            f"{format_quantity(task.path.duration, 's')} ({found.words}), or raise the limit"
        )
    return InputError(f"the path cannot be followed in this time: {where}", key="path", mend=mend)


def unfit(task: Task) -> InputError | None:
    """The InputError for a path that no duration makes feasible: out of reach, or with unfit ends; None where all is in reach."""
    q3 = np.linspace(*task.ranges[2], NODES)
    nodes = np.broadcast_to(q3, (task.steps + 1, NODES))
    allowed = task.pistons(nodes)[1]
    if (error := _unreached(task, q3, allowed)) is not None:
        return error
    for k, q, name in ((0, task.start, "start"), (task.steps, task.end, "end")):
        if (
            q is not None
            and not task.pistons(
                np.full((1, 1), q), slice(k, k + 1) if k < task.steps else slice(k, None)
            )[1].all()
        ):
            return InputError(
                f"an extension of {q:g} m does not fit there: {_joint(task, k, np.array([q]))}",
                key=name,
                mend=f"choose {_interval(q3[allowed[k]])} m",
            )
    return None


def _unreached(task: Task, q3: np.ndarray, allowed: np.ndarray) -> InputError | None:
    """The first place on the path that no extension reaches."""
    empty = ~allowed.any(axis=1)
    if not empty.any():
        return None
    k = int(np.argmax(empty))
    last = int(np.flatnonzero(empty)[-1])
    place = f"at t = {format_quantity(float(task.times[k]), 's')} the tip ({task.tips[k, 0]:.4g}, {task.tips[k, 1]:.4g}) m"
    more = f" (and at {empty.sum()} of {len(empty)} instants up to {format_quantity(float(task.times[last]), 's')})"
    return InputError(
        f"{place} is outside the workspace: {_joint(task, k, q3)}{more if empty.sum() > 1 else ''}",
        key="path",
        mend="move this part of the path into the workspace",
    )


def shortest_time(task: Task) -> float:
    """Least time in which the path can be followed within the limits, slowed down or sped up as a whole, s.

    Within RESOLUTION for order 1; with accelerations limited, the time of a motion that was found (see `shortest`).
    Raises InputError when no time is long enough.
    """
    if (found := shortest(task)) is None:
        raise explain(task)
    return found.seconds
