"""A lower bound of the energy that any motion needs; of oil, a linear program that every motion satisfies.

Over the extensions that are possible at stage k, each piston's position x = f_k(q_3) lies between lines of several slopes that
its graph does not cross: support lines of samples, moved out by what the graph may do between two of them (largest second
difference, doubled). With s ≥ A_a Δx, s ≥ −A_b Δx the least Σ s is a bound, the minimum of a convex relaxation.

What is returned is not the solver's value but the dual one, formed anew from its multipliers: any multipliers give a bound.
Floating point and sampled curvature: numerical.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.planning.cells import cell_bound
from workbench.planning.supplies import PlannedConstantPressure
from workbench.planning.task import BIG, Task

SAMPLES = 201
SLOPES = 7


@final
@dataclass(frozen=True)
class Bound:
    """No motion of the discretised task needs less than `energy` (J); `method` says from where."""

    energy: float
    method: str = "linear relaxation"


def relaxes(supply) -> bool:
    """Whether the linear program gives a lower bound of the energy that this supply needs."""
    return isinstance(supply, PlannedConstantPressure) and supply.map is None


def lower_bound(task: Task, energy: float = BIG / 2, cells: int = 2081) -> Bound:
    """The bound: for oil without a map the relaxation (2 % below the optimum of a triangle in 30 s), else that of
    `workbench.planning.cells` (4 to 7 % below with 2081 `cells` over the stroke). energy: that of a plan, J; with it cells are
    searched many times as fast.
    """
    if not relaxes(task.supply):
        return Bound(cell_bound(task, energy, finest=cells), "cells")
    oil = replace(task, supply=PlannedConstantPressure(1.0, holds=False))
    scale = task.supply.p_s / task.supply.η
    low, high = _ranges(oil)
    value = _solve(oil, low, high)
    return Bound(scale * value)


def _ranges(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Extensions that joints, speed and the ends leave at every stage (N+1,), outward by one sample."""
    q3 = np.linspace(*task.ranges[2], 1041)
    ok = task.pistons(np.broadcast_to(q3, (task.steps + 1, q3.size)))[1]
    if not ok.any(axis=1).all():
        raise InputError(
            "a part of the path is out of reach", key="path", mend="plan first: it says where"
        )
    h = q3[1] - q3[0]
    low = np.maximum(q3[ok.argmax(axis=1)] - h, q3[0])
    high = np.minimum(q3[q3.size - 1 - ok[:, ::-1].argmax(axis=1)] + h, q3[-1])
    low[0] = high[0] = task.start
    if task.end is not None:
        low[-1] = high[-1] = task.end
    for k in (*range(1, task.steps + 1), *range(task.steps - 1, -1, -1)):
        for other in (k - 1, k + 1):
            if 0 <= other <= task.steps:
                low[k], high[k] = (
                    max(low[k], low[other] - task.reach),
                    min(high[k], high[other] + task.reach),
                )
    return low, high


def _lines(task: Task, low: np.ndarray, high: np.ndarray):
    """slopes (N+1, 2, S), below and above (N+1, 2, S): below ≤ x − slope q ≤ above for lift and tilt."""
    s = np.linspace(0, 1, SAMPLES)
    q = low[:, None] + (high - low)[:, None] * s
    inside = np.clip(q, *task.ranges[2])
    X = task.pistons(inside)[0][:2].transpose(1, 0, 2)
    h = (high - low)[:, None, None] / (SAMPLES - 1)
    first = np.diff(X, axis=2) / np.maximum(h, 1e-12)
    second = np.abs(np.diff(first, axis=2)) / np.maximum(h, 1e-12)
    slack = 2 * second.max(axis=2) * h[:, :, 0] ** 2 / 8 + 1e-12
    share = np.linspace(0, 1, SLOPES)
    slopes = first.min(axis=2)[..., None] * (1 - share) + first.max(axis=2)[..., None] * share
    rest = X[:, :, None, :] - slopes[..., None] * q[:, None, None, :]
    return slopes, rest.min(axis=3) - slack[..., None], rest.max(axis=3) + slack[..., None]


def _solve(task: Task, low: np.ndarray, high: np.ndarray) -> float:
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    N = task.steps
    step = task.step
    slopes, below, above = _lines(task, low, high)
    n_q = N + 1
    at_x = lambda k, c: n_q + 2 * k + c
    at_s = lambda k, c: 3 * n_q + 3 * k + c
    n = 3 * n_q + 3 * N
    rows = []
    cols = []
    vals = []
    b = []

    def add(pairs, right):
        for col, val in pairs:
            rows.append(len(b))
            cols.append(col)
            vals.append(val)
        b.append(right)

    for k in range(n_q):
        for c in range(2):
            for a, under, over in zip(slopes[k, c], below[k, c], above[k, c]):
                add([(at_x(k, c), 1.0), (k, -a)], over)
                add([(at_x(k, c), -1.0), (k, a)], -under)
    for k in range(N):
        for c in range(3):
            now, then = (k, k + 1) if c == 2 else (at_x(k, c), at_x(k + 1, c))
            add([(then, step.A_a[c] * 1e3), (now, -step.A_a[c] * 1e3), (at_s(k, c), -1.0)], 0.0)
            add([(then, -step.A_b[c] * 1e3), (now, step.A_b[c] * 1e3), (at_s(k, c), -1.0)], 0.0)
            add([(then, 1.0), (now, -1.0)], step.v_max[c] * task.dt)
            add([(then, -1.0), (now, 1.0)], step.v_max[c] * task.dt)
    strokes = [c.stroke for c in task.crane.cylinders]
    most = [1e3 * max(step.A_a[c], step.A_b[c]) * step.v_max[c] * task.dt for c in range(3)]
    lower = np.concatenate([low, np.zeros(2 * n_q), np.zeros(3 * N)])
    upper = np.concatenate([high, np.tile(strokes[:2], n_q), np.tile(most, N)])
    cost = np.concatenate([np.zeros(3 * n_q), np.ones(3 * N)])
    A = coo_matrix((vals, (rows, cols)), (len(b), n)).tocsr()
    b = np.array(b)
    made = linprog(cost, A_ub=A, b_ub=b, bounds=np.column_stack([lower, upper]), method="highs")
    if made.status != 0:
        raise InputError(
            f"the relaxation was not solved: {made.message}", mend="plan first: it says why"
        )
    y = np.minimum(made.ineqlin.marginals, 0.0)
    rest = cost - A.T @ y
    # Not b @ y: how a long product is added up depends on how many threads linear algebra has.
    return 1e-3 * float((b * y).sum() + np.minimum(rest * lower, rest * upper).sum())
