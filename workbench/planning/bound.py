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
LITRES = 1e3  # in a cubic metre: what the program counts oil in


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


class _Program:
    """min cᵀz, A z ≤ b, with z the extensions (N+1), the pistons of lift and tilt in them (N+1, 2) and the oil of all (N, 3)."""

    def __init__(self, task: Task, low: np.ndarray, high: np.ndarray) -> None:
        self.task, self.low, self.high = task, low, high
        self.nodes = task.steps + 1
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.right: list[float] = []

    def piston(self, k: int, c: int) -> int:
        """Where the position of cylinder c at stage k stands: that of the extension is the extension itself."""
        return k if c == 2 else self.nodes + 2 * k + c

    def oil(self, k: int, c: int) -> int:
        """Where the oil of cylinder c in step k stands, l."""
        return 3 * self.nodes + 3 * k + c

    def add(self, terms: list[tuple[int, float]], right: float) -> None:
        """A row: Σ value z_column ≤ right."""
        for column, value in terms:
            self.rows.append(len(self.right))
            self.columns.append(column)
            self.values.append(value)
        self.right.append(right)

    def between_lines(self) -> None:
        """Pistons stay between the lines that their graphs do not cross."""
        slopes, below, above = _lines(self.task, self.low, self.high)
        for k in range(self.nodes):
            for c in range(2):
                x = self.piston(k, c)
                for slope, under, over in zip(slopes[k, c], below[k, c], above[k, c]):
                    self.add([(x, 1.0), (k, -slope)], over)
                    self.add([(x, -1.0), (k, slope)], -under)

    def moving(self) -> None:
        """s ≥ A_a Δx, s ≥ −A_b Δx, and no piston is faster than it may be."""
        step = self.task.step
        dt = self.task.dt
        for k in range(self.task.steps):
            for c in range(3):
                now = self.piston(k, c)
                then = self.piston(k + 1, c)
                oil = self.oil(k, c)
                A_a = LITRES * step.A_a[c]
                A_b = LITRES * step.A_b[c]
                self.add([(then, A_a), (now, -A_a), (oil, -1.0)], 0.0)
                self.add([(then, -A_b), (now, A_b), (oil, -1.0)], 0.0)
                self.add([(then, 1.0), (now, -1.0)], step.v_max[c] * dt)
                self.add([(then, -1.0), (now, 1.0)], step.v_max[c] * dt)

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest z."""
        task = self.task
        step = self.task.step
        strokes = [c.stroke for c in task.crane.cylinders]
        most = [LITRES * max(step.A_a[c], step.A_b[c]) * step.v_max[c] * task.dt for c in range(3)]
        lower = np.concatenate([self.low, np.zeros(2 * self.nodes), np.zeros(3 * task.steps)])
        upper = np.concatenate(
            [self.high, np.tile(strokes[:2], self.nodes), np.tile(most, task.steps)]
        )
        return lower, upper


def _solve(task: Task, low: np.ndarray, high: np.ndarray) -> float:
    """m³, at least: the dual value of the program, from its multipliers."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    program = _Program(task, low, high)
    program.between_lines()
    program.moving()
    lower, upper = program.box()
    cost = np.concatenate([np.zeros(3 * program.nodes), np.ones(3 * task.steps)])
    b = np.array(program.right)
    A = coo_matrix((program.values, (program.rows, program.columns)), (len(b), len(cost))).tocsr()
    made = linprog(cost, A_ub=A, b_ub=b, bounds=np.column_stack([lower, upper]), method="highs")
    if made.status != 0:
        raise InputError(
            f"the relaxation was not solved: {made.message}", mend="plan first: it says why"
        )
    y = np.minimum(made.ineqlin.marginals, 0.0)
    rest = cost - A.T @ y
    # Not b @ y: how a long product is added up depends on how many threads linear algebra has.
    return float((b * y).sum() + np.minimum(rest * lower, rest * upper).sum()) / LITRES
