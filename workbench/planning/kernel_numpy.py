"""The recursions of kernel.c in NumPy: all nodes of a stage at once; what runs without a compiler."""

from __future__ import annotations

import numpy as np

from workbench.planning.task import BIG


def one(step, grid, last: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """(J (N+1, n), best (N, n)), one offset after the other; the arguments are those of `Kernel.one`."""
    stages = grid.X.shape[0] - 1
    n = grid.X.shape[2]
    J = np.full((stages + 1, n), BIG)
    best = np.full((stages, n), -1, np.int32)
    J[stages] = last
    nodes = np.arange(n)
    for k in range(stages - 1, -1, -1):
        shift = grid.base[k + 1] - grid.base[k]
        least = np.full(n, BIG)
        for offset in _offsets(grid, shift, reach):
            first = max(0, -offset)
            end = min(n, n - offset)
            if first >= end:
                continue
            here = nodes[first:end]
            there = here + offset
            speed = np.full(len(here), (shift + grid.h * offset) / step.dt)
            costs = _costs(grid, k, here + there)
            energy = step.energy(grid.X[k][:, here], grid.X[k + 1][:, there], costs, speed, 0.0)
            energy = np.where(grid.ok[k + 1][there] > 0.5, energy, BIG) + J[k + 1][there]
            better = energy < least[first:end]
            least[first:end] = np.where(better, energy, least[first:end])
            best[k][here] = np.where(better, there, best[k][here])
        allowed = grid.ok[k] > 0.5
        J[k] = np.where(allowed, least, BIG)
        best[k] = np.where(allowed & (least < BIG), best[k], -1)
    return J, best


def _offsets(grid, shift: float, reach: float) -> range:
    """By how many nodes a step that begins `shift` further may move within `reach`."""
    lowest = int(np.ceil((-reach - shift) / grid.h - 1e-9))
    highest = int(np.floor((reach - shift) / grid.h + 1e-9))
    return range(lowest, highest + 1)


def _costs(grid, k: int, sums) -> list:
    """The grid's coefficients of steps whose nodes have these sums; none on a grid without."""
    return list(grid.C[k][:, sums]) if grid.C.shape[1] > 1 else []


def two(
    step, grid, last: np.ndarray, reach: float, push: np.ndarray, M: int
) -> tuple[np.ndarray, np.ndarray]:
    """(V (N, n, M), best (N, n, M)); the arguments are those of `Kernel.two`.

    Axes of the arrays here: node at k+1, node that a move comes from, node that it goes to.
    """
    stages = grid.X.shape[0] - 1
    n = grid.X.shape[2]
    V = np.full((stages, n, M), BIG)
    best = np.full((stages, n, M), -1, np.int32)
    nodes = np.arange(n)
    moves = np.arange(M) - M // 2
    before = nodes[:, None] - moves
    after = nodes[:, None] + moves
    origin = np.clip(before, 0, n - 1)
    target = np.clip(after, 0, n - 1)
    for k in range(stages - 1, -1, -1):
        came = (before == origin) & _near(grid, k, moves, reach)
        came = came & (grid.ok[k][origin] > 0.5) & (grid.ok[k + 1] > 0.5)[:, None]
        x = grid.X[k + 1][:, :, None]
        x_0 = grid.X[k][:, origin]
        if k == stages - 1:
            rests = (np.abs(x - x_0) <= push[:, None, None]).all(axis=0)
            least = np.where(rests, last[:, None], BIG)
            node = np.where(rests, nodes[:, None], -1)
        else:
            goes = (after == target) & _near(grid, k + 1, moves, reach)
            least, node = _next(
                step,
                grid,
                V[k + 1],
                k + 1,
                goes,
                target,
                push,
                2 * x - x_0,
                _speeds(step, grid, k, moves),
            )
        rows, columns = np.nonzero(came)
        V[k][origin[rows, columns], columns] = least[rows, columns]
        kept = np.where(least < BIG, node, -1)
        best[k][origin[rows, columns], columns] = kept[rows, columns]
    return V, best


def _near(grid, k: int, moves, reach: float):
    """Which moves of stage k are within `reach`."""
    return np.abs(grid.base[k + 1] - grid.base[k] + grid.h * moves) <= reach


def _speeds(step, grid, k: int, moves):
    """Speeds of the moves of stage k."""
    return (grid.base[k + 1] - grid.base[k] + grid.h * moves) / step.dt


def _next(step, grid, V, k: int, goes, target, push, ahead, speed_before):
    """(least (n, M), node (n, M)) of going on from the nodes of stage k; `ahead` (3, n, M): where unchanged speeds would lead."""
    M = len(speed_before)
    n = len(target)
    speed = _speeds(step, grid, k, np.arange(M) - M // 2)
    y = grid.X[k + 1][:, target]
    sums = np.arange(n)[:, None] + target
    costs = [cost[:, None] for cost in _costs(grid, k, sums)]
    change = (speed - speed_before[:, None]) / step.dt
    energy = step.energy(grid.X[k][:, :, None, None], y[:, :, None], costs, speed, change)
    possible = goes & (grid.ok[k + 1][target] > 0.5)
    energy = np.where(possible[:, None], energy, BIG) + V[:, None]
    for piston in range(3):
        jump = np.abs(y[piston][:, None] - ahead[piston][:, :, None])
        energy = np.where(jump <= push[piston], energy, BIG)
    at = energy.argmin(axis=2)
    least = np.take_along_axis(energy, at[:, :, None], 2)[:, :, 0]
    return np.minimum(least, BIG), np.take_along_axis(target, at, 1)
