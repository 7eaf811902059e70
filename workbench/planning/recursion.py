"""The recursion over cells that finds a plan of least energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from workbench.planning.dynamic import Grid, Plan, Search, coefficients, energy, grid, unpressed
from workbench.planning.kernel import Kernel
from workbench.planning.task import BIG, Task

WIDEST = 81  # nodes a step may go to with two states: slower paths than this is meant for have no need to go further


def attempts(
    task: Task, search: Search, tell: Callable = lambda fraction, what="": None
) -> list[Plan]:
    """The plans found from several first grids that share no nodes; with speeds alone, from a finer one where these find none.

    What the plans differ by is what the way from a first grid to the finest one decides.
    """
    # Where costs jump, one looks further aside.
    wide = 2 * search.tube - 1 if task.order == 1 and task.supply.needs_forces else search.tube
    ways = [
        (max(2 * search.nodes // 3, 3), 1.3 * search.shrink, wide),
        (search.nodes, search.shrink, search.tube),
    ]
    if task.order == 2:  # few nodes leave few accelerations
        ways.insert(1, (5 * search.nodes // 4, 1.3 * search.shrink, search.tube))
    elif task.supply.creep > 0:  # nodes are at rest, this jump is not
        ways.append((2 * search.nodes, search.shrink, search.tube))
    found = []
    for i, (nodes, shrink, tube) in enumerate(ways):
        way = replace(search, nodes=nodes, shrink=shrink, tube=tube)
        found.append(solved(task, way, tell, i / len(ways)))
    if task.order == 1 and all(plan is None for plan in found):
        found = [solved(task, replace(search, nodes=5 * search.nodes), tell)]
    return [plan for plan in found if plan is not None]


def solved(
    task: Task, search: Search, tell: Callable = lambda fraction, what="": None, done: float = 0.0
) -> Plan | None:
    """The plan found from one first grid, refined; None when it has no feasible motion. Where forces only limit, first without
    them: a motion that passes no limit is then the optimum (its `value` does not know them)."""
    if (light := unpressed(task)) is not None:
        plan = solved(light, search, tell, done)
        if plan is None or energy(task, plan.q_3) < BIG:
            return plan and replace(plan, task=task)
    kernel = Kernel(task.step, coefficients(task))
    low, high = task.ranges[2]
    n = search.nodes
    h = (high - low) / (n - 1)
    base = np.full(task.steps + 1, task.start - h * round((task.start - low) / h))
    only = {0: round((task.start - base[0]) / h)}
    if task.end is not None:
        base[-1] = task.end - h * round((task.end - low) / h)
        only[task.steps] = round((task.end - base[-1]) / h)
    first = grid(task, base, h, n, only)
    tell(0.05 + 0.95 * done, "searching the whole stroke")
    q, value = _one_pass(task, kernel, first, None)
    if q is None:
        return None
    return replace(refined(task, search, q, h), value=value, nodes=first.nodes)


def refined(task: Task, search: Search, q: np.ndarray, h: float) -> Plan:
    """The plan that finer and finer grids around a motion lead to; h: spacing it was found with, m."""
    kernel = Kernel(task.step, coefficients(task))
    history = [(h, energy(task, q))]
    half = (search.tube - 1) // 2
    ends = {0: half} | ({task.steps: half} if task.end is not None else {})
    while h > search.finest:
        h = max(h / search.shrink, search.finest)
        for _ in range(4):
            better, _ = _one_pass(task, kernel, grid(task, q - half * h, h, search.tube, ends), q)
            if better is None or (gain := history[-1][1] - (e := energy(task, better))) <= 0:
                break
            q = better
            history.append((h, e))
            if gain < 1e-6 * e:
                break
    return Plan(task, q, history[-1][1], history=tuple(history))


def _one_pass(task: Task, kernel: Kernel, g: Grid, before) -> tuple:
    """(extensions (N+1,) or None, cost to go (N+1, n)) on one grid."""
    nodes = g.nodes
    reach = task.reach * (1 + 1e-12)
    last = np.where(g.ok[-1] > 0.5, 0.0, BIG)
    if task.order == 1:
        J, best = kernel.one(g, last, reach)
        i = int(np.argmin(np.where(g.ok[0] > 0.5, J[0], 2 * BIG)))
        if J[0, i] >= BIG:
            return None, J
        path = [i]
        for k in range(task.steps):
            path.append(int(best[k, path[-1]]))
        return nodes[np.arange(task.steps + 1), path], J
    return _two_states(task, kernel, g, last, reach)


def _two_states(task: Task, kernel: Kernel, g: Grid, last: np.ndarray, reach: float) -> tuple:
    """As `_one_pass`, with the speeds' changes limited and rest at both ends."""
    nodes = g.nodes
    n = g.X.shape[2]
    M = min(2 * int(reach / g.h) + 1, n if n % 2 else n - 1, WIDEST)
    push = task.push * (1 + 1e-9)
    V, best = kernel.two(g, last, reach, push, M)
    i = int(np.argmax(g.ok[0] > 0.5))
    reached = [
        (m, i + m - M // 2) for m in range(M) if 0 <= i + m - M // 2 < n and V[0, i, m] < BIG
    ]
    reached = [(m, j) for m, j in reached if (np.abs(g.X[1, :, j] - g.X[0, :, i]) <= push).all()]
    if not g.ok[0].any() or not reached:
        return None, V.min(axis=2)
    m, j = (np.array(a) for a in zip(*reached))
    u = (nodes[1, j] - nodes[0, i]) / task.dt
    c = [] if g.C.shape[1] == 1 else list(g.C[0][:, i + j])
    total = V[0, i, m] + task.step.energy(g.X[0, :, i][:, None], g.X[1][:, j], c, u, u / task.dt)
    at = int(np.argmin(total))
    if total[at] >= BIG:
        return None, V.min(axis=2)
    path = [i, int(j[at])]
    for k in range(task.steps - 1):
        path.append(int(best[k, path[-2], path[-1] - path[-2] + M // 2]))
    return nodes[np.arange(task.steps + 1), path], V.min(axis=2)
