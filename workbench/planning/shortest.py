"""The shortest time in which a path can be followed with accelerations limited, its own time law only scaled.

Places on the path at the steps' ends do not depend on the time T = N dt, so with Δ_k the pistons' moves (rest at both ends)

    min dt    |Δ_k| ≤ v_max dt,  |Δ_k − Δ_{k−1}| ≤ a_max dt²,  Σ A Δ_k ≤ Q_max dt,  pressures ≤ p_max,  joints in their ranges

is a program over q_3 and dt, for IPOPT. It begins at motions that limit speeds alone; whatever it ends at, the time is computed
anew from its extensions and asked of the limits as every plan is. A local program: the time is one that was found, that of speeds
alone is below all.

    what holds at one T holds at every longer one, but for pressures, where inertia may have helped

Source: [Nurmi17] Section 4 for the limits; IPOPT [WaechterBiegler06].
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.planning.curve import graph, held, numbers, table, weighed
from workbench.planning.fastest.program import NEAR
from workbench.planning.paths import Stretched
from workbench.planning.task import BIG, INSIDE, Task

SPARE = 1e-6  # share of the time, for rounding
# By which the time grows where pressures do not hold, and how often (to four times).
LONGER, MOST = 1.01, 140
OPTIONS = {
    "ipopt": {
        "print_level": 0,
        "max_iter": 300,
        "tol": 1e-7,
        "sb": "yes",
        "bound_relax_factor": 0.0,
    },
    "print_time": False,
    "show_eval_warnings": False,
}


class Scaled(NamedTuple):
    """A duration (s), and extensions (N+1,) that keep all limits when the path takes so long."""

    seconds: float
    q_3: np.ndarray


def scaled(task: Task, factor: float) -> Task:
    """The task with `factor` times as much time."""
    return replace(task, path=Stretched(task.path, factor))


def shortest_scaled(task: Task, starts: list) -> Scaled | None:
    """The best that is found from motions of the extension, (s, q_3 (N+1,)) each; None where none keeps the pressures."""
    found = []
    for seconds, q in starts:
        near = scaled(task, seconds / task.path.duration)
        found += [timed(task, q), timed(task, _improved(near, q))]
    return min((one for one in found if one is not None), key=lambda one: one.seconds, default=None)


def timed(task: Task, q: np.ndarray) -> Scaled | None:
    """The shortest time for these extensions, all limits asked as plans are; None where there is none."""
    from workbench.planning.dynamic import energy

    x, ok = task.pistons(q)
    if not (np.isfinite(x).all() and ok.all()):
        return None
    Δ = np.diff(x, axis=1)
    cylinders = task.crane.cylinders
    jumps = np.abs(np.diff(np.pad(Δ, ((0, 0), (1, 1))), axis=1)).max(axis=1)
    dt = max(
        max(d / c.v_max, np.sqrt(j / c.a_max))
        for d, j, c in zip(np.abs(Δ).max(axis=1), jumps, cylinders)
    )
    if task.Q_max is not None:
        dt = max(
            dt,
            max(sum(np.maximum(A_a * d, -A_b * d) for d, (A_a, A_b) in zip(Δ, task.step.areas)))
            / task.Q_max,
        )
    seconds = dt * task.steps * (1 + SPARE)
    for _ in range(MOST if weighed(task) else 1):
        if energy(scaled(task, seconds / task.path.duration), q) < BIG:
            return Scaled(float(seconds), q)
        seconds *= LONGER
    return None


def _improved(task: Task, q_0: np.ndarray) -> np.ndarray:
    """The program's extensions from q_0, at the task's own time (θ = 1) at first."""
    N = task.steps
    heavy = weighed(task)
    dt = task.dt
    Q = ca.MX.sym("Q", 1, N + 1)
    θ = ca.MX.sym("θ")
    g = []
    f, _, paths = graph(task.crane, False)
    m = f.map(N + 1)(
        ca.vertcat(task.tips.T, ca.DM.zeros(4, N + 1), Q, ca.DM.zeros(2, N + 1)),
        numbers(task.crane, paths),
    )
    Δ = m[:3, 1:] - m[:3, :-1]
    rest = ca.DM.zeros(3, 1)
    jumps = ca.horzcat(Δ, rest) - ca.horzcat(rest, Δ)
    for i, c in enumerate(task.crane.cylinders):
        for sign in (1, -1):
            g += [
                sign * Δ[i, :] / (c.v_max * dt) - θ,
                sign * jumps[i, :] / (c.a_max * dt**2) - θ**2,
            ]
    if task.Q_max is not None:
        ways = product(*((A_a, -A_b) for A_a, A_b in task.step.areas))
        g += [ca.mtimes(ca.DM(way).T, Δ) / (task.Q_max * dt) - θ for way in ways]
    for i, (low, high) in enumerate(task.ranges[:2]):
        g += [low + INSIDE - m[9 + i, :], m[9 + i, :] - high + INSIDE]
    if heavy:
        g += _pressures(task, Q, Δ, θ, q_0)
    g = ca.vertcat(*(ca.vec(row) for row in g))
    low = np.full(N + 2, task.ranges[2][0])
    high = np.full(N + 2, task.ranges[2][1])
    low[0] = high[0] = task.start
    if task.end is not None:
        low[N] = high[N] = task.end
    low[-1], high[-1] = 0.05, 20.0
    solver = ca.nlpsol("shortest", "ipopt", {"x": ca.vertcat(Q.T, θ), "f": θ, "g": g}, OPTIONS)
    made = solver(x0=np.append(q_0, 1.0), lbx=low, ubx=high, ubg=0.0)
    return np.clip(np.array(made["x"]).ravel()[:-1], low[:-1], high[:-1])


def _pressures(task: Task, Q, Δ, θ, q_0: np.ndarray) -> list:
    """Rows ≤ 0: what every cylinder's force asks of the pump, wherever q_0 moves that way or the load is light; where it is heavy
    and q_0 sinks with it, it goes on sinking."""
    N = task.steps
    dt = task.dt
    h = held(task)
    top = task.step.highest
    f, _, paths = graph(task.crane, True)
    u = Q[:, 1:] - Q[:, :-1]
    w = u - ca.horzcat(0.0, u[:, :-1])
    r = ca.DM(np.concatenate(list(task.middles), axis=1).T)
    m = f.map(N)(
        ca.vertcat(r, (Q[:, 1:] + Q[:, :-1]) / 2, u / dt, w / dt**2), numbers(task.crane, paths)
    )
    F = m[11:14, :] + m[17:20, :] / θ**2
    areas = ca.DM(task.step.areas)
    flow = ca.mtimes(areas[:, 0].T, ca.fmax(Δ, 0.0)) + ca.mtimes(areas[:, 1].T, ca.fmax(-Δ, 0.0))
    more = h.more * (flow / dt / θ) ** 2
    still = table(
        task.crane,
        True,
        task.middles * np.array([1.0, 0.0, 0.0])[:, None, None],
        (q_0[1:] + q_0[:-1]) / 2,
        np.zeros(N),
        np.zeros(N),
    ).forces[0]
    moves = np.diff(task.pistons(q_0)[0], axis=1)
    creeps = task.supply.creep > 0
    g = []
    for i, (side, sign) in product(range(3), enumerate((1, -1))):
        need = (sign * h.slope[side, i] * still[:, i] + h.offset[side, i]) / top
        asked = np.flatnonzero((sign * moves[i] > 0) | creeps | (need < NEAR)).tolist()
        sinks = sorted(set(range(N)) - set(asked))
        if asked:
            g.append(
                ((sign * h.slope[side, i] * F[i, :] + h.offset[side, i] + more) / top - 1)[:, asked]
            )
        if sinks:
            g.append(sign * Δ[i, sinks] / (task.crane.cylinders[i].v_max * dt))
    return g
