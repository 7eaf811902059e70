"""Direct transcription: the same steps as a nonlinear program for IPOPT, from many starts.

    oil           min Σ s_kc   with   s_kc ≥ A_a Δx_kc,  s_kc ≥ −A_b Δx_kc: exact, no absolute values
    other costs   as they are, with v⁺, H(v) and max smoothed over `speed` and `pressure`; the energy reported is the exact one

Source: [Nurmi17] Sections 3, 6.1 (there by fmincon and DIDO); IPOPT [WaechterBiegler06].
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.errors import InputError
from workbench.planning.baselines import limited
from workbench.planning.dynamic import Plan, energy
from workbench.planning.supplies import ConstantPressure, LoadSensing
from workbench.planning.task import BIG, Task

SPEED, PRESSURE = 1e-3, 1e8  # m/s and Pa/(m/s): widths of the smoothed corners, w and PRESSURE w
WIDTHS = (30.0, 8.0, 2.0)  # times SPEED, one after the other, each from where the last ended


class Start(NamedTuple):
    """One start's end: the exact energy (J), IPOPT's word, iterations."""

    energy: float
    status: str
    iterations: int


def transcribe(task: Task, starts: int = 8, seed: int = 1, most: int = 0) -> tuple[Plan, tuple[Start, ...]]:
    """The best plan of several starts of at most `most` iterations (0: its own choice), and what each gave.

    Supplies: constant pressure, load sensing; speeds only (order 1).
    Raises InputError for another supply, or when no start ends at a motion within the limits.
    """
    if not isinstance(task.supply, ConstantPressure | LoadSensing) or task.supply.map is not None or task.order != 1:
        raise InputError("the direct transcription knows constant pressure and load sensing, order 1, without an efficiency map",
                         mend="use dynamic programming")
    solver, n = _program(task, most or (1000 if isinstance(task.supply, ConstantPressure) else 300))
    loosened = replace(task, crane=limited(task.crane, 1 + 1e-6))  # an interior-point method ends on limits to its own tolerance
    rng, found, best = np.random.default_rng(seed), [], None
    for _ in range(starts):
        q0 = _start(task, rng)
        made = np.concatenate([q0, *([np.full(n - len(q0), 1e-2)] if n > len(q0) else [])])
        for width in WIDTHS[-1 if isinstance(task.supply, ConstantPressure) else 0:]:
            made = solver.call(made, width * SPEED)
        q = np.clip(made[: task.steps + 1], *task.ranges[2])
        q[0] = task.start
        if task.end is not None:
            q[-1] = task.end
        stats = solver.f.stats()
        e = energy(loosened, q)
        found.append(Start(e, stats["return_status"], stats["iter_count"]))
        if e < BIG and (best is None or e < best.energy):  # within the limits, whatever the solver thinks of its smoothed problem
            best = Plan(task, q, e, "direct transcription")
    if best is None:
        raise InputError(f"no start of the direct transcription succeeded: {', '.join(sorted({s.status for s in found}))}",
                         mend="give more starts, or use dynamic programming")
    return best, tuple(found)


def _start(task: Task, rng) -> np.ndarray:
    """A smooth random extension inside the stroke."""
    low, high = task.ranges[2]
    knots = rng.uniform(low + 0.05 * (high - low), high - 0.05 * (high - low), 6)
    knots[0] = task.start
    t = np.linspace(0, 5, task.steps + 1)
    i = np.minimum(t.astype(int), 4)
    s = t - i
    return knots[i] + (knots[i + 1] - knots[i]) * (3 * s**2 - 2 * s**3)


class _Solver(NamedTuple):
    f: ca.Function
    bounds: dict

    def call(self, z0, width: float) -> np.ndarray:
        return np.array(self.f(x0=z0, p=width, **self.bounds)["x"]).ravel()


def _program(task: Task, most: int) -> tuple[_Solver, int]:
    N, step = task.steps, task.step
    low, high = task.ranges[2]
    q = ca.SX.sym("q", N + 1)
    x, rows = _geometry(task, q)
    Δ = [[x[k + 1][c] - x[k][c] for c in range(3)] for k in range(N)]
    g = [d for row in Δ for d in row]
    lbg, ubg = [-v * task.dt for v in step.v_max] * N, [v * task.dt for v in step.v_max] * N
    for value, (a, b) in rows:
        g.append(value)
        lbg.append(a)
        ubg.append(b)
    lbx, ubx = [low] * (N + 1), [high] * (N + 1)
    lbx[0] = ubx[0] = task.start
    if task.end is not None:
        lbx[-1] = ubx[-1] = task.end
    z, w = q, ca.SX.sym("w")
    if isinstance(task.supply, ConstantPressure):
        s = ca.SX.sym("s", 3 * N)
        for k in range(N):
            for c in range(3):
                g += [s[3 * k + c] - 1e3 * step.A_a[c] * Δ[k][c], s[3 * k + c] + 1e3 * step.A_b[c] * Δ[k][c]]
        lbg, ubg = lbg + [0.0] * (6 * N), ubg + [np.inf] * (6 * N)
        z, cost = ca.vertcat(q, s), ca.sum1(s)  # litres
        lbx, ubx = lbx + [0.0] * (3 * N), ubx + [np.inf] * (3 * N)
        flow = [ca.sum1(s[3 * k: 3 * k + 3]) * 1e-3 / task.dt for k in range(N)]
    else:
        power, flow = zip(*(_smooth(task, k, q, Δ[k], w) for k in range(N)))
        cost = sum(power) * task.dt * 1e-3  # kJ
    if task.Q_max is not None:
        g, lbg, ubg = [*g, *flow], lbg + [-np.inf] * N, ubg + [task.Q_max] * N
    options = {"ipopt": {"print_level": 0, "max_iter": most, "tol": 1e-8, "sb": "yes"}, "print_time": False}
    f = ca.nlpsol("transcription", "ipopt", {"x": z, "p": w, "f": cost, "g": ca.vertcat(*g)}, options)
    return _Solver(f, {"lbx": lbx, "ubx": ubx, "lbg": lbg, "ubg": ubg}), z.numel()


def _geometry(task: Task, q) -> tuple[list, list]:
    """Pistons at every node, and (expression, bounds) of the joints."""
    x, rows, ranges = [], [], task.ranges
    for k in range(task.steps + 1):
        joints = task.crane.joints([float(v) for v in task.tips[k]], q[k])
        x.append(task.crane.pistons(joints))
        rows += [(joints[i], ranges[i]) for i in (0, 1)]
    return x, rows


def _smooth(task: Task, k: int, q, Δ, w):
    """(power, flow) of a step with its corners rounded over w (m/s)."""
    v = [d / task.dt for d in Δ]
    r, rd, rdd = ([float(e) for e in task.middles[i, k]] for i in range(3))
    F = task.crane.forces(*task.crane.motion(r, rd, rdd, (q[k] + q[k + 1]) / 2, (q[k + 1] - q[k]) / task.dt, 0.0))
    plus = lambda a, width: (a + np.sqrt(a * a + width * width)) / 2
    Q, p, soft = 0.0, [], PRESSURE * w
    for s, f, (A_a, A_b) in zip(v, F, task.step.areas):
        Q = Q + A_a * plus(s, 0.1 * w) + A_b * plus(-s, 0.1 * w)
        out = (1 + np.tanh(s / w)) / 2
        p.append(out * plus(f / A_a, soft) + (1 - out) * plus(-f / A_b, soft))
    top = p[0] + plus(p[1] - p[0], soft)
    top = top + plus(p[2] - top, soft)
    return (top + task.supply.margin) * Q / task.supply.η, Q
