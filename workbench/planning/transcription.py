"""Direct transcription: the same steps as nonlinear programs for IPOPT, from many starts.

    exact      over extensions, oil and pressures, every cylinder's side of the jumps given, kinks as inequalities:
                   s_kc ≥ A_a Δx_kc,  s_kc ≥ −A_b Δx_kc,  p_k ≥ the pressure of every cylinder that asks for one
               smooth, so IPOPT is fast here and what it finds is what the supply counts
    rounded    over extensions alone, H(v), v⁺, max and a line's choice rounded over `speed` and `pressure`, less and less, each
               from where the last ended: this is what finds sides

Oil without a map has no jumps: it is exact from the start. Work and Speed have kinks at most: they are only rounded. With two
states the differences of the steps are limited and the forces know the acceleration, as in `dynamic`.

Source: [Nurmi17] Sections 3, 6.1 (there by fmincon and DIDO); IPOPT [WaechterBiegler06].
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.planning.baselines import limited
from workbench.planning.dynamic import Plan, energy, motion, unpressed
from workbench.planning.supplies import ConstantPressure, Speed, TwoPressures, Work
from workbench.planning.task import BIG, Task

SPEED, PRESSURE = 1e-3, 1e8  # m/s and Pa/(m/s): widths of the rounded corners, w and PRESSURE w
WIDTHS = (
    30.0,
    10.0,
    4.0,
    1.5,
)  # times SPEED: starting narrower, or falling faster, ends 5 to 15 % higher
MOST = 150  # iterations of a rounded program on the way to sides; what it has then is where the next starts
ASIDE = 1e-7  # m/s, how far from its jump a cylinder stays on its side
INSIDE = (
    1e-7  # rad, how far the joints stay from their ends: a solver meets limits to its own tolerance
)


class Start(NamedTuple):
    """One start's end: the exact energy (J), IPOPT's word, iterations (of the last program)."""

    energy: float
    status: str
    iterations: int


def transcribe(
    task: Task, starts: int = 8, seed: int = 1, most: int = 0
) -> tuple[Plan, tuple[Start, ...]]:
    """The best plan of several starts, and what each gave; energies are those of the supply, not of rounded corners.

    most: iterations of each program (0: its own choice). Raises InputError when no start ends at a motion within the limits.
    """
    loosened = replace(
        task,
        crane=limited(task.crane, 1 + 1e-6),
        Q_max=_loose(task.Q_max),
        p_max=_loose(task.step.highest),
    )
    if (light := unpressed(task)) is not None:
        plan, ends = transcribe(light, starts, seed, most)
        if energy(loosened, plan.q_3) < BIG:
            return replace(plan, task=task), ends
    sides = Sides(task, most or 1000) if task.supply.draws else None
    smooth = (
        isinstance(task.supply, ConstantPressure)
        and task.supply.map is None
        and not task.step.needs_forces
    )
    rounded = None if smooth else _rounded(task, most or (MOST if sides else 1000))
    rng, found, best = np.random.default_rng(seed), [], None
    for _ in range(starts):
        ways, q = [], _start(task, rng)
        if rounded is not None:
            for width in WIDTHS:
                q = rounded.call(q, width * SPEED)
            ways.append((_held(task, q), rounded.f.stats()))
        if sides is not None:
            ways.append((_held(task, sides.solve(q)), sides.program.f.stats()))
        e, q, stats = min(
            ((energy(loosened, q), q, stats) for q, stats in ways), key=lambda way: way[0]
        )
        found.append(Start(e, stats["return_status"], stats["iter_count"]))
        if e < BIG and (
            best is None or e < best.energy
        ):  # within the limits, whatever the solver thinks
            best = Plan(task, q, e, "direct transcription")
    if best is None:
        raise InputError(
            f"no start of the direct transcription ended within the limits: "
            f"{', '.join(sorted({s.status for s in found}))}",
            mend="give more starts, or use dynamic programming",
        )
    return best, tuple(found)


def _loose(limit: float | None) -> float | None:
    return None if limit is None else limit * (1 + 1e-6)


def _held(task: Task, z: np.ndarray) -> np.ndarray:
    """The extensions of a solution, start, end and stroke kept to the last digit."""
    q = np.clip(z[: task.steps + 1], *task.ranges[2])
    q[0] = task.start
    if task.end is not None:
        q[-1] = task.end
    return q


def _start(task: Task, rng) -> np.ndarray:
    """A smooth random extension inside the stroke."""
    low, high = task.ranges[2]
    knots = rng.uniform(low + 0.05 * (high - low), high - 0.05 * (high - low), 6)
    knots[0] = task.start
    t = np.linspace(0, 5, task.steps + 1)
    i = np.minimum(t.astype(int), 4)
    s = t - i
    return knots[i] + (knots[i + 1] - knots[i]) * (3 * s**2 - 2 * s**3)


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
    N, rows, crane = task.steps, _Rows([], [], []), task.crane
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
    F, u_before = [], 0.0
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
    low, high = [a] * (N + 1) + low, [b] * (N + 1) + high
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
    return 1.0 / ((task.supply.p_s if isinstance(task.supply, ConstantPressure) else 1e7) * stroke)


# ---- rounded corners ----------------------------------------------------------------------------------------------------
def _rounded(task: Task, most: int) -> _Program:
    made, w, cost, supply = _steps(task), ca.SX.sym("w"), 0.0, task.supply
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
    found, back, creep = [], task.supply.back, task.supply.creep
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


# ---- given sides --------------------------------------------------------------------------------------------------------
class Sides:
    """The exact program of a task for given sides of its cylinders: which ask for pressure pushing or pulling, from which line."""

    def __init__(self, task: Task, most: int):
        N, step, supply = task.steps, task.step, task.supply
        self.task, made = task, _steps(task)
        rows, cost = made.rows, 0.0
        self.pressed = step.needs_forces and not isinstance(supply, TwoPressures)
        s, p = ca.SX.sym("s", 3 * N), ca.SX.sym("p", N if self.pressed else 0)  # litres, 100 bar
        out, into, lines = (ca.SX.sym(name, 3 * N) for name in ("out", "into", "lines"))
        for k in range(N):
            own = range(3 * k, 3 * k + 3)
            Q = [s[i] * 1e-3 / task.dt for i in own]
            for c, i in enumerate(own):
                rows.add(s[i] - 1e3 * step.A_a[c] * made.Δ[k][c], 0.0)
                rows.add(s[i] + 1e3 * step.A_b[c] * made.Δ[k][c], 0.0)
                if step.needs_forces:
                    (A_a, A_b), f = step.areas[c], made.F[k][c]
                    top = p[k] if self.pressed else (lines[i] - supply.margin) * 1e-7
                    rows.add(top - 1e-7 * out[i] * (f + supply.back * A_b) / A_a, 0.0)
                    rows.add(top - 1e-7 * into[i] * (supply.back * A_a - f) / A_b, 0.0)
            top = [p[k] * 1e7] if self.pressed else []
            power = (
                supply.drawn(top, Q)
                if self.pressed or not supply.needs_forces
                else supply.through([lines[i] for i in own], Q)
            )
            cost = cost + power * task.dt * _scale(task)
            if self.pressed or task.Q_max is not None:
                _pump_limits(
                    task if self.pressed else replace(task, supply=ConstantPressure()),
                    rows,
                    sum(Q),
                    top,
                    Q,
                )
        oil = [1e3 * max(a, b) * v * task.dt * 1.01 for (a, b), v in zip(step.areas, step.v_max)]
        self.program = _program(
            task,
            ca.vertcat(made.q, s, p),
            ca.vertcat(out, into, lines),
            cost,
            rows,
            [0.0] * (4 * N if self.pressed else 3 * N),
            oil * N + [10.0] * (N if self.pressed else 0),
            {"max_iter": most, "tol": 1e-8},
        )

    def solve(self, q: np.ndarray) -> np.ndarray:
        """The best motion on the sides that a motion q (N+1,) takes, started from it."""
        task, supply, N = self.task, self.task.supply, self.task.steps
        q = _held(task, q)
        x = np.diff(task.pistons(q)[0], axis=1)
        s = (
            1e3
            * np.maximum(
                np.array(task.step.A_a)[:, None] * x, -np.array(task.step.A_b)[:, None] * x
            )
            + 1e-4
        )
        if not task.step.needs_forces:
            return self.program.call(np.concatenate([q, s.T.ravel()]), np.zeros(9 * N))
        told = motion(task, q)
        v, F, edge = told["v"], told["F"], supply.creep
        out, into = v > np.where(F > 0, -edge, edge), v < np.where(F > 0, -edge, edge)
        if edge > 0:
            out, into = v > -edge, v < edge  # both within it
        low = np.where(~out, -np.inf, np.where(~into, edge, -edge)) + ASIDE
        high = np.where(~into, np.inf, np.where(~out, -edge, edge)) - ASIDE
        top = np.array(task.step.v_max)
        speed = [np.clip(bound, -top, top).ravel() * task.dt for bound in (low, high)]
        bounds = {
            name: np.concatenate([own, self.program.bounds[name][3 * N :]])
            for name, own in zip(("lbg", "ubg"), speed)
        }
        lines = np.zeros((N, 3)) if self.pressed else self._lines(v, F)
        p = np.array(told["p"]) * 1e-7 if self.pressed else []
        return self.program.call(
            np.concatenate([q, s.T.ravel(), p]),
            np.concatenate([out.ravel(), into.ravel(), lines.ravel()]).astype(float),
            **bounds,
        )

    def _lines(self, v, F) -> np.ndarray:
        from workbench.planning.pressures import pressures

        supply = self.task.supply
        return np.stack(
            supply.lines(pressures(v.T, F.T, self.task.step.areas, supply.back, supply.creep)), 1
        )
