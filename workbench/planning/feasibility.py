"""Why there is no plan: where, which limit, by how much, and the shortest time that would do."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.planning.curve import weighed
from workbench.planning.paths import Stretched
from workbench.planning.task import Task

NODES = 1041  # over the stroke, when asking whether a motion exists
FINE = 40  # nodes the fastest extension moves in a step, on grids for this question
LONGEST = 64.0  # times the given duration, tried before giving up
UNLIMITED = 1e9  # Pa


def explain(task: Task, known: Shortest | None = None) -> InputError:
    """The error to raise for a task without a feasible motion (on the grid that was searched); known: its shortest time."""
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
    """What no time would mend: a path out of reach, a start or an end that does not fit; None where all is in reach."""
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


def _joint(task: Task, k: int, q3: np.ndarray) -> str:
    """Which joint, and by how much, for the best of the extensions."""
    r = [task.tips[k, 0], task.tips[k, 1]]
    c = task.crane.stretch(r, q3)
    near, far = (
        np.abs(c) < 1,
        float(np.hypot(r[0] - task.crane.origin[0], r[1] - task.crane.origin[1])),
    )
    if not near.any():
        ρ = np.hypot(task.crane.L_2 + q3, task.crane.h)
        over, under = far - (task.crane.L_1 + ρ.max()), np.abs(task.crane.L_1 - ρ).min() - far
        gap = max(over, under)
        return (
            f"it is {format_quantity(far, 'm')} from the lift joint, {format_quantity(float(gap), 'm')} "
            f"{'beyond' if over >= under else 'inside'} what the links reach"
        )
    q = np.broadcast_arrays(*task.crane.joints(r, q3))
    passed = np.stack([np.maximum(low - v, v - high) for v, (low, high) in zip(q[:2], task.ranges)])
    worst = np.where(near, passed.max(axis=0), np.inf)
    i = int(np.argmin(worst))
    j = int(np.argmax(passed[:, i]))
    low, high = task.ranges[j]
    return (
        f"{task.crane.joint_names[j]} would be {np.degrees(q[j][i]):.2f}°, its cylinder allows {np.degrees(low):.2f}° … "
        f"{np.degrees(high):.2f}° ({np.degrees(passed[j, i]):.2g}° over)"
    )


def _interval(values: np.ndarray) -> str:
    return f"{values.min():.4g} … {values.max():.4g}"


def _stuck(task: Task, q3: np.ndarray, allowed: np.ndarray) -> str:
    """Walks all motions forward until none goes on; says where, and what holds the best of them back."""
    alive = allowed[0] & (np.abs(q3 - task.start) <= (q3[1] - q3[0]) / 2 + 1e-12)
    for k in range(task.steps):
        ratios = _ratios(task, q3, k)
        pairs = np.where(alive[:, None] & allowed[k + 1][None, :], 1.0, np.inf)
        worst = np.maximum.reduce(list(ratios.values())) * pairs
        if not (worst <= 1 + 1e-9).any():
            i, j = np.unravel_index(int(np.argmin(worst)), worst.shape)
            name = max(ratios, key=lambda n: ratios[n][i, j])
            return f"{_at(task, k)} {_named(task, name, ratios[name][i, j])}"
        alive = (worst <= 1 + 1e-9).any(axis=0)
    if task.end is not None and task.order == 1:
        return f"the extension cannot be at {task.end:g} m at the end; within the limits it ends in {_interval(q3[alive])} m"
    return _accelerations(task)


def _ratios(task: Task, q3: np.ndarray, k: int) -> dict:
    """Every limit's quantity over what is allowed, for the step k from every node (rows) to every node (columns)."""
    from workbench.planning.dynamic import coefficients, forces

    X = task.pistons(np.broadcast_to(q3, (2, len(q3))), slice(k, k + 2))[0]
    i, j = np.indices((len(q3), len(q3)))
    u, c = (q3[j] - q3[i]) / task.dt, []
    if task.step.needs_forces:
        n = coefficients(task)
        middle = np.linspace(q3[0], q3[-1], 2 * len(q3) - 1)
        c = list(forces(task, middle[None, :], n, k)[0].T[:, i + j])
    found = task.step.excess(X[:, 0][:, i], X[:, 1][:, j], c, u, np.zeros_like(u))
    return {
        name: np.broadcast_to(np.nan_to_num(np.asarray(v, float), nan=np.inf), i.shape)
        for name, v in found.items()
    }


def _at(task: Task, k: int) -> str:
    return (
        f"between {format_quantity(float(task.times[k]), 's')} and {format_quantity(float(task.times[k + 1]), 's')}, near "
        f"({task.tips[k, 0]:.4g}, {task.tips[k, 1]:.4g}) m,"
    )


