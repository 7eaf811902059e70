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
    ways = _first_grids(task, search)
    found = []
    for i, way in enumerate(ways):
        found.append(solved(task, way, tell, i / len(ways)))
    if task.order == 1 and all(plan is None for plan in found):
        finer = replace(search, nodes=5 * search.nodes)
        found = [solved(task, finer, tell)]
    return [plan for plan in found if plan is not None]


def _first_grids(task: Task, search: Search) -> list[Search]:
    """Searches that share no nodes: a coarse first grid and one as asked, with a third where the task needs one."""
    slow = 1.3 * search.shrink
    jumps = task.order == 1 and task.supply.needs_forces
    # Where costs jump, one looks further aside.
    wide = 2 * search.tube - 1 if jumps else search.tube
    few = max(2 * search.nodes // 3, 3)
    ways = [replace(search, nodes=few, shrink=slow, tube=wide), search]
    if task.order == 2:  # few nodes leave few accelerations
        more = 5 * search.nodes // 4
        ways.insert(1, replace(search, nodes=more, shrink=slow))
    elif task.supply.creep > 0:  # nodes are at rest, this jump is not
        ways.append(replace(search, nodes=2 * search.nodes))
    return ways


def solved(
    task: Task, search: Search, tell: Callable = lambda fraction, what="": None, done: float = 0.0
) -> Plan | None:
    """The plan found from one first grid, refined; None when it has no feasible motion. Where forces only limit, first without
    them: a motion that passes no limit is then the optimum (its `value` does not know them)."""
    light = unpressed(task)
    if light is not None:
        plan = solved(light, search, tell, done)
        if plan is None or energy(task, plan.q_3) < BIG:
            return plan and replace(plan, task=task)
    kernel = Kernel(task.step, coefficients(task))
    low, high = task.ranges[2]
    n = search.nodes
    h = (high - low) / (n - 1)

    def lowest(q_3: float) -> float:
        """The lowest node of a stage that has a node at q_3."""
        return q_3 - h * round((q_3 - low) / h)

    base = np.full(task.steps + 1, lowest(task.start))
    only = {0: round((task.start - base[0]) / h)}
    if task.end is not None:
        base[-1] = lowest(task.end)
        only[task.steps] = round((task.end - base[-1]) / h)
    first = grid(task, base, h, n, only)
    tell(0.05 + 0.95 * done, "searching the whole stroke")
    q, value = _one_pass(task, kernel, first, None)
    if q is None:
        return None
    plan = refined(task, search, q, h)
    return replace(plan, value=value, nodes=first.nodes)


def refined(task: Task, search: Search, q: np.ndarray, h: float) -> Plan:
    """The plan that finer and finer grids around a motion lead to; h: spacing it was found with, m."""
    kernel = Kernel(task.step, coefficients(task))
    least = energy(task, q)
    history = [(h, least)]
    half = (search.tube - 1) // 2
    ends = {0: half}
    if task.end is not None:
        ends[task.steps] = half
    while h > search.finest:
        h = max(h / search.shrink, search.finest)
        for _ in range(4):
            around = grid(task, q - half * h, h, search.tube, ends)
            better, _ = _one_pass(task, kernel, around, q)
            if better is None:
                break
            found = energy(task, better)
            gain = least - found
            if gain <= 0:
                break
            q = better
            least = found
            history.append((h, least))
            if gain < 1e-6 * least:
                break
    return Plan(task, q, least, history=tuple(history))


def _one_pass(task: Task, kernel: Kernel, g: Grid, before) -> tuple:
    """(extensions (N+1,) or None, cost to go (N+1, n)) on one grid."""
    nodes = g.nodes
    reach = task.reach * (1 + 1e-12)
    last = np.where(g.ok[-1] > 0.5, 0.0, BIG)
    if task.order == 1:
        J, best = kernel.one(g, last, reach)
        begins = np.where(g.ok[0] > 0.5, J[0], 2 * BIG)
        node = int(np.argmin(begins))
        if J[0, node] >= BIG:
            return None, J
        path = [node]
        for k in range(task.steps):
            node = int(best[k, node])
            path.append(node)
        stages = np.arange(task.steps + 1)
        return nodes[stages, path], J
    return _two_states(task, kernel, g, last, reach)


def _two_states(task: Task, kernel: Kernel, g: Grid, last: np.ndarray, reach: float) -> tuple:
    """As `_one_pass`, with the speeds' changes limited and rest at both ends."""
    nodes = g.nodes
    n = g.X.shape[2]
    odd = n if n % 2 else n - 1
    M = min(2 * int(reach / g.h) + 1, odd, WIDEST)
    push = task.push * (1 + 1e-9)
    V, best = kernel.two(g, last, reach, push, M)
    value = V.min(axis=2)
    i = int(np.argmax(g.ok[0] > 0.5))
    x = g.X[0, :, i]
    m = np.array(_from_rest(g, V[0, i], i, push), int)
    if not g.ok[0].any() or not len(m):
        return None, value
    j = i + m - M // 2
    u = (nodes[1, j] - nodes[0, i]) / task.dt
    c = [] if g.C.shape[1] == 1 else list(g.C[0][:, i + j])
    first = task.step.energy(x[:, None], g.X[1][:, j], c, u, u / task.dt)
    total = V[0, i, m] + first
    at = int(np.argmin(total))
    if total[at] >= BIG:
        return None, value
    before = i
    node = int(j[at])
    path = [before, node]
    for k in range(task.steps - 1):
        move = node - before + M // 2
        before, node = node, int(best[k, before, move])
        path.append(node)
    stages = np.arange(task.steps + 1)
    return nodes[stages, path], value


def _from_rest(g: Grid, to_go: np.ndarray, i: int, push: np.ndarray) -> list[int]:
    """Moves out of node i that can be made from rest and from which a motion goes on; to_go (M,): its cost."""
    M = len(to_go)
    n = g.X.shape[2]
    found = []
    for m in range(M):
        j = i + m - M // 2
        if not 0 <= j < n or to_go[m] >= BIG:
            continue
        jump = np.abs(g.X[1, :, j] - g.X[0, :, i])
        if (jump <= push).all():
            found.append(m)
    return found
