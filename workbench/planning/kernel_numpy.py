"""The recursion of kernel.c for one state, in NumPy: all nodes of a stage at once, one offset after the other."""

from __future__ import annotations

import numpy as np

from workbench.planning.task import BIG


def one(step, grid, last: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """(J (N+1, n), best (N, n)); the arguments are those of `Kernel.one`."""
    N, n = grid.X.shape[0] - 1, grid.X.shape[2]
    J, best = np.full((N + 1, n), BIG), np.full((N, n), -1, np.int32)
    J[N] = last
    i = np.arange(n)
    for k in range(N - 1, -1, -1):
        shift = grid.base[k + 1] - grid.base[k]
        least = np.full(n, BIG)
        for o in range(int(np.ceil((-reach - shift) / grid.h - 1e-9)), int(np.floor((reach - shift) / grid.h + 1e-9)) + 1):
            j0, j1 = max(0, -o), min(n, n - o)
            if j0 >= j1:
                continue
            here, there = i[j0:j1], i[j0:j1] + o
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
