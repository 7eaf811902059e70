"""A time law along a curve: where the crane is at which instant, what is used of every limit, and the fastest that passes none.

Source: [Pham18], [Verscheure09] for the time law along a curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.planning.curve import LIMITS, Curve, weighed
from workbench.planning.phase_plane import fastest_along, spent
from workbench.planning.pressures import flows
from workbench.planning.task import Task
from workbench.run.sampling import sample_times

ROUNDING = 1e-10  # by which a limit that is passed is taken smaller still
INSTANTS = 7  # instants of an interval of the time law at which limits are asked


class Used(NamedTuple):
    """A limit and the most that is used of it: over what is allowed (1 is just allowed), at t (s)."""

    name: str
    share: float
    t: float


@final
@dataclass(frozen=True, eq=False)
class Law:
    """σ(t) along a curve: b = σ̇² (N+1,) at the nodes, σ̈ constant in between."""

    curve: Curve
    b: np.ndarray

    @cached_property
    def times(self) -> np.ndarray:
        """(N+1,) s at the nodes."""
        return np.concatenate([[0.0], np.cumsum(spent(self.b, self.curve.Δ))])

    @property
    def time(self) -> float:
        """All of it, s."""
        return float(self.times[-1])

    def state(self, t: np.ndarray) -> tuple:
        """(interval, share of it, σ̇, σ̈) at the times t (M,), s."""
        Δ = self.curve.Δ
        root = np.sqrt(self.b)
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(Δ) - 1)
        push = np.diff(self.b)[k] / 2 / Δ[k]
        τ = np.clip(t - self.times[k], 0.0, np.diff(self.times)[k])
        return k, np.clip((root[k] + push * τ / 2) * τ / Δ[k], 0.0, 1.0), root[k] + push * τ, push

    def tip(self, t: np.ndarray) -> np.ndarray:
        """(3, M, 2): position, velocity, acceleration of the tip."""
        k, share, pace, push = self.state(t)
        r = self.curve.at(k, share)[0]
        pace = pace[:, None]
        push = push[:, None]
        return np.stack([r[0], r[1] * pace, r[2] * pace**2 + r[1] * push])

    def extension(self, t: np.ndarray) -> np.ndarray:
        """(M,) q_3, m."""
        k, share, *_ = self.state(t)
        return self.curve.at(k, share)[1]

    @cached_property
    def shares(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(t (M,), limit → what is used of it (M,), 1 is just allowed), INSTANTS an interval, its ends from both sides.

        Joints: how far beyond their range, over its length, plus one.
        """
        task = self.curve.task
        Δ = self.curve.Δ
        N = len(self.curve.Δ)
        k = np.repeat(np.arange(N), INSTANTS)
        part = np.tile(np.linspace(0.0, 1.0, INSTANTS), N)
        # σ̇² rises evenly in σ.
        b = self.b[k] + np.diff(self.b)[k] * part
        push = (np.diff(self.b) / 2 / Δ)[k]
        t = self.times[k] + 2 * Δ[k] * part / np.maximum(np.sqrt(self.b[k]) + np.sqrt(b), 1e-300)
        at = self.curve.table(k, part)
        v = at.dx * np.sqrt(b)[:, None]
        a = at.ddx * b[:, None] + at.dx * push[:, None]
        found = {}
        for i, c in enumerate(task.crane.cylinders):
            found[f"speed {i}"], found[f"acceleration {i}"] = (
                np.abs(v[:, i]) / c.v_max,
                np.abs(a[:, i]) / c.a_max,
            )
        if task.Q_max is not None:
            found["pump flow"] = sum(flows(v.T, task.step.areas)) / task.Q_max
        if weighed(task):
            F = at.forces[0] + at.forces[1] * push[:, None] + at.forces[2] * b[:, None]
            found["pump pressure"] = task.step.needed(v.T, F.T) / task.step.highest
        for i, (low, high) in enumerate(task.ranges):
            found[f"joint {i}"] = 1 + np.maximum(low - at.q[:, i], at.q[:, i] - high) / (high - low)
        return t, found

    def used(self, task: Task | None = None) -> tuple[Used, ...]:
        """Of every limit the most that is used; of another task's limits, where one is given."""
        law = self if task is None else replace(self, curve=replace(self.curve, task=task))
        t, found = law.shares
        return tuple(
            Used(name, float(s.max()), float(t[int(np.argmax(s))])) for name, s in found.items()
        )


@final
@dataclass(frozen=True, eq=False)
class Timed:
    """The tip's path under a time law, as a reference of two derivatives; the second jumps."""

    law: Law
    space = "cartesian"

    @property
    def duration(self) -> float:
        """s."""
        return self.law.time

    def sample(self, t, order: int) -> np.ndarray:
        """(order+1, N, 2)."""
        t, order = sample_times(t, order)
        if order > 2:
            raise InputError(
                "a motion of least time has two derivatives",
                mend="write it with --csv and read that: a spline",
            )
        moving = ((t >= 0) & (t < self.duration))[None, :, None]
        made = self.law.tip(np.clip(t, 0.0, self.duration))
        made[1:] *= moving
        return made[: order + 1]


def time_law(curve: Curve) -> Law:
    """The fastest along a curve that passes no limit between its nodes either; InputError where none goes on."""
    tight = {}
    for _ in range(12):
        rows = curve.rows(tight)
        if (stuck := np.flatnonzero((rows[:, :, 2] < 0).any(axis=1))).size:
            raise held_back(curve, int(stuck[0]))
        law = Law(curve, fastest_along(rows, curve.Δ))
        if not np.isfinite(law.time):
            raise held_back(curve, int(np.argmin(law.b)))
        if any(u.name.startswith("joint") and u.share > 1 + 1e-9 for u in law.used()):
            raise InputError(
                "no motion was found: a joint leaves its range between the nodes",
                key="path",
                mend="give more starts, or move the path away from the ends of the strokes",
            )
        passed = {u.name: u.share for u in law.used() if u.name in LIMITS and u.share > 1}
        if not passed:
            break
        tight |= {
            name: tight.get(name, 1.0) * share * (1 + ROUNDING) for name, share in passed.items()
        }
    return law


def held_back(curve: Curve, k: int) -> InputError:
    """Where along a curve even the slowest motion passes the pump's pressure."""
    x, y = curve.at(np.array([k]), np.zeros(1))[0][0, 0]
    return InputError(
        f"no motion was found, however slow: near ({x:.4g}, {y:.4g}) m the pump pressure would be passed at rest",
        key="limits.pressure",
        mend="raise the pressure, lighten the load or move this part of the path",
    )
