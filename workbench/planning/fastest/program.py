"""Extension and speed along a path as one nonlinear program for IPOPT: least time from a curve nearby.

On every interval q_3(σ) is a cubic and b = σ̇² a parabola. Unknown are q_3 and its slope p at the nodes, b at the nodes, σ̈ where an
interval begins, and the edges' widths. Every limit is asked at the beginning, the middle and the end of every interval.

    min Σ ∫ dσ/√b    (Simpson's rule)

Source: [Verscheure09] (direct transcription with b), here with the curve free as well; IPOPT [WaechterBiegler06].
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.planning.curve import Curve, graph, held, hermite, numbers, weighed
from workbench.planning.pressures import flows
from workbench.planning.task import Task

OPTIONS = {
    "ipopt": {"print_level": 0, "max_iter": 300, "tol": 1e-6, "sb": "yes"},
    "print_time": False,
    "show_eval_warnings": False,
}
NEAR = 0.8  # share of what a pressure holds: a load above this is kept sinking where it sinks
# Width of the corner, and how far into it, where a cylinder may still choose its way.
SOFT, TOUCH = 1e-3, 2e-4
SLOWEST = 1e-6  # 1/s², smallest σ̇²
WIDEST = 10.0  # times, and a tenth of, the first edge's width


class Improved(NamedTuple):
    """A curve, b (N+1,) at its nodes, the time it is thought to take (s), IPOPT's word."""

    curve: Curve
    b: np.ndarray
    time: float
    status: str


class _Rows:
    """Constraints and their bounds."""

    def __init__(self):
        self.g, self.low, self.high = [], [], []

    def add(self, what, low, high) -> None:
        self.g.append(ca.vec(what))
        n = what.numel()
        self.low.append(np.broadcast_to(low, n) if np.ndim(low) == 0 else np.asarray(low).ravel())
        self.high.append(
            np.broadcast_to(high, n) if np.ndim(high) == 0 else np.asarray(high).ravel()
        )


def improve(
    near: Curve,
    b: np.ndarray,
    free: bool,
    ranges: list,
    kept: float = 0.0,
    still: float | None = 0.0,
) -> Improved:
    """The best of curves near one, on its own intervals.

    free: widths may change; ranges of q_1, q_2, q_3; kept: of the pump's pressure, by which it is taken smaller;
    still: m, how fast (per σ) a load that is kept sinking sinks at least; None: cylinders may turn, pressures hold but for SOFT.
    """
    task = near.task
    way = near.way
    N = len(near.Δ)
    E = len(near.widths)
    Q, P, B, S = (
        ca.MX.sym(name, 1, n) for name, n in (("Q", N + 1), ("P", N + 1), ("B", N + 1), ("S", N))
    )
    W = ca.MX.sym("W", 1, E)
    wide = ca.kron(W, ca.DM.ones(1, near.n))
    points, Δ = _points(near, Q, P, B, S, wide)
    rows = _Rows()
    limits = _limits(task)
    rows.add(points[1][3], SLOWEST, np.inf)
    for share, point in zip((0.0, 0.5, 1.0), points):
        _limited(rows, near, limits, share, point, wide, ranges, 1.0 - kept, still)
    # Bézier points: the curve stays between them.
    for inside in (
        Q[:-1] + P[:-1] * Δ / 3,
        Q[1:] - P[1:] * Δ / 3,
    ):
        rows.add(inside, *ranges[2])
    root = [1 / ca.sqrt(point[3]) for point in points]
    T = ca.sum2(Δ / 6 * (root[0] + 4 * root[1] + root[2]))
    x, low, high, x0 = _unknowns(near, b, free, ranges, (Q, P, B, S, W))
    solver = ca.nlpsol("fastest", "ipopt", {"x": x, "f": T, "g": ca.vertcat(*rows.g)}, OPTIONS)
    made = solver(
        x0=x0, lbx=low, ubx=high, lbg=np.concatenate(rows.low), ubg=np.concatenate(rows.high)
    )
    z = np.array(made["x"]).ravel()
    q = z[: N + 1]
    p = z[N + 1 : 2 * N + 2]
    b = z[2 * N + 2 : 3 * N + 3]
    curve = Curve(task, way, z[-E:], np.clip(q, *task.ranges[2]), p)
    return Improved(curve, b, float(made["f"]), solver.stats()["return_status"])


def _points(near: Curve, Q, P, B, S, wide) -> tuple[list, ca.MX]:
    """(q, p, z, b, σ̈) where every interval begins, in its middle, where it ends."""
    Δ = wide / near.n
    z, z_1 = hermite(Q[:-1], Q[1:], P[:-1], P[1:], Δ)
    S_1 = (B[1:] - B[:-1]) / Δ - S
    middle = (
        (Q[:-1] + Q[1:]) / 2 + Δ * (P[:-1] - P[1:]) / 8,
        1.5 * (Q[1:] - Q[:-1]) / Δ - (P[:-1] + P[1:]) / 4,
        (z + z_1) / 2,
        (B[:-1] + B[1:]) / 2 + Δ * (S - S_1) / 4,
        (S + S_1) / 2,
    )
    return [(Q[:-1], P[:-1], z, B[:-1], S), middle, (Q[1:], P[1:], z_1, B[1:], S_1)], Δ


