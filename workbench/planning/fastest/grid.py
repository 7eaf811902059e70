"""Where to begin: the least time on a grid over path and extension, speeds and flow limited, loads held at rest."""

from __future__ import annotations

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.planning.curve import Curve, held, table, weighed
from workbench.planning.feasibility import unfit
from workbench.planning.pressures import flows
from workbench.planning.task import Task
from workbench.planning.ways import Way

STEPS, NODES = 16, 261  # an edge; over the stroke


def stages(way: Way, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(edge, τ) of E steps + 1 places, equal in τ."""
    E = len(way.edges)
    return np.append(np.repeat(np.arange(E), steps), E - 1), np.append(
        np.tile(np.arange(steps) / steps, E), 1.0
    )


def places(task: Task, way: Way, steps: int, q_3: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(pistons (M, 3, n), allowed (M, n)) at the stages for the extensions q_3 (n,)."""
    r = way.sample(*stages(way, steps))[0]
    at = [r[:, i][:, None] for i in (0, 1)]
    q = np.broadcast_arrays(*task.crane.joints(at, q_3[None, :]))
    allowed = np.abs(task.crane.stretch(at, q_3[None, :])) < 1
    for value, (low, high) in zip(q, task.ranges):
        allowed = allowed & (value >= low - 1e-12) & (value <= high + 1e-12)
    return np.stack(np.broadcast_arrays(*task.crane.pistons(q)), axis=1), allowed


def step_times(task: Task, moves: np.ndarray) -> np.ndarray:
    """s that pistons' moves (3, …) take at least, at any speed in between: by their speeds, by the oil."""
    T = 0.0
    for i, c in enumerate(task.crane.cylinders):
        T = np.maximum(T, np.abs(moves[i]) / c.v_max)
    return (
        T if task.Q_max is None else np.maximum(T, sum(flows(moves, task.step.areas)) / task.Q_max)
    )


def best_path(task: Task, way: Way) -> tuple[np.ndarray, float]:
    """(extensions (M,) at the stages, s). Raises InputError where nothing goes on."""
    q_3 = np.linspace(*task.ranges[2], NODES)
    X, allowed = places(task, way, STEPS, q_3)
    nearest = lambda value: np.arange(NODES) == int(np.argmin(np.abs(q_3 - value)))
    M = len(X)
    J = np.where(allowed[-1] & (True if task.end is None else nearest(task.end)), 0.0, np.inf)
    need = _needs(task, way, q_3) if weighed(task) else None
    onward = []
    for k in range(M - 2, -1, -1):
        moves = X[k + 1][:, None, :] - X[k][:, :, None]
        T = step_times(task, moves) + J[None, :]
        if need is not None:
            T = np.where(_liftable(need[k], moves), T, np.inf)
        best = T.argmin(axis=1)
        J = np.where(allowed[k], T[np.arange(NODES), best], np.inf)
        if not np.isfinite(J).any():
            raise stuck(task, way, k, allowed, need is not None)
        onward.append(best)
    i = int(np.flatnonzero(nearest(task.start))[0])
    if not np.isfinite(J[i]):
        raise stuck(task, way, 0, allowed, need is not None)
    path = [i]
    for best in onward[::-1]:
        path.append(int(best[path[-1]]))
    made = q_3[path]
    made[0] = task.start
    if task.end is not None:
        made[-1] = task.end
    return made, float(J[i])


def _needs(task: Task, way: Way, q_3: np.ndarray) -> np.ndarray:
    """(M, 2, 3, n) pump pressure over the highest that each cylinder's load at rest asks for, going out and in."""
    h, (edge, τ) = held(task), stages(way, STEPS)
    M = len(edge)
    n = len(q_3)
    r = way.sample(edge, τ)
    rows = np.repeat(r, n, axis=1)
    F = (
        table(
            task.crane,
            True,
            rows * np.array([1.0, 0.0, 0.0])[:, None, None],
            np.tile(q_3, M),
            0 * rows[0, :, 0],
            0 * rows[0, :, 0],
        )
        .forces[0]
        .reshape(M, n, 3)
        .transpose(0, 2, 1)
    )
    sign = np.array([1.0, -1.0])[None, :, None, None]
    return (
        sign * h.slope[None, :, :, None] * F[:, None] + h.offset[None, :, :, None]
    ) / task.step.highest


def _liftable(need: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """(n, n): whether no cylinder moves against a load that the pump cannot hold."""
    out, into = (
        (need[side] > 1)[:, :, None] & (sign * moves > 1e-9) for side, sign in enumerate((1, -1))
    )
    return ~(out | into).any(axis=0)


def stuck(task: Task, way: Way, k: int, allowed: np.ndarray, loaded: bool) -> InputError:
    """Why there is no way on from stage k, however slow."""
    if (error := unfit(task)) is not None:
        return error
    (x, y), (u, v) = way.sample(*(a[k : k + 2] for a in stages(way, STEPS)))[0]
    between = f"between ({x:.4g}, {y:.4g}) m and ({u:.4g}, {v:.4g}) m"
    if loaded:
        top = format_quantity(task.step.highest, "Pa")
        return InputError(
            f"no motion exists, however slow: {between} some cylinder would lift a load that needs more than {top} "
            "of the pump at rest",
            key="limits.pressure",
            mend="raise it, or lighten the load",
        )
    return InputError(
        f"no motion exists, however slow: {between} the joints' ranges leave no way on",
        key="path",
        mend="move this part of the path into the workspace",
    )


def guess(task: Task, way: Way, n: int) -> Curve:
    """The grid's best path as a curve on n intervals an edge."""
    return through(task, way, best_path(task, way)[0], n)


def random_guess(task: Task, way: Way, n: int, rng) -> Curve:
    """A random curve in the same reach: knots drawn among the extensions that are possible."""
    q_3 = np.linspace(*task.ranges[2], NODES)
    allowed = places(task, way, STEPS, q_3)[1]
    M = len(allowed)
    stops = np.unique(np.linspace(0, M - 1, 3 * len(way.edges) + 1).astype(int))
    knots = np.array([rng.choice(q_3[allowed[k]]) for k in stops])
    made = np.interp(np.arange(M), stops, knots)
    made = np.array([q_3[ok][np.argmin(np.abs(q_3[ok] - q))] for q, ok in zip(made, allowed)])
    made[0] = task.start
    if task.end is not None:
        made[-1] = task.end
    return through(task, way, made, n)


def through(task: Task, way: Way, q_3: np.ndarray, n: int) -> Curve:
    """A curve without new extremes through extensions at equal shares of every edge, at rest at both ends.

    Edges are as wide as the root of their length: then a constant σ̇ accelerates the tip equally on all.
    """
    from scipy.interpolate import PchipInterpolator

    E = len(way.edges)
    widths = np.sqrt(way.lengths / way.lengths[0])
    each = lambda parts: np.append(0.0, np.cumsum(np.repeat(widths / parts, parts)))
    σ = each((len(q_3) - 1) // E)
    at = each(n)
    f = PchipInterpolator(σ / σ[-1], q_3)
    at = np.minimum(at / at[-1], 1.0)
    p = f(at, 1) / σ[-1]
    p[0] = p[-1] = 0.0
    return Curve(task, way, widths, f(at), p)
