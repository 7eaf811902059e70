"""Dynamic programming on the extension of a planar crane.

A coarse grid over the whole stroke finds the valley: every move from node to node is a feasible motion, its energy exact for
the discretised task. Then the grid moves onto the path found and shrinks, stage by stage its own interval, so that the
next values are no rounder than the first were far away; the energy never rises. The value reported is that of a motion that can
be driven, never an interpolated one.

Source: [Bellman57]; [Nurmi17] Section 4, eqs (18)–(26).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, NamedTuple, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, positive, up_to
from workbench.planning.kernel import Kernel, force_table
from workbench.planning.task import BIG, Task

COVERS, FLOOR = (
    2.0,
    2e-4,
)  # times what grids and refinements differ by; share of the energy: see `optimise`
WIDEST = 81  # nodes a step may go to with two states: slower paths than this is meant for have no need to go further


class Grid(NamedTuple):
    """Nodes q = base[k] + h i with their tables; see kernel.c."""

    h: float
    base: np.ndarray
    X: np.ndarray
    ok: np.ndarray
    C: np.ndarray

    @property
    def nodes(self) -> np.ndarray:
        """(N+1, n) extensions."""
        return self.base[:, None] + self.h * np.arange(self.X.shape[2])


@final
@dataclass(frozen=True)
class Search:
    """How finely to look.

    nodes     of the grid over the stroke
    finest    m, spacing at which refinement ends
    tube      nodes of the grid around the path found, odd
    shrink    by how much the spacing falls from one refinement to the next
    """

    nodes: Annotated[int, Unit("1"), "nodes of the grid", up_to(50_000, 3)] = 417
    finest: Annotated[float, Unit("m"), "spacing at which refinement ends", positive] = 2e-6
    tube: Annotated[int, Unit("1"), "nodes of a refined grid", up_to(5_001, 5)] = 65
    shrink: float = 2.5

    def __post_init__(self):
        if (
            self.nodes < 3
            or self.tube < 5
            or self.tube % 2 == 0
            or not self.shrink > 1
            or not self.finest > 0
        ):
            raise InputError(
                f"search: {self}", mend="nodes ≥ 3, tube odd and ≥ 5, shrink > 1, finest > 0"
            )
        if self.nodes > 50_000 or self.tube > 5_001 or self.shrink < 1.05 or self.finest < 1e-9:
            raise InputError(
                f"search: {self} would not end",
                mend="nodes ≤ 50000, tube ≤ 5001, shrink ≥ 1.05, finest ≥ 1e-9 m",
            )


SEARCH = Search()


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """A motion of the crane along its path.

    q_3       (N+1,) extension at the nodes, m
    energy    J (whatever the supply counts)
    history   (spacing, energy) after every grid
    estimate  J, how much lower the optimum of the discretised task may be, by the grids' own convergence; None: not known
    value     (N+1, n) cost to go on the first grid, J, BIG where none; `nodes` (N+1, n)
    """

    task: Task
    q_3: np.ndarray
    energy: float
    name: str = "dynamic programming"
    history: tuple = ()
    estimate: float | None = None
    value: np.ndarray | None = None
    nodes: np.ndarray | None = None

    @cached_property
    def signals(self) -> dict[str, np.ndarray]:
        """What happens in every step, see `motion`."""
        return motion(self.task, self.q_3)

    def creeping(self, speed: float = 2e-3) -> int:
        """Steps in which a cylinder creeps, |v| < speed, on the side where its load drives it, while another moves faster.

        There (33), (34) leave its pressure out: a real pump may have to hold it.
        """
        v, F = self.signals["v"], self.signals["F"]
        hidden = (
            (np.abs(v) < speed)
            & (F * v <= 0)
            & (np.abs(F) / np.array(self.task.step.A_a) > self.signals["p"][:, None])
        )
        return int((hidden.any(axis=1) & (np.abs(v).max(axis=1) > speed)).sum())


def coefficients(task: Task) -> int:
    """How many numbers the force tables hold."""
    return (9 if task.order == 1 else 12) if task.step.needs_forces else 0


def unpressed(task: Task) -> Task | None:
    """The same with loads not asked, where the power does not depend on them; None where there is no such difference."""
    asked = task.step.needs_forces and not task.supply.needs_forces
    return replace(task, supply=replace(task.supply, holds=False)) if asked else None


def grid(task: Task, base: np.ndarray, h: float, n: int, only: dict[int, int]) -> Grid:
    """Tables of a grid; `only`: stage → the single node allowed there."""
    X, ok = task.pistons(base[:, None] + h * np.arange(n))
    ok = ok.astype(float)
    for k, i in only.items():
        keep = ok[k, i]
        ok[k] = 0.0
        ok[k, i] = keep
    c = coefficients(task)
    C = np.zeros((1, 1, 1))
    if c:
        middle = (base[:-1] + base[1:])[:, None] / 2 + h / 2 * np.arange(2 * n - 1)
        C = np.ascontiguousarray(forces(task, middle, c).transpose(0, 2, 1))
    return Grid(
        h,
        np.ascontiguousarray(base),
        np.ascontiguousarray(X.transpose(1, 0, 2)),
        np.ascontiguousarray(ok),
        C,
    )


def forces(task: Task, middle: np.ndarray, c: int, first: int = 0) -> np.ndarray:
    """(N, m, c) coefficients at the extensions `middle` (N, m) in the middle of N steps from the first."""
    N, m = middle.shape
    rows = np.empty((N, m, 7))
    rows[:, :, :6] = task.middles[:, first : first + N].transpose(1, 0, 2).reshape(N, 1, 6)
    rows[:, :, 6] = middle
    return force_table(task.crane, c)(rows.reshape(-1, 7)).reshape(N, m, c)


def parts(task: Task, q_3: np.ndarray) -> tuple:
    """What `Step` takes for a path of extensions (N+1,): x_0, x_1 (3, N), c, u, w (N,)."""
    X, _ = task.pistons(np.asarray(q_3, float))
    u = np.diff(q_3) / task.dt
    w = np.diff(u, prepend=0.0) / task.dt if task.order == 2 else np.zeros_like(u)
    n = coefficients(task)
    c = forces(task, (q_3[:-1] + q_3[1:])[:, None] / 2, n)[:, 0].T if n else []
    return X[:, :-1], X[:, 1:], list(c), u, w


def motion(task: Task, q_3: np.ndarray) -> dict[str, np.ndarray]:
    """v, F (N, 3), Q, p, P, E (N,) in every step of a path of extensions, x (N+1, 3), q (N+1, 3)."""
    from workbench.planning.supplies import flows

    told = task if task.supply.needs_forces else replace(task, supply=_weighed(task.supply))
    given = parts(told, q_3)
    v, F = told.step.motion(*given)
    power = task.step.power(*given)
    X, _ = task.pistons(q_3)
    q = np.stack(
        np.broadcast_arrays(*task.crane.joints([task.tips[:, 0], task.tips[:, 1]], q_3)), axis=1
    )
    return {
        "v": np.stack(v, 1),
        "F": np.stack(F, 1),
        "Q": sum(flows(v, task.step.areas)),
        "P": power,
        "p": task.supply.pressure(v, F, task.step.areas) + np.zeros(len(power)),
        "E": power * task.dt,
        "x": X.T,
        "q": q,
    }


def _weighed(supply):
    """A supply that asks for the forces, for looking at a path that was planned without them."""
    from workbench.planning.supplies import Work

    return Work()


def energy(task: Task, q_3: np.ndarray) -> float:
    """J of a path of extensions; BIG or more when a step is not allowed."""
    given = parts(task, q_3)
    _, allowed = task.pistons(np.asarray(q_3, float))
    total = float(task.step.energy(*given).sum())
    if task.order == 2:
        steps = np.diff(task.pistons(q_3)[0], axis=1, prepend=np.nan, append=np.nan)
        steps[:, 0] = steps[:, -1] = 0.0
        if (np.abs(np.diff(steps, axis=1)) > task.push[:, None] * (1 + 1e-9)).any():
            total += BIG
    return total if allowed.all() else total + BIG


def optimise(
    task: Task, search: Search = SEARCH, tell: Callable = lambda fraction, what="": None
) -> Plan:
    """The optimal motion. Raises InputError saying where, which limit and by how much when there is none.

    The estimate is twice the larger of two: what refinement won since its grid was three times as coarse (the error falls with
    the spacing, so half of that may be left), and by how much the paths found from two first grids, refined differently, differ.
    Twice, and where costs jump not below FLOOR, because two ways down may miss the same: benchmarks/planning_estimate.py sets
    it beside much finer searches.
    """
    from workbench.planning.feasibility import explain, shortest

    # Ways down that share no grid: what they differ by is what the way decides. Where costs jump, one looks further aside.
    wide = 2 * search.tube - 1 if task.order == 1 and task.supply.needs_forces else search.tube
    ways = [
        (max(2 * search.nodes // 3, 3), 1.3 * search.shrink, wide),
        (search.nodes, search.shrink, search.tube),
    ]
    if task.order == 2:  # few nodes leave few accelerations
        ways.insert(1, (5 * search.nodes // 4, 1.3 * search.shrink, search.tube))
    elif task.supply.creep > 0:  # nodes are at rest, this jump is not
        ways.append((2 * search.nodes, search.shrink, search.tube))
    finer = lambda way: replace(search, nodes=way[0], shrink=way[1], tube=way[2])
    tried = (solved(task, finer(way), tell, i / len(ways)) for i, way in enumerate(ways))
    found = [plan for plan in tried if plan is not None]
    if not found and task.order == 1:
        found = [
            plan
            for plan in [solved(task, replace(search, nodes=5 * search.nodes), tell)]
            if plan is not None
        ]
    known = (
        None if found or task.order == 1 else shortest(task)
    )  # grids accelerate by whole nodes: a program knows no nodes
    if known is not None and known.seconds <= task.path.duration:
        found = [_refined(task, search, known.q_3, task.crane.cylinders[2].stroke / search.nodes)]
    if not found:
        raise explain(task, known)
    best = min(found, key=lambda p: p.energy)
    doubt = abs(min(p.energy for p in found[:-1]) - found[-1].energy) if len(found) > 1 else None
    coarser = [e for h, e in best.history if h >= 3 * best.history[-1][0]]
    won = (
        coarser[-1] if coarser else best.history[0][1]
    ) - best.energy  # finer grids were tried down to `finest`
    least = FLOOR * best.energy if task.supply.needs_forces else 0.0
    estimate = None if doubt is None else max(COVERS * max(doubt, won), least)
    return replace(best, estimate=estimate, value=found[-1].value, nodes=found[-1].nodes)


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
    return replace(_refined(task, search, q, h), value=value, nodes=first.nodes)


def _refined(task: Task, search: Search, q: np.ndarray, h: float) -> Plan:
    """The plan that finer and finer grids around a motion lead to; h: spacing it was found with, m."""
    kernel, history = Kernel(task.step, coefficients(task)), [(h, energy(task, q))]
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
    nodes, reach = g.nodes, task.reach * (1 + 1e-12)
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
    nodes, n = g.nodes, g.X.shape[2]
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
