"""What others do: the best step now, without looking ahead.

    pseudo-inverse    min Σ A v² (or Σ v²) over the steps within joint ranges and speeds: the joint-limited null-space method in
                      actuator space [Flacco12], [Nurmi17] Section 6.1. One redundant joint leaves a parabola over an interval.
    pointwise         min of any supply's power, instant by instant

None would finish where a joint runs into its end, so each takes only steps from which the path can still be walked.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.capabilities import Drivable
from workbench.contract.errors import InputError
from workbench.planning.dynamic import Plan, coefficients, energy, forces, grid
from workbench.planning.kernel import Kernel
from workbench.planning.supplies import Speed, Supply
from workbench.planning.task import BIG, Task

# Extensions that are compared in a step, then once more between the neighbours of the best.
CANDIDATES = 1601


def pointwise(task: Task, supply: Supply, name: str = "", nodes: int = 521) -> Plan:
    """The plan of always taking the step with the least power under `supply`; its energy is the task's own.

    Raises InputError where the path cannot be followed.
    """
    chosen = replace(task, supply=supply, order=1)
    q = _greedy(chosen, _viable(chosen, nodes))
    return Plan(task, q, energy(unhurried(task), q), name or f"pointwise {supply.title}")


def pseudo_inverse(task: Task, weighted: bool = True) -> Plan:
    """The plan of the joint-limited pseudo-inverse, weighted by the areas or not."""
    return pointwise(task, Speed(weighted), f"pseudo-inverse{', weighted' if weighted else ''}")


def _viable(task: Task, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """(extensions (n,), from which the end can be reached within the limits (N+1, n))."""
    from workbench.planning.feasibility import explain

    low, high = task.ranges[2]
    h = (high - low) / (nodes - 1)
    base = np.full(task.steps + 1, low)
    only = {}
    if task.end is not None:
        only[task.steps] = round((task.end - low) / h)
        base[-1] = task.end - h * only[task.steps]
    kind = replace(task, supply=Speed()) if task.step.highest is None else task
    # So that what lies between nodes can be walked, too.
    kind = replace(kind, crane=limited(task.crane, 0.999))
    g = grid(kind, base, h, nodes, only)
    J, _ = Kernel(kind.step, coefficients(kind)).one(
        g, np.where(g.ok[-1] > 0.5, 0.0, BIG), kind.reach * (1 + 1e-12)
    )
    can = J < BIG
    if not can.all(axis=0).any() and not can.any(axis=1).all():
        raise explain(task)
    return g.nodes[0], can


def limited(crane, speed: float, acceleration: float | None = None):
    """The crane with its cylinders' speeds and accelerations limited to these shares (None: the same)."""
    if isinstance(crane, Drivable):
        return replace(crane, planar=limited(crane.planar, speed, acceleration))
    share = speed if acceleration is None else acceleration
    return replace(
        crane,
        cylinders=tuple(
            replace(c, v_max=speed * c.v_max, a_max=share * c.a_max) for c in crane.cylinders
        ),
    )


def unhurried(task: Task, tolerance: float = 0.0) -> Task:
    """The task as baselines keep it: speeds within the limits, accelerations as they come; forces know them."""
    return replace(task, crane=limited(task.crane, 1 + tolerance, 1e9 if task.order == 2 else None))


def _greedy(task: Task, viable) -> np.ndarray:
    from workbench.planning.feasibility import explain

    nodes, can = viable
    q = [task.start]
    for k in range(task.steps if task.end is None else task.steps - 1):
        low = max(nodes[0], q[-1] - task.reach)
        high = min(nodes[-1], q[-1] + task.reach)
        step = None
        for _ in range(3):
            to = np.unique(np.append(np.linspace(low, high, CANDIDATES), np.clip(q[-1], low, high)))
            e = _energies(task, k, q[-1], to)
            # Both nodes beside it.
            e = np.where(np.interp(to, nodes, can[k + 1]) > 1 - 1e-9, e, 2 * BIG)
            i = int(np.argmin(e))
            if e[i] >= BIG:
                break
            step = to[i]
            low = to[max(i - 1, 0)]
            high = to[min(i + 1, len(to) - 1)]
        if step is None:
            error = explain(task)
            raise InputError(
                f"no step within the limits is left at t = {task.times[k]:.4g} s",
                key="path",
                mend=error.mend,
            )
        q.append(float(step))
    return np.array(q if task.end is None else [*q, task.end])


def _energies(task: Task, k: int, at: float, to: np.ndarray) -> np.ndarray:
    """J of the step k from one extension to each of several; BIG where not allowed."""
    X, ok = task.pistons(np.stack([np.full_like(to, at), to]), slice(k, k + 2))
    c = list(forces(task, (at + to)[None, :] / 2, 9, k)[0].T) if task.step.needs_forces else []
    e = task.step.energy(X[:, 0], X[:, 1], c, (to - at) / task.dt, np.zeros_like(to))
    return np.where(ok[1], e, BIG)
