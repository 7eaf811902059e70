"""The program of a transcribed plan: its rows, with corners rounded."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.planning.supplies import PlannedConstantPressure, Speed, TwoPressures, Work
from workbench.planning.task import INSIDE, Task

SPEED, PRESSURE = 1e-3, 1e8  # m/s and Pa/(m/s): widths of the rounded corners, w and PRESSURE w


# ---- programs -----------------------------------------------------------------------------------------------------------
class _Program(NamedTuple):
    f: ca.Function
    bounds: dict

    def call(self, z0, p, **bounds) -> np.ndarray:
        return np.array(self.f(x0=z0, p=p, **(self.bounds | bounds))["x"]).ravel()


class _Rows(NamedTuple):
    """Constraints low ≤ g ≤ high, as they come."""

    g: list
    low: list
    high: list

    def add(self, g, low: float, high: float = np.inf) -> None:
        for rows, value in zip(self, (g, low, high)):
            rows.append(value)


class _Steps(NamedTuple):
    """q (N+1), Δ and F [k][c] as expressions, and the rows that every motion keeps: the first 3N limit the speeds."""

    q: ca.SX
    Δ: list
    F: list
    rows: _Rows


def _steps(task: Task) -> _Steps:
    N = task.steps
    rows = _Rows([], [], [])
    crane = task.crane
    q = ca.SX.sym("q", N + 1)
    joints = [crane.joints([float(v) for v in task.tips[k]], q[k]) for k in range(N + 1)]
    x = [crane.pistons(own) for own in joints]
    Δ = [[b - a for a, b in zip(x[k], x[k + 1])] for k in range(N)]
    for row in Δ:
        for d, top in zip(row, task.step.v_max):
            rows.add(d, -top * task.dt, top * task.dt)
    for own in joints:
        for i in (0, 1):
            low, high = task.ranges[i]
            rows.add(own[i], low + INSIDE, high - INSIDE)
    if task.order == 2:
        for before, after in zip([[0.0] * 3, *Δ], [*Δ, [0.0] * 3]):
            for a, b, top in zip(before, after, task.push):
                rows.add(b - a, -top, top)
    F = []
    u_before = 0.0
    for k in range(N):
        r, rd, rdd = ([float(e) for e in task.middles[i, k]] for i in range(3))
        u = (q[k + 1] - q[k]) / task.dt
        w = (u - u_before) / task.dt if task.order == 2 else 0.0
        F.append(
            crane.forces(*crane.motion(r, rd, rdd, (q[k] + q[k + 1]) / 2, u, w))
            if task.step.needs_forces
            else [0.0] * 3
        )
        u_before = u
    return _Steps(q, Δ, F, rows)


def _program(task: Task, z, p, cost, rows: _Rows, low: list, high: list, options: dict) -> _Program:
    """The program over z, of which the first N+1 are the extensions."""
    N, (a, b) = task.steps, task.ranges[2]
    low = [a] * (N + 1) + low
    high = [b] * (N + 1) + high
    for k, fixed in ((0, task.start), (N, task.end)):
        if fixed is not None:
            low[k] = high[k] = fixed
    options = {
        "print_level": 0,
        "sb": "yes",
        "mu_strategy": "adaptive",
        "bound_relax_factor": 0.0,
        **options,
    }
    f = ca.nlpsol(
        "transcription",
        "ipopt",
        {"x": z, "p": p, "f": cost, "g": ca.vertcat(*rows.g)},
        {"ipopt": options, "print_time": False},
    )
    return _Program(f, {"lbx": low, "ubx": high, "lbg": rows.low, "ubg": rows.high})


def _scale(task: Task) -> float:
    """About one over the energy a motion needs, so that the cost is about one to ten whatever it counts."""
    stroke = np.array(task.step.A_a) @ [c.stroke for c in task.crane.cylinders]
    if isinstance(task.supply, Speed):
        return task.dt / (
            float(np.sum(np.array(task.step.A_a) if task.supply.weighted else 1.0))
            * 1e-4
            * task.path.duration
        )
    return 1.0 / (
        (task.supply.p_s if isinstance(task.supply, PlannedConstantPressure) else 1e7) * stroke
    )


# ---- rounded corners ----------------------------------------------------------------------------------------------------
def _rounded(task: Task, most: int) -> _Program:
    made = _steps(task)
    w = ca.SX.sym("w")
    cost = 0.0
    supply = task.supply
    for Δ, F in zip(made.Δ, made.F):
        v = [d / task.dt for d in Δ]
        Q = [
            A_a * _plus(s, 0.1 * w) + A_b * _plus(-s, 0.1 * w)
            for s, (A_a, A_b) in zip(v, task.step.areas)
        ]
        p = _opened(task, v, F, w) if task.step.needs_forces else [0.0]
        top = _round_highest(p, PRESSURE * w)
        if isinstance(supply, TwoPressures):
            high = [
                (1 + np.tanh((own + supply.margin - supply.low) / (PRESSURE * w))) / 2 for own in p
            ]
            lines = [supply.low + (supply.high - supply.low) * share for share in high]
            power = supply.through(lines, Q)
        elif isinstance(supply, Work):
            power = sum(_plus(f * s * 1e-3, 10 * w) for f, s in zip(F, v)) * 1e3
        else:
            power = (
                supply.power(v, F, task.step.areas)
                if isinstance(supply, Speed)
                else supply.drawn([top], [sum(Q)])
            )
        cost = cost + power * task.dt * _scale(task)
        _pump_limits(task, made.rows, sum(Q), [top], Q)
    return _program(task, made.q, w, cost, made.rows, [], [], {"max_iter": most, "tol": 1e-6})


def _plus(a, width):
    return (a + np.sqrt(a * a + width * width)) / 2


def _round_highest(p: list, soft):
    top = p[0]
    for own in p[1:]:
        top = top + _plus(own - top, soft)
    return top


def _opened(task: Task, v, F, w) -> list:
    """`pressures.pressures` with its corners rounded."""
    found = []
    back = task.supply.back
    creep = task.supply.creep
    for s, f, (A_a, A_b) in zip(v, F, task.step.areas):
        out, into = ((1 + np.tanh((sign * s + creep) / w)) / 2 for sign in (1, -1))
        found.append(
            out * _plus((f + back * A_b) / A_a, PRESSURE * w)
            + into * _plus((back * A_a - f) / A_b, PRESSURE * w)
        )
    return found


def _pump_limits(task: Task, rows: _Rows, Q, p: list, Qs: list) -> None:
    if task.Q_max is not None:
        rows.add(Q / task.Q_max, -np.inf, 1.0)
    if task.step.highest is not None:
        pump = task.supply.pump(p, Qs)
        rows.add(pump / task.step.highest, -np.inf, 1.0)
