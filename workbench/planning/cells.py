"""A lower bound for any supply: dynamic programming over cells instead of nodes.

The stroke is cut into cells of width h. Whatever motion goes from cell i to cell j in step k, its pistons' speeds are within δ of
those between the centres, its forces within ε of those at the centres' middle, and so it needs at least

    Q ≥ Σ A_a (v − δ)⁺ + A_b (−v − δ)⁺,    p ≥ the pressure of each cylinder that lifts for all speeds and forces within δ, ε

with η at its best. The cheapest chain of cells is a bound, a loose one: a motion may enter a cell anywhere and leave it from
anywhere else, which wins about 2 N h/(way) of the oil, and cylinders slower than δ lose their pressure. So cells are refined:
those through which no chain cheaper than the plan leads are dropped, the others halved. What a motion may do within a cell is
taken from differences between centres, in floating point: numerical. Maps loosen it by what η varies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from workbench.planning.dynamic import Grid, forces
from workbench.planning.kernel import Kernel
from workbench.planning.supplies import Speed, Work
from workbench.planning.task import BIG, Step, Task

SHARE = 1 + 1e-9  # of a plan's energy that a chain may need and still be kept


@final
@dataclass(frozen=True)
class Below:
    """The least energy of any step between two cells, J.

    c: coefficients a, b, c of the forces, slack ε of the forces, slack δ of the speeds, three each.
    """

    step: Step
    back: float = 0.0
    creep: float = 0.0
    way: float = 1.0  # −1: x_0 is where the step ends

    @property
    def dt(self):
        return self.step.dt

    def energy(self, x_0, x_1, c, u, w):
        """BIG where every step passes a limit."""
        step = self.step
        v = [self.way * (b - a) / step.dt for a, b in zip(x_0, x_1)]
        F, ε, δ = self._forces(c, self.way * u)
        speeds = out, into = _least(v, δ)
        Q = [A_a * o + A_b * i for o, i, (A_a, A_b) in zip(out, into, step.areas)]
        power = self._power(v, δ, speeds, _least(F, ε), Q)
        allowed = 1.0
        for o, i, top in zip(out, into, step.v_max):
            allowed = np.where(np.maximum(o, i) > top * SHARE, 0.0, allowed)
        if step.Q_max is not None:
            allowed = np.where(sum(Q) > step.Q_max * SHARE, 0.0, allowed)
        return np.where(allowed > 0, power * step.dt, BIG)

    def _forces(self, c, u):
        """Forces of the cylinders at the speed u of the extension, their ε, and the δ of the speeds."""
        if not self.step.supply.needs_forces:
            return [0.0] * 3, [0.0] * 3, c[0:3]
        coefficients = (c[0:3], c[3:6], c[6:9])
        F = [a + u * (b + u * curved) for a, b, curved in coefficients]
        return F, c[9:12], c[12:15]

    def _power(self, v, δ, speeds, forces, Q):
        """Least power of the step, W; speeds, forces: the least out and in, that push and pull; Q: least flows."""
        supply = self.step.supply
        areas = self.step.areas
        out, into = speeds
        push, pull = forces
        if isinstance(supply, Work):
            both = zip([*push, *pull], [*out, *into])
            return sum(f * s for f, s in both)
        if isinstance(supply, Speed):
            weights = areas if supply.weighted else [(1.0, 1.0)] * len(areas)
            weighted = zip(out, into, weights)
            return sum(a * o * o + b * i * i for o, i, (a, b) in weighted)
        pressures = []
        for f, g, s, d, (A_a, A_b) in zip(push, pull, v, δ, areas):
            lifts = np.minimum(f, s - d + self.creep) > 0
            pulls = np.minimum(g, self.creep - s - d) > 0
            by_a = np.where(lifts, (f + self.back * A_b) / A_a, 0.0)
            by_b = np.where(pulls, (g + self.back * A_a) / A_b, 0.0)
            pressures.append(by_a + by_b)
        return supply.drawn(pressures, Q)


def _least(values, off):
    """The least that values within `off` of these are upwards, and downwards: never below zero."""
    upwards = [np.maximum(1 * v - e, 0.0) for v, e in zip(values, off)]
    downwards = [np.maximum(-1 * v - e, 0.0) for v, e in zip(values, off)]
    return upwards, downwards


def cell_bound(task: Task, energy: float, cells: int = 261, finest: int = 2081) -> float:
    """J that no motion undercuts; energy: that of a plan, cells: at first over the stroke, halved until there are `finest`."""
    supply = task.supply
    if supply.map is not None:
        best = max(max(row) for row in supply.map.rows)
        supply = replace(supply, η=best, map=None)
    step = replace(task.step, supply=supply)
    below = Below(step, supply.back, supply.creep)
    low, high = task.ranges[2]
    n = cells
    keep = None
    bound = 0.0
    while n <= finest:
        h = (high - low) / (n - 1)
        grid = _grid(task, n, h, keep)
        forth = _run(below, grid, task, 1.0)
        back = _run(below, grid, task, -1.0)
        cheapest = float(forth[0].min())
        bound = max(bound, min(cheapest, energy))
        through = forth + back[::-1]
        alive = (through <= energy * SHARE) & (grid.ok > 0.5)
        centres = grid.base[0] + h * np.arange(n)
        keep = (centres, _with_neighbours(alive))
        n = 2 * n - 1
    return bound


def _with_neighbours(cells: np.ndarray) -> np.ndarray:
    """These cells and those beside them."""
    left = np.roll(cells, 1, 1)
    right = np.roll(cells, -1, 1)
    return cells | left | right


def _run(below: Below, grid: Grid, task: Task, way: float) -> np.ndarray:
    """(N+1, n) least energy to the end from every cell; way −1: to the start, last stage first."""
    if way < 0:
        forwards = (grid.base, grid.X, grid.ok, grid.C)
        backwards = [np.ascontiguousarray(a[::-1]) for a in forwards]
        grid = Grid(grid.h, *backwards)
    last = np.where(grid.ok[-1] > 0.5, 0.0, BIG)
    kernel = Kernel(replace(below, way=way), grid.C.shape[1])
    J, _ = kernel.one(grid, last, task.reach + grid.h)
    return J


def _grid(task: Task, n: int, h: float, keep) -> Grid:
    """The grid of n cells of width h; keep: (centres of an earlier grid, which of them may be kept), or None."""
    low = task.ranges[2][0]
    N = task.steps
    whole = round((task.start - low) / h)
    base = np.full(N + 1, task.start - h * whole)
    q = base[:, None] + h * np.arange(n)
    X, ok = task.pistons(q)
    ok = _with_neighbours(ok)
    if keep is not None:
        before, wide = keep
        place = (q[0] - before[0]) / (before[1] - before[0])
        whole = np.rint(place).astype(int)
        nearest = np.clip(whole, 0, len(before) - 1)
        ok &= wide[:, nearest]
    for k, at in ((0, task.start), (N, task.end)):
        if at is not None:
            ok[k] &= np.abs(q[k] - at) <= 0.51 * h
    by_stage = np.ascontiguousarray(X.transpose(1, 0, 2))
    columns = _columns(task, X, ok, base, n, h)
    return Grid(h, base, by_stage, ok.astype(float), columns)


def _columns(task: Task, X, ok, base, n: int, h: float) -> np.ndarray:
    """(N, 15 or 3, 2n−1): force coefficients, ε, δ at the middles."""
    from scipy.ndimage import maximum_filter1d

    cells = int(np.ceil((task.reach + h) / h / 2))
    near = 2 * cells + 3  # cells on either side of a middle
    many = 2 * n - 1
    most = np.where(ok, _beside(X) / 2, 0.0)  # where no motion is, pistons may jump
    most = maximum_filter1d(most, near, axis=2)
    slack = (most[:, :-1] + most[:, 1:]) / task.dt
    both = np.repeat(slack, 2, axis=2)
    δ = both[:, :, :many].transpose(1, 0, 2)
    if not task.supply.needs_forces:
        return np.ascontiguousarray(δ)
    k = 3 if task.order == 1 else 4
    middles = base[:-1, None] + h / 2 * np.arange(many)
    C = forces(task, middles, 3 * k).transpose(0, 2, 1)
    U = (task.reach + h) / task.dt
    moved = _beside(C)
    a, b, c = (C[:, i::k] for i in range(3))
    Δa, Δb, Δc = (moved[:, i::k] for i in range(3))
    steepest = np.abs(b) + Δb + 2 * U * (np.abs(c) + Δc)
    ε = Δa + U * Δb + U * U * Δc + steepest * h / task.dt
    if k == 4:  # any acceleration that is allowed
        inertia = np.abs(C[:, 3::4]) + moved[:, 3::4]
        ε = ε + inertia * task.crane.cylinders[2].a_max
    pistons = range(3)
    of_forces = np.stack([e[:, i] for i in pistons for e in (a, b, c)], 1)
    columns = np.concatenate([of_forces, ε, δ], 1)
    return np.ascontiguousarray(columns)


def _beside(values: np.ndarray) -> np.ndarray:
    """Largest difference to the neighbours along the last axis."""
    first = values[:, :, :1]
    last = values[:, :, -1:]
    step = np.abs(np.diff(values, axis=2, prepend=first, append=last))
    after = step[:, :, 1:]
    before = step[:, :, :-1]
    return np.maximum(after, before)
