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
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.planning.baselines import limited
from workbench.planning.dynamic import Plan, energy, motion, unpressed
from workbench.planning.rows import SPEED, _program, _pump_limits, _rounded, _scale, _steps
from workbench.planning.supplies import PlannedConstantPressure, TwoPressures
from workbench.planning.task import BIG, Task

# Times SPEED: starting narrower, or falling faster, ends 5 to 15 % higher.
WIDTHS = (30.0, 10.0, 4.0, 1.5)
MOST = 150  # iterations of a rounded program on the way to sides; what it has then is where the next starts
ASIDE = 1e-7  # m/s, how far from its jump a cylinder stays on its side


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
    programs = _Programs.of(task, most)
    rng = np.random.default_rng(seed)
    found = []
    plans = []
    for _ in range(starts):
        ways = programs.ways(_start(task, rng))
        needed = [energy(loosened, q) for q, _ in ways]
        least = min(range(len(needed)), key=needed.__getitem__)
        q, stats = ways[least]
        found.append(Start(needed[least], stats["return_status"], stats["iter_count"]))
        plans.append(Plan(task, q, needed[least], "direct transcription"))
    # A plan that needs BIG is beyond the limits, whatever the solver thinks.
    best = min(plans, key=lambda plan: plan.energy, default=None)
    if best is None or not best.energy < BIG:
        raise InputError(
            f"no start of the direct transcription ended within the limits: "
            f"{', '.join(sorted({s.status for s in found}))}",
            mend="give more starts, or use dynamic programming",
        )
    return best, tuple(found)


class _Programs(NamedTuple):
    """The programs that a start goes through: with rounded corners, then on the sides of those where oil is drawn."""

    task: Task
    rounded: Any
    sides: Sides | None

    @classmethod
    def of(cls, task: Task, most: int) -> _Programs:
        supply = task.supply
        sides = Sides(task, most or 1000) if supply.draws else None
        oil = isinstance(supply, PlannedConstantPressure) and supply.map is None
        if oil and not task.step.needs_forces:  # nothing has corners
            return cls(task, None, sides)
        return cls(task, _rounded(task, most or (MOST if sides else 1000)), sides)

    def ways(self, q: np.ndarray) -> list[tuple[np.ndarray, dict]]:
        """(extensions, the solver's word) at the end of each program, begun at q."""
        ended = []
        if self.rounded is not None:
            for width in WIDTHS:
                q = self.rounded.call(q, width * SPEED)
            ended.append((_held(self.task, q), self.rounded.f.stats()))
        if self.sides is not None:
            q = self.sides.solve(q)
            ended.append((_held(self.task, q), self.sides.program.f.stats()))
        return ended


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


# ---- given sides --------------------------------------------------------------------------------------------------------
class Sides:
    """The exact program of a task for given sides of its cylinders: which ask for pressure pushing or pulling, from which line."""

    def __init__(self, task: Task, most: int):
        N = task.steps
        step = task.step
        supply = task.supply
        self.task, made = task, _steps(task)
        rows = made.rows
        cost = 0.0
        self.pressed = step.needs_forces and not isinstance(supply, TwoPressures)
        # litres, 100 bar
        s = ca.SX.sym("s", 3 * N)
        p = ca.SX.sym("p", N if self.pressed else 0)
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
                    task if self.pressed else replace(task, supply=PlannedConstantPressure()),
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
        task = self.task
        supply = self.task.supply
        N = self.task.steps
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
        v = told["v"]
        F = told["F"]
        edge = supply.creep
        out = v > np.where(F > 0, -edge, edge)
        into = v < np.where(F > 0, -edge, edge)
        if edge > 0:
            # both within it
            out = v > -edge
            into = v < edge
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