def _unknowns(near: Curve, b: np.ndarray, free: bool, ranges: list, symbols: tuple) -> tuple:
    """(x, lower, upper, first guess)."""
    task = near.task
    N = len(near.Δ)
    Q, P, B, S, W = symbols
    far = np.inf
    low = [
        np.full(N + 1, ranges[2][0]),
        np.full(N + 1, -far),
        np.full(N + 1, SLOWEST),
        np.full(N, -far),
        near.widths / WIDEST,
    ]
    high = [
        np.full(N + 1, ranges[2][1]),
        np.full(N + 1, far),
        np.full(N + 1, far),
        np.full(N, far),
        near.widths * WIDEST,
    ]
    if not free:
        low[4], high[4] = near.widths.copy(), near.widths.copy()
    low[4][0] = high[4][0] = near.widths[0]  # one width only scales σ
    low[0][0] = high[0][0] = task.start
    if task.end is not None:
        low[0][-1] = high[0][-1] = task.end
    for bound in (low, high):
        bound[1][0] = bound[1][-1] = 0.0  # at rest at both ends
    first = [near.q, near.p, np.maximum(b, 1e-3), np.diff(b) / 2 / near.Δ, near.widths]
    return (
        ca.vertcat(*(ca.vec(v) for v in (Q, P, B, S, W))),
        np.concatenate(low),
        np.concatenate(high),
        np.concatenate(first),
    )


def _limited(
    rows: _Rows,
    near: Curve,
    limits: ca.Function,
    share: float,
    point: tuple,
    wide,
    ranges: list,
    top: float,
    still: float | None,
) -> None:
    """Every limit at one share of all intervals."""
    N = len(near.Δ)
    k = np.arange(N)
    r = near.way.sample(near.edge, (k % near.n + share) / near.n)
    found = limits.map(N)(ca.DM(np.concatenate(list(r), axis=1).T), wide, *point)
    speed, acceleration, joints, flow, pressure, pace = found
    # The end of an interval is where the next begins, but for accelerations and forces.
    if share < 1.0:
        rows.add(speed, -np.inf, 1.0)
        rows.add(
            joints,
            np.tile([ranges[0][0], ranges[1][0]], N),
            np.tile([ranges[0][1], ranges[1][1]], N),
        )
        if flow.numel():
            rows.add(flow, -np.inf, 1.0)
    rows.add(acceleration, -1.0, 1.0)
    if pressure.numel():
        if still is None:
            plus = lambda x: (x + ca.sqrt(x * x + SOFT**2)) / 2
            rows.add(plus(pace) * plus(pressure - top), -np.inf, TOUCH)
            return
        asked, sinking = sides(near)
        rows.add(pressure, -np.inf, np.where(asked, top, np.inf))
        rows.add(pace, -np.inf, np.where(sinking, -still, np.inf))


def _limits(task: Task) -> ca.Function:
    """(r, r_τ, r_ττ), width, q, p, z, b, σ̈ → what is limited, over its limit: speeds (squared), accelerations, joints, flows of
    all ways the cylinders may go, pressures out and in, and how fast the cylinders go out and in."""
    heavy = weighed(task)
    step = task.step
    cylinders = task.crane.cylinders
    f, _, paths = graph(task.crane, heavy)
    r, (w, q, p, z, b, s) = ca.SX.sym("r", 6), ca.SX.sym("v", 6).elements()
    m = f(ca.vertcat(r[:2], r[2:4] / w, r[4:6] / w**2, q, p, z), numbers(task.crane, paths))
    m = [m[i] for i in range(m.numel())]
    dx = m[3:6]
    ddx = m[6:9]
    speed = [(v / c.v_max) ** 2 * b for v, c in zip(dx, cylinders)]
    acceleration = [(v * s + a * b) / c.a_max for v, a, c in zip(dx, ddx, cylinders)]
    flow = []
    pressure = []
    pace = []
    if step.Q_max is not None:
        ways = product(*((A_a, -A_b) for A_a, A_b in step.areas))
        flow = [sum(A * v for A, v in zip(way, dx)) * ca.sqrt(b) / step.Q_max for way in ways]
    if heavy:
        h = held(task)
        F = [m[11 + i] + m[14 + i] * s + m[17 + i] * b for i in range(3)]
        more = h.more * sum(flows(dx, step.areas)) ** 2 * b if h.more else 0.0
        pressure = [
            (sign * h.slope[side, i] * F[i] + h.offset[side, i] + more) / step.highest
            for side, sign in enumerate((1, -1))
            for i in range(3)
        ]
        pace = [sign * v for sign in (1, -1) for v in dx]
    groups = [
        ca.vertcat(*g) if g else ca.SX(0, 1)
        for g in (speed, acceleration, m[9:11], flow, pressure, pace)
    ]
    return ca.Function("limits", [r, w, q, p, z, b, s], groups)


def sides(near: Curve) -> tuple[np.ndarray, np.ndarray]:
    """(N, 6) each: where a pressure is asked for, out and in; where a load beyond it is kept sinking."""
    return near.asked, (near.loads[0] > NEAR) & ~near.asked
