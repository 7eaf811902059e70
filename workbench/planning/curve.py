"""A crane's motion along a curve (r(σ), q_3(σ)): pistons and forces with their slopes, limits as rows in σ̈ and σ̇².

    ẋ = x' σ̇        ẍ = x'' σ̇² + x' σ̈        F = F_0 + F_2 σ̇² + F_1 σ̈

with F_0 the forces at rest, F_1 = H q', F_2 = H q'' + C(q, q') q'. z = d²q_3/dσ².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import casadi as ca
import numpy as np

from workbench.contract.parameters import bind, graph_key, leaves
from workbench.numerics.calculus import check_constants, directional
from workbench.numerics.expressions import symbols
from workbench.numerics.mapped import Mapped
from workbench.planning.pressures import flows
from workbench.planning.task import Task
from workbench.planning.ways import Way

LIMITS = (
    *(f"{what} {i}" for what in ("speed", "acceleration") for i in range(3)),
    "pump flow",
    "pump pressure",
)
_made: dict = {}


def moved(crane: Any, weighed: bool, r, dr, ddr, q_3, p, z) -> list:
    """[x (3), x' (3), x'' (3), q_1, q_2] and, where weighed, [F_0 (3), F_1 (3), F_2 (3)]: text over expressions."""
    q, dq, ddq = crane.motion(r, dr, ddr, q_3, p, z)
    pace = lambda s: [lever * rate for lever, rate in zip(crane.levers(s[:3]), s[3:])]
    found = [
        *crane.pistons(q),
        *pace([*q, *dq]),
        *directional(pace, [*q, *dq], [*dq, *ddq]),
        q[0],
        q[1],
    ]
    if weighed:
        rest = [0.0] * 3
        F = [crane.forces(q, *way) for way in ((rest, rest), (rest, dq), (dq, ddq))]
        found += [*F[0], *(b - a for a, b in zip(F[0], F[1])), *(b - a for a, b in zip(F[0], F[2]))]
    return found


def graph(crane: Any, weighed: bool) -> tuple[ca.Function, Mapped, list]:
    """`moved` as a function of a row (r, r', r'', q_3, p, z) and the crane's numbers, compiled, and the numbers' paths."""
    key = (graph_key(crane), weighed)
    if key not in _made:
        free = [leaf for leaf in leaves(crane) if not leaf.constant]
        P, entries = symbols("P", len(free))
        bound = bind(crane, {leaf.path: e for leaf, e in zip(free, entries)})
        s, v = symbols("s", 9)
        f = ca.Function(
            "moved",
            [s, P],
            [ca.cse(ca.vertcat(*moved(bound, weighed, v[0:2], v[2:4], v[4:6], *v[6:9])))],
        )
        check_constants(f, f"motion of {crane.name}")
        _made[key] = (f, Mapped(f), [leaf.path for leaf in free])
    return _made[key]


def numbers(crane: Any, paths: list) -> np.ndarray:
    """The crane's numbers in order of the paths."""
    at = {leaf.path: leaf.value for leaf in leaves(crane)}
    return np.array([at[path] for path in paths], float)


class Table(NamedTuple):
    """Of several points: x, x', x'' (N, 3), q (N, 3), F_0, F_1, F_2 (N, 3) or None."""

    x: np.ndarray
    dx: np.ndarray
    ddx: np.ndarray
    q: np.ndarray
    forces: tuple | None


def table(crane: Any, weighed: bool, at: np.ndarray, q_3, p, z) -> Table:
    """at (3, N, 2): r, r', r''."""
    _, f, paths = graph(crane, weighed)
    made = f(np.column_stack([at[0], at[1], at[2], q_3, p, z]), numbers(crane, paths))
    F = (made[:, 11:14], made[:, 14:17], made[:, 17:20]) if weighed else None
    return Table(made[:, :3], made[:, 3:6], made[:, 6:9], np.column_stack([made[:, 9:11], q_3]), F)


def weighed(task: Task) -> bool:
    """Whether a limit of the task asks for forces."""
    return task.step.highest is not None


def hermite(q, q_1, p, p_1, Δ):
    """Second derivatives at both ends of the cubic with these values and slopes."""
    rise = 6 * (q_1 - q) / Δ
    return (rise - 4 * p - 2 * p_1) / Δ, (2 * p + 4 * p_1 - rise) / Δ


class Held(NamedTuple):
    """Pressure that a cylinder's force asks of the pump: slope F + offset, F out (first) or in, plus `more` Q² of them all."""

    slope: np.ndarray
    offset: np.ndarray
    more: float


def held(task: Task) -> Held:
    """Read from the supply's own text: one cylinder at a time, hardly moving; and without load, at one m/s."""
    needed = task.step.needed
    areas = task.step.areas
    n = len(task.step.areas)
    idle = [0.0] * n
    base = float(needed(idle, idle))
    fast = [1.0] * n
    more = (float(needed(fast, idle)) - base) / sum(flows(fast, areas)) ** 2
    slope = np.empty((2, n))
    offset = np.empty((2, n))
    for i in range(n):
        for side, sign in enumerate((1.0, -1.0)):
            only = lambda value, i=i: [value if k == i else 0.0 for k in range(n)]
            one, two = (float(needed(only(1e-9 * sign), only(sign * F))) for F in (1e8, 2e8))
            slope[side, i], offset[side, i] = (two - one) / 1e8, 2 * one - two
    return Held(slope, offset, more)


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """q_3(σ) on n equal intervals an edge: values q and slopes p at the E n + 1 nodes, a cubic in between.

    σ = width τ on every edge: the widths (E,) let σ̇ be smooth across a corner, where the tip rests and q_3 may go on.
    """

    task: Task
    way: Way
    widths: np.ndarray
    q: np.ndarray
    p: np.ndarray

    @property
    def n(self) -> int:
        """Intervals an edge."""
        return (len(self.q) - 1) // len(self.widths)

    @cached_property
    def edge(self) -> np.ndarray:
        """(N,) of every interval."""
        return np.repeat(np.arange(len(self.widths)), self.n)

    @cached_property
    def Δ(self) -> np.ndarray:
        """(N,) lengths of the intervals in σ."""
        return (self.widths / self.n)[self.edge]

    @cached_property
    def bends(self) -> tuple[np.ndarray, np.ndarray]:
        """(N,) d²q_3/dσ² where an interval begins, and where it ends."""
        return hermite(self.q[:-1], self.q[1:], self.p[:-1], self.p[1:], self.Δ)

    def at(self, k: np.ndarray, share: np.ndarray) -> tuple:
        """r, r', r'' (3, M, 2), q, p, z (M,) at the shares 0 … 1 of intervals k (M,)."""
        e, δ, (z, end) = self.edge[k], self.Δ[k] * share, self.bends
        r = (
            self.way.sample(e, (k % self.n + share) / self.n)
            / self.widths[e][None, :, None] ** np.arange(3)[:, None, None]
        )
        z, rise = z[k], (end[k] - z[k]) * share
        return (
            r,
            self.q[k] + (self.p[k] + (z + rise / 3) * δ / 2) * δ,
            self.p[k] + (z + rise / 2) * δ,
            z + rise,
        )

    def table(self, k: np.ndarray, share: np.ndarray) -> Table:
        """Pistons (and forces, where a limit needs them) there."""
        return table(self.task.crane, weighed(self.task), *self.at(k, share))

    def on(self, n: int) -> Curve:
        """The curve on n intervals an edge: the same where n is a multiple, else through its values and slopes."""
        place = np.arange(len(self.widths) * n + 1) * (self.n / n)
        k = np.minimum((place + 1e-9).astype(int), len(self.Δ) - 1)
        _, q, p, _ = self.at(k, place - k)
        return Curve(self.task, self.way, self.widths, q, p)

    @cached_property
    def tables(self) -> tuple[Table, Table]:
        """At the beginning and at the end of every interval."""
        k = np.arange(len(self.Δ))
        return self.table(k, np.zeros(len(k))), self.table(k, np.ones(len(k)))

    @cached_property
    def asked(self) -> np.ndarray:
        """(N, 6): whether the pump must hold a cylinder's force out, and in, somewhere in an interval."""
        # a load that sinks asks too, below a speed: taken for all speeds.
        always = self.task.supply.creep > 0
        out, back = (
            np.any([sign * t.dx > 0 for t in self.tables], axis=0) | always for sign in (1, -1)
        )
        return np.concatenate([out, back], axis=1)

    @cached_property
    def loads(self) -> tuple[np.ndarray, np.ndarray]:
        """(N, 6) each, cylinders out and in: pump pressure that the load at rest asks for, over the highest; how fast they go."""
        h = held(self.task)
        top = self.task.step.highest
        signs = np.array([1.0, -1.0])[:, None, None]
        need = [
            (signs * h.slope[:, None, :] * t.forces[0] + h.offset[:, None, :]) / top
            for t in self.tables
        ]
        pace = [signs * t.dx for t in self.tables]
        return tuple(np.concatenate(list(np.max(both, axis=0)), axis=1) for both in (need, pace))

    def rows(self, tight: dict | None = None) -> np.ndarray:
        """(N, m, 3) for `phase_plane`: every limit at both ends of every interval, in (σ̈, σ̇² at its beginning), over its value.

        tight: name of a limit → by how much it is taken smaller.
        """
        begin, end = (self._limits(t, tight or {}) for t in self.tables)
        end[:, :, 0] += 2 * self.Δ[:, None] * end[:, :, 1]  # there σ̇² is b + 2 Δ σ̈
        return np.concatenate([begin, end], axis=1)

    def _limits(self, t: Table, tight: dict) -> np.ndarray:
        step = self.task.step
        made = []
        room = {name: 1.0 / tight.get(name, 1.0) for name in LIMITS}
        zero = np.zeros(len(t.x))
        flow = sum(flows(t.dx.T, step.areas))
        for i, c in enumerate(self.task.crane.cylinders):
            made.append((zero, (t.dx[:, i] / c.v_max) ** 2, room[f"speed {i}"] ** 2 + zero))
            for sign in (1, -1):
                made.append(
                    (
                        sign * t.dx[:, i] / c.a_max,
                        sign * t.ddx[:, i] / c.a_max,
                        room[f"acceleration {i}"] + zero,
                    )
                )
        if step.Q_max is not None:
            made.append((zero, (flow / step.Q_max) ** 2, room["pump flow"] ** 2 + zero))
        if t.forces is not None:
            made += self._pressures(t, flow, room["pump pressure"])
        return np.stack([np.stack(row, axis=1) for row in made], axis=1)

    def _pressures(self, t: Table, flow: np.ndarray, room: float) -> list:
        h = held(self.task)
        top = self.task.step.highest
        made = []
        for side, sign in enumerate((1, -1)):
            for i in range(3):
                F_0, F_1, F_2 = (sign * h.slope[side, i] * f[:, i] / top for f in t.forces)
                row = (F_1, F_2 + h.more * flow**2 / top, room - h.offset[side, i] / top - F_0)
                made.append(
                    tuple(
                        np.where(self.asked[:, 3 * side + i], v, idle)
                        for v, idle in zip(row, (0.0, 0.0, 1.0))
                    )
                )
        return made
