"""The recursions of kernel.c in NumPy: all nodes of a stage at once; what runs without a compiler."""

from __future__ import annotations

import numpy as np

from workbench.planning.task import BIG


def one(step, grid, last: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """(J (N+1, n), best (N, n)), one offset after the other; the arguments are those of `Kernel.one`."""
    N = grid.X.shape[0] - 1
    n = grid.X.shape[2]
    J = np.full((N + 1, n), BIG)
    best = np.full((N, n), -1, np.int32)
    J[N] = last
    i = np.arange(n)
    for k in range(N - 1, -1, -1):
        shift = grid.base[k + 1] - grid.base[k]
        least = np.full(n, BIG)
        for o in range(
            int(np.ceil((-reach - shift) / grid.h - 1e-9)),
            int(np.floor((reach - shift) / grid.h + 1e-9)) + 1,
        ):
            j0 = max(0, -o)
            j1 = min(n, n - o)
            if j0 >= j1:
                continue
            here = i[j0:j1]
            there = i[j0:j1] + o
            c = list(grid.C[k][:, here + there]) if grid.C.shape[1] > 1 else []
            u = np.full(len(here), (shift + grid.h * o) / step.dt)
            e = step.energy(grid.X[k][:, here], grid.X[k + 1][:, there], c, u, 0.0)
            e = np.where(grid.ok[k + 1][there] > 0.5, e, BIG) + J[k + 1][there]
            better = e < least[j0:j1]
            least[j0:j1] = np.where(better, e, least[j0:j1])
            best[k][here] = np.where(better, there, best[k][here])
        J[k] = np.where(grid.ok[k] > 0.5, least, BIG)
        best[k] = np.where((grid.ok[k] > 0.5) & (least < BIG), best[k], -1)
    return J, best


def two(
    step, grid, last: np.ndarray, reach: float, push: np.ndarray, M: int
) -> tuple[np.ndarray, np.ndarray]:
    """(V (N, n, M), best (N, n, M)); the arguments are those of `Kernel.two`. Axes here: node at k+1, where from, where to."""
    N = grid.X.shape[0] - 1
    n = grid.X.shape[2]
    V = np.full((N, n, M), BIG)
    best = np.full((N, n, M), -1, np.int32)
    j = np.arange(n)
    m = np.arange(M)
    before = j[:, None] - m + M // 2
    after = j[:, None] + m - M // 2
    i = np.clip(before, 0, n - 1)
    to = np.clip(after, 0, n - 1)
    near = lambda k, move: np.abs(grid.base[k + 1] - grid.base[k] + grid.h * move) <= reach
    for k in range(N - 1, -1, -1):
        came = (
            (before == i)
            & near(k, m - M // 2)
            & (grid.ok[k][i] > 0.5)
            & (grid.ok[k + 1] > 0.5)[:, None]
        )
        x = grid.X[k + 1][:, :, None]
        x_0 = grid.X[k][:, i]
        if k == N - 1:
            rests = (np.abs(x - x_0) <= push[:, None, None]).all(axis=0)
            least = np.where(rests, last[:, None], BIG)
            node = np.where(rests, j[:, None], -1)
        else:
            u_0 = (grid.base[k + 1] - grid.base[k] + grid.h * (m - M // 2)) / step.dt
            least, node = _next(
                step,
                grid,
                V[k + 1],
                k + 1,
                (after == to) & near(k + 1, m - M // 2),
                to,
                push,
                2 * x - x_0,
                u_0,
            )
        rows, columns = np.nonzero(came)
        V[k][i[rows, columns], columns] = least[rows, columns]
        best[k][i[rows, columns], columns] = np.where(least < BIG, node, -1)[rows, columns]
    return V, best


def _next(step, grid, V, k: int, goes, to, push, ahead, u_0):
    """(least (n, M), node (n, M)) of going on from the nodes of stage k; `ahead` (3, n, M): where unchanged speeds would lead."""
    M = len(u_0)
    u = (grid.base[k + 1] - grid.base[k] + grid.h * (np.arange(M) - M // 2)) / step.dt
    y = grid.X[k + 1][:, to]
    c = (
        list(grid.C[k][:, np.arange(len(to))[:, None] + to][:, :, None])
        if grid.C.shape[1] > 1
        else []
    )
    e = step.energy(grid.X[k][:, :, None, None], y[:, :, None], c, u, (u - u_0[:, None]) / step.dt)
    e = np.where((goes & (grid.ok[k + 1][to] > 0.5))[:, None], e, BIG) + V[:, None]
    for c in range(3):
        e = np.where(np.abs(y[c][:, None] - ahead[c][:, :, None]) <= push[c], e, BIG)
    at = e.argmin(axis=2)
    return np.minimum(np.take_along_axis(e, at[:, :, None], 2)[:, :, 0], BIG), np.take_along_axis(
        to, at, 1
    )
