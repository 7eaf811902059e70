"""Dynamic programming on the extension of a planar crane.

A coarse grid over the whole stroke finds the valley: every move from node to node is a feasible motion, its energy exact for
the discretised task. Then the grid moves onto the path found and shrinks, stage by stage its own interval, so that the
next values are no rounder than the first were far away; the energy never rises. The value reported is that of a motion that can
be driven, never an interpolated one.

Source: [Bellman57]; [Nurmi17] Section 4, eqs (18)–(26).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, NamedTuple, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import Unit, positive, up_to
from workbench.planning.kernel import force_table
from workbench.planning.task import BIG, Task


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
    """Resolution of the search.

    nodes     number of nodes of the first grid, over the stroke
    finest    spacing at which refinement ends, m
    tube      number of nodes of a refined grid, around the path found before; odd
    shrink    factor on the spacing from one refinement to the next
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
        v = self.signals["v"]
        F = self.signals["F"]
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
    """The task without the forces of the loads, where the power does not depend on them; else None."""
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
    """Along a path of extensions: v [m/s], F [N] (N, 3), Q [m³/s], p [Pa], P [W], E [J] (N,) of each step; x [m], q (N+1, 3)."""
    from workbench.planning.pressures import flows

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