def _named(task: Task, name: str, ratio: float) -> str:
    if name.startswith("speed"):
        i = int(name[-1])
        top = task.crane.cylinders[i].v_max
        return (
            f"the {task.crane.actuator_names[i]} cylinder would have to move at {format_quantity(ratio * top, 'm/s', 3)}, "
            f"{_over(ratio)} its {format_quantity(top, 'm/s')}"
        )
    if name.startswith("pressure"):
        top = task.step.highest
        return (
            f"the {task.crane.actuator_names[int(name[-1])]} cylinder would need {format_quantity(ratio * top, 'Pa')}, "
            f"{_over(ratio)} the {format_quantity(top, 'Pa')} it is given"
        )
    top, unit = (task.Q_max, "m^3/s") if name == "pump flow" else (task.step.highest, "Pa")
    return f"the {name} would be {format_quantity(ratio * top, unit, 3)}, {_over(ratio)} {format_quantity(top, unit)}"


def _over(ratio: float) -> str:
    return f"{ratio - 1:.1%} above" if ratio >= 1.0005 else "just above"


def _accelerations(task: Task) -> str:
    """The speed-level plan's worst acceleration."""
    from workbench.planning.dynamic import Search
    from workbench.planning.recursion import optimise
    from workbench.planning.supplies import Speed

    try:
        q = optimise(replace(task, order=1, supply=Speed(), p_max=None), Search(nodes=261)).q_3
    except InputError:
        return "speeds alone leave no motion within the limits from start to end"
    steps = np.diff(task.pistons(q)[0], axis=1)
    jumps = np.abs(np.diff(np.pad(steps, ((0, 0), (1, 1))), axis=1)) / task.push[:, None]
    i, k = np.unravel_index(int(np.argmax(jumps)), jumps.shape)
    top = task.crane.cylinders[i].a_max
    return (
        f"accelerations leave no motion; a motion of least speed needs {jumps[i, k] * top:.3g} m/s² of the "
        f"{task.crane.actuator_names[i]} cylinder at {format_quantity(float(task.times[k]), 's')}; {top:g} m/s² are allowed"
    )


def enough_pressure(task: Task) -> float | None:
    """Pa, within RESOLUTION: the pressure that must be allowed for a motion in the given time; None where it is no matter."""
    from workbench.planning.dynamic import Search, parts
    from workbench.planning.recursion import solved

    if (
        not weighed(task)
        or (plan := solved(_allowed(replace(task, order=1), UNLIMITED), Search(finest=1e-3)))
        is None
    ):
        return None
    low, step = float(task.step.highest), plan.task.step
    high = float(np.max(step.needed(*step.motion(*parts(plan.task, plan.q_3)))))
    while high / low > 1 + RESOLUTION:
        middle = np.sqrt(low * high)
        low, high = (
            (low, middle) if feasible(_allowed(replace(task, order=1), middle)) else (middle, high)
        )
    return high


def _allowed(task: Task, top: float) -> Task:
    """The same with another highest pressure."""
    name = (
        "high" if task.supply.high is not None else "p_s" if task.supply.p_s is not None else None
    )
    return replace(
        task, p_max=top, supply=task.supply if name is None else replace(task.supply, **{name: top})
    )


# ---- the shortest time ----------------------------------------------------------------------------------------------
RESOLUTION = 0.01  # of the shortest time
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


def raised(seconds: float) -> float:
    """Rounded up to the digits that are printed, so that what is printed is long enough."""
    digit = 10.0 ** (np.floor(np.log10(seconds)) - 3)
    return float(np.ceil(seconds / digit - 1e-9) * digit)


def feasible(task: Task, nodes: int = NODES) -> bool:
    """Whether a motion exists on a grid of so many nodes."""
    from workbench.planning.dynamic import Search
    from workbench.planning.recursion import solved
    from workbench.planning.supplies import Speed

    if task.step.highest is None:  # then forces do not matter
        task = replace(task, supply=Speed())
    return solved(task, Search(nodes=nodes, finest=1.0)) is not None


def shortest(task: Task) -> Shortest | None:
    """The shortest time, all of the path slowed or sped up alike; None where none was found.

    Speeds, flow and pressure on a grid; accelerations by `workbench.planning.shortest` from motions found there.
    """
    from workbench.planning.dynamic import Search
    from workbench.planning.recursion import solved
    from workbench.planning.shortest import scaled, shortest_scaled
    from workbench.planning.supplies import Speed

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
    low, high = 0.0, 1.0
    while not can(high):
        low, high = high, 2 * high
    while low == 0.0:
        if not can(high / 2):
            low = high / 2
        elif (high := high / 2) < 1 / LONGEST:
            return high
    while high / low > 1 + RESOLUTION:
        middle = np.sqrt(low * high)
        low, high = (low, middle) if can(middle) else (middle, high)
    return float(high)


def shortest_time(task: Task) -> float:
    """Least time in which the path can be followed within the limits, slowed down or sped up as a whole, s.

    Within RESOLUTION for order 1; with accelerations limited, the time of a motion that was found (see `shortest`).
    Raises InputError when no time is long enough.
    """
    if (found := shortest(task)) is None:
        raise explain(task)
    return found.seconds
