"""What stands in the way of a motion: the step at which no motion goes on, and the limit that holds the best of them back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.units import format_quantity
from workbench.planning.dynamic import Search
from workbench.planning.recursion import attempts
from workbench.planning.supplies import Speed
from workbench.planning.task import Task


def _joint(task: Task, k: int, q3: np.ndarray) -> str:
    """Which joint, and by how much, for the best of the extensions."""
    r = [task.tips[k, 0], task.tips[k, 1]]
    c = task.crane.stretch(r, q3)
    near = np.abs(c) < 1
    far = float(np.hypot(r[0] - task.crane.origin[0], r[1] - task.crane.origin[1]))
    if not near.any():
        ρ = np.hypot(task.crane.L_2 + q3, task.crane.h)
        over = far - (task.crane.L_1 + ρ.max())
        under = np.abs(task.crane.L_1 - ρ).min() - far
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
    half = (q3[1] - q3[0]) / 2
    alive = allowed[0] & (np.abs(q3 - task.start) <= half + 1e-12)
    for k in range(task.steps):
        ratios = _ratios(task, q3, k)
        possible = alive[:, None] & allowed[k + 1][None, :]
        pairs = np.where(possible, 1.0, np.inf)
        worst = np.maximum.reduce(list(ratios.values())) * pairs
        passes = worst <= 1 + 1e-9
        if not passes.any():
            best = np.unravel_index(int(np.argmin(worst)), worst.shape)
            of_best = {name: ratio[best] for name, ratio in ratios.items()}
            name = max(of_best, key=of_best.__getitem__)
            return f"{_at(task, k)} {_named(task, name, of_best[name])}"
        alive = passes.any(axis=0)
    if task.end is not None and task.order == 1:
        return f"the extension cannot be at {task.end:g} m at the end; within the limits it ends in {_interval(q3[alive])} m"
    return _accelerations(task)


def _ratios(task: Task, q3: np.ndarray, k: int) -> dict:
    """Every limit's quantity over what is allowed, for the step k from every node (rows) to every node (columns)."""
    from workbench.planning.dynamic import coefficients, forces

    many = len(q3)
    X, _ = task.pistons(np.broadcast_to(q3, (2, many)), slice(k, k + 2))
    i, j = np.indices((many, many))
    u = (q3[j] - q3[i]) / task.dt
    c = []
    if task.step.needs_forces:
        n = coefficients(task)
        middle = np.linspace(q3[0], q3[-1], 2 * many - 1)
        (of_step,) = forces(task, middle[None, :], n, k)
        c = list(of_step.T[:, i + j])
    x = X[:, 0][:, i]
    x_next = X[:, 1][:, j]
    found = task.step.excess(x, x_next, c, u, np.zeros_like(u))
    ratios = {}
    for name, value in found.items():
        known = np.nan_to_num(np.asarray(value, float), nan=np.inf)
        ratios[name] = np.broadcast_to(known, i.shape)
    return ratios


def _at(task: Task, k: int) -> str:
    begin = format_quantity(float(task.times[k]), "s")
    end = format_quantity(float(task.times[k + 1]), "s")
    x, y = task.tips[k]
    return f"between {begin} and {end}, near ({x:.4g}, {y:.4g}) m,"


def _named(task: Task, name: str, ratio: float) -> str:
    """How far a limit is passed, in words; ratio: of what is needed to what is allowed."""
    over = _over(ratio)
    if name.startswith("speed"):
        i = int(name[-1])
        cylinder = task.crane.actuator_names[i]
        top = task.crane.cylinders[i].v_max
        needed = format_quantity(ratio * top, "m/s", 3)
        return f"the {cylinder} cylinder would have to move at {needed}, {over} its {format_quantity(top, 'm/s')}"
    if name.startswith("pressure"):
        cylinder = task.crane.actuator_names[int(name[-1])]
        top = task.step.highest
        needed = format_quantity(ratio * top, "Pa")
        return f"the {cylinder} cylinder would need {needed}, {over} the {format_quantity(top, 'Pa')} it is given"
    top, unit = (task.Q_max, "m^3/s") if name == "pump flow" else (task.step.highest, "Pa")
    needed = format_quantity(ratio * top, unit, 3)
    return f"the {name} would be {needed}, {over} {format_quantity(top, unit)}"


def _over(ratio: float) -> str:
    return f"{ratio - 1:.1%} above" if ratio >= 1.0005 else "just above"


def _accelerations(task: Task) -> str:
    """The speed-level plan's worst acceleration."""
    speeds_alone = replace(task, order=1, supply=Speed(), p_max=None)
    plans = attempts(speeds_alone, Search(nodes=261))
    if not plans:
        return "speeds alone leave no motion within the limits from start to end"
    plan = min(plans, key=lambda plan: plan.energy)
    positions, _ = task.pistons(plan.q_3)
    steps = np.diff(positions, axis=1)
    with_rest = np.pad(steps, ((0, 0), (1, 1)))
    jumps = np.abs(np.diff(with_rest, axis=1)) / task.push[:, None]
    i, k = np.unravel_index(int(np.argmax(jumps)), jumps.shape)
    top = task.crane.cylinders[i].a_max
    cylinder = task.crane.actuator_names[i]
    at = format_quantity(float(task.times[k]), "s")
    return (
        f"accelerations leave no motion; a motion of least speed needs {jumps[i, k] * top:.3g} m/s² of the "
        f"{cylinder} cylinder at {at}; {top:g} m/s² are allowed"
    )
