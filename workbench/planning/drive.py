"""A plan as a reference that can be driven: smooth in time, the tip exactly on its path.

The extensions of the plan are the control points of a quintic B-spline over its nodes (variation diminishing: it stays between
them, its speed between theirs, and no kink remains), at rest at both ends; lift and tilt follow from the path. So the tip is
exact, and the energy differs from the plan's: `driven_energy` says by how much.

Source: [DeBoor01] Chapter XI, Schoenberg's variation-diminishing approximation.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from workbench.files.atomic import write_atomic
from workbench.planning.dynamic import Plan, parts
from workbench.run.spline import Spline

DEGREE = 5
FINER = 4  # instants a step of the plan


def extension(plan: Plan, t: np.ndarray) -> np.ndarray:
    """q_3 at the times t (N,) s."""
    from scipy.interpolate import BSpline

    dt = plan.task.dt
    n = plan.task.steps
    half = (DEGREE - 1) // 2
    control = plan.q_3.copy()
    # At rest at both ends, exactly where the plan is.
    control[: half + 1], control[-half - 1 :] = (
        control[0],
        control[-1],
    )
    control = np.pad(control, (DEGREE, DEGREE), mode="edge")
    # Nodes are the knots' averages: the coefficient at t_k stands over the knots k − 3 … k + 3.
    knots = dt * (np.arange(len(control) + DEGREE + 1) - DEGREE - half - 1)
    return BSpline(knots, control, DEGREE)(np.clip(t, 0.0, n * dt))


def driven(plan: Plan) -> Spline:
    """The plan as Cartesian reference (x, y, x_t) of a crane's controller."""
    t, rows = _rows(plan)
    return Spline("cartesian", tuple(t.tolist()), tuple(map(tuple, rows.tolist())))


def _rows(plan: Plan):
    task = plan.task
    t = np.linspace(0.0, task.path.duration, FINER * task.steps + 1)
    return t, np.column_stack([task.path.sample(t, 0)[0], extension(plan, t)])


def driven_energy(plan: Plan) -> float:
    """J of the smooth motion, in steps FINER times as short; limits are not asked, a load that creeps down counts as sinking."""
    fine = replace(plan.task, steps=FINER * plan.task.steps, order=1, Q_max=None, p_max=None)
    if fine.supply.creep:
        fine = replace(fine, supply=replace(fine.supply, creep=0.0))
    return float((fine.step.power(*parts(fine, _rows(plan)[1][:, 2])) * fine.dt).sum())


def write_plan(path: str | os.PathLike, plan: Plan) -> None:
    """Comma-separated time, x, y, x_t (s, m): `Spline.from_csv(path, "cartesian")` reads it, so does a case file's scenario."""
    t, rows = _rows(plan)
    lines = [
        "time [s],tcp_x [m],tcp_y [m],x_t [m]",
        *(",".join(repr(float(v)) for v in (a, *row)) for a, row in zip(t, rows)),
    ]
    write_atomic(path, lambda stream: stream.write(("\n".join(lines) + "\n").encode()))
