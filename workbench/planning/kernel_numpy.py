"""The recursions of kernel.c in NumPy: all nodes of a stage at once; what runs without a compiler."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.planning.task import BIG

Pair = tuple[np.ndarray, np.ndarray]


class Stage(NamedTuple):
    """One stage of a grid and the next.

    x, x_next    positions (3, n) of the pistons at the nodes
    ok, ok_next  (n,) whether a node is within reach
    C            coefficients of a step, by the sum of its two nodes; None on a grid without
    h            spacing of the nodes, m;  shift: by how much the next stage's first node is further, m
    """

    x: np.ndarray
    x_next: np.ndarray
    ok: np.ndarray
    ok_next: np.ndarray
    C: np.ndarray | None
    h: float
    shift: float

    @staticmethod
    def at(grid, k: int) -> Stage:
        """Stage k of a grid."""
        after = k + 1
        return Stage(
            x=grid.X[k],
            x_next=grid.X[after],
            ok=grid.ok[k] > 0.5,
            ok_next=grid.ok[after] > 0.5,
            C=grid.C[k] if grid.C.shape[1] > 1 else None,
            h=grid.h,
            shift=grid.base[after] - grid.base[k],
        )

    def way(self, moves):
        """How far the extension goes, m, where it moves by so many nodes."""
        return self.shift + self.h * moves

    def offsets(self, reach: float) -> range:
        """By how many nodes a step may move within `reach`."""
        least = (-reach - self.shift) / self.h
        most = (reach - self.shift) / self.h
        lowest = int(np.ceil(least - 1e-9))
        highest = int(np.floor(most + 1e-9))
        return range(lowest, highest + 1)

    def costs(self, sums) -> list:
        """The coefficients of steps whose nodes have these sums; none on a grid without."""
        if self.C is None:
            return []
        return list(self.C[:, sums])


def one(step, grid, last: np.ndarray, reach: float) -> Pair:
    """(J (N+1, n), best (N, n)), one offset after the other; the arguments are those of `Kernel.one`."""
    stages = grid.X.shape[0] - 1
    n = grid.X.shape[2]
    J = np.full((stages + 1, n), BIG)
    best = np.full((stages, n), -1, np.int32)
    J[stages] = last
    for k in range(stages - 1, -1, -1):
        stage = Stage.at(grid, k)
        least, node = _one_stage(step, stage, J[k + 1], reach)
        J[k] = np.where(stage.ok, least, BIG)
        possible = stage.ok & (least < BIG)
        best[k] = np.where(possible, node, -1)
    return J, best


def _one_stage(step, stage: Stage, to_go: np.ndarray, reach: float) -> Pair:
    """(least energy (n,) from every node of a stage on, node of the next stage that it leads to)."""
    n = len(to_go)
    nodes = np.arange(n)
    least = np.full(n, BIG)
    best = np.full(n, -1, np.int32)
    for offset in stage.offsets(reach):
        first = max(0, -offset)
        end = min(n, n - offset)
        if first >= end:
            continue
        here = slice(first, end)
        there = nodes[here] + offset
        speed = np.full(end - first, stage.way(offset) / step.dt)
        costs = stage.costs(nodes[here] + there)
        x = stage.x[:, here]
        x_next = stage.x_next[:, there]
        energy = step.energy(x, x_next, costs, speed, 0.0)
        energy = np.where(stage.ok_next[there], energy, BIG)
        energy = energy + to_go[there]
        better = energy < least[here]
        least[here] = np.where(better, energy, least[here])
        best[here] = np.where(better, there, best[here])
    return least, best


def two(step, grid, last: np.ndarray, reach: float, push: np.ndarray, M: int) -> Pair:
    """(V (N, n, M), best (N, n, M)); the arguments are those of `Kernel.two`.

    Axes of the arrays here: node at k+1, node that a move comes from, node that it goes to.
    """
    stages = grid.X.shape[0] - 1
    n = grid.X.shape[2]
    V = np.full((stages, n, M), BIG)
    best = np.full((stages, n, M), -1, np.int32)
    nodes = np.arange(n)[:, None]
    moves = np.arange(M) - M // 2
    before = nodes - moves
    after = nodes + moves
    origin = np.clip(before, 0, n - 1)
    target = np.clip(after, 0, n - 1)
    for k in range(stages - 1, -1, -1):
        stage = Stage.at(grid, k)
        way = stage.way(moves)
        came = (before == origin) & (np.abs(way) <= reach)
        came = came & stage.ok[origin]
        came = came & stage.ok_next[:, None]
        x = stage.x_next[:, :, None]
        x_0 = stage.x[:, origin]
        if k == stages - 1:
            least, node = _at_rest(x - x_0, push, last)
        else:
            following = Stage.at(grid, k + 1)
            near = np.abs(following.way(moves)) <= reach
            goes = (after == target) & near
            ahead = 2 * x - x_0
            speed = way / step.dt
            least, node = _next(step, following, V[k + 1], goes, target, push, ahead, speed)
        rows, columns = np.nonzero(came)
        begins = origin[rows, columns]
        V[k][begins, columns] = least[rows, columns]
        kept = np.where(least < BIG, node, -1)
        best[k][begins, columns] = kept[rows, columns]
    return V, best


def _at_rest(way, push, last) -> Pair:
    """(least, node) (n, M) of ending with the moves `way` (3, n, M): a last move is so short that `push` brings it to rest."""
    slow = np.abs(way) <= push[:, None, None]
    rests = slow.all(axis=0)
    nodes = np.arange(len(last))
    least = np.where(rests, last[:, None], BIG)
    node = np.where(rests, nodes[:, None], -1)
    return least, node


def _next(step, stage: Stage, V, goes, target, push, ahead, speed_before) -> Pair:
    """(least (n, M), node (n, M)) of going on from the nodes of a stage; `ahead` (3, n, M): where unchanged speeds would lead."""
    M = len(speed_before)
    n = len(target)
    moves = np.arange(M) - M // 2
    speed = stage.way(moves) / step.dt
    x = stage.x[:, :, None, None]
    y = stage.x_next[:, target][:, :, None]
    sums = np.arange(n)[:, None] + target
    costs = [cost[:, None] for cost in stage.costs(sums)]
    change = (speed - speed_before[:, None]) / step.dt
    energy = step.energy(x, y, costs, speed, change)
    possible = goes & stage.ok_next[target]
    energy = np.where(possible[:, None], energy, BIG)
    energy = energy + V[:, None]
    for piston in range(3):
        unchanged = ahead[piston][:, :, None]
        jump = np.abs(y[piston] - unchanged)
        energy = np.where(jump <= push[piston], energy, BIG)
    at = energy.argmin(axis=2)
    least = np.take_along_axis(energy, at[:, :, None], 2)
    least = np.minimum(least[:, :, 0], BIG)
    return least, np.take_along_axis(target, at, 1)
