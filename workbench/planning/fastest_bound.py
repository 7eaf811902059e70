"""A lower bound of the time that any motion along a path takes: relaxations that every motion within the limits satisfies.

Speed of the tip. Out of rest at a corner, ṡ² = e obeys de/ds ≤ 2 α(s, ṡ), α the largest s̈ that any extension, any speed and any
acceleration of it leave within the cylinders' limits. So e stays below the solution of de/ds = 2 α, forwards from one corner and
backwards from the next, and below what the cylinders' speeds allow anywhere.

Path of the extension. From one place on the path to another, however the extension moves, a piston takes |Δx|/v_max and the
pump Σ A Δx/Q_max; the extension is somewhere in a cell at every place, and the next step begins in the cell where the last ended.
The shortest way from cell to cell, each step the largest of these times and the tip's own, is the bound.

Between the samples of extension and speed the limits are moved out by what half a cell may change; pressures are not asked.
Floating point and sampled slopes: numerical.
"""

from __future__ import annotations

import numpy as np

from workbench.planning.curve import table
from workbench.planning.fastest_grid import places, step_times
from workbench.planning.task import Task
from workbench.planning.ways import Way

STEPS, CELLS = 8, 1040  # an edge; over the stroke
FINE = 12  # parts of a step at which the tip's speed is followed
SAMPLES, SPEEDS = 66, 41  # of the extension, of its speed
MOST = 10.0  # times the extension's own speed and acceleration: more than the tip has
OUT = 1.02  # times the largest acceleration found: what it may be between two places on the path


def lower_bound(task: Task, way: Way, steps: int = STEPS, cells: int = CELLS) -> float:
    """s; no motion within the limits of speeds, accelerations, joints and flow is faster."""
    tip = np.concatenate([_tip_times(task, way, e, steps) for e in range(len(way.edges))])
    q_3 = np.linspace(*task.ranges[2], cells + 1)
    X, allowed = places(task, way, steps, q_3)
    low = np.minimum(X[..., 1:], X[..., :-1])
    high = np.maximum(X[..., 1:], X[..., :-1])
    bend = (
        np.abs(np.diff(X, n=2, axis=2)).max(axis=2, initial=0.0)[..., None] / 4
    )  # twice what a parabola leaves its chord by
    low = low - bend
    high = high + bend
    near = np.pad(allowed, ((0, 0), (1, 1)))
    open_ = (
        near[:, :-3] | near[:, 1:-2] | near[:, 2:-1] | near[:, 3:]
    )  # a cell, or one beside it, has an end within reach
    width = q_3[1] - q_3[0]
    holds = lambda q: (q_3[:-1] - 1e-9 <= q) & (q <= q_3[:-1] + width + 1e-9)
    open_[0] &= holds(task.start)
    if task.end is not None:
        open_[-1] &= holds(task.end)
    J = np.where(open_[-1], 0.0, np.inf)
    for k in range(len(tip) - 1, -1, -1):
        out = np.maximum(low[k + 1][:, None, :] - high[k][:, :, None], 0.0)
        back = np.maximum(low[k][:, :, None] - high[k + 1][:, None, :], 0.0)
        J = (np.maximum(step_times(task, out - back), tip[k]) + J).min(axis=1)
        J[~open_[k]] = np.inf
    return float(J.min())


def _tip_times(task: Task, way: Way, e: int, steps: int) -> np.ndarray:
    """(steps,) s that every step of an edge takes at least, by the tip's own speed."""
    n = steps * FINE
    l = way.lengths[e]
    τ = np.arange(n + 1) / n
    s = ℓ * τ * τ * (3 - 2 * τ)
    slopes = [_Slopes.at(task, way.edges[e][0], here) for here in s]
    v = np.array([here.speed() for here in slopes])
    Δ = np.diff(s)
    ahead = _risen(slopes, v, Δ)
    back = _risen(slopes[::-1], v[::-1], Δ[::-1])[::-1]
    free = Δ / np.maximum(v[1:], v[:-1]) / OUT
    return np.max([ahead, back, free], axis=0).reshape(steps, FINE).sum(axis=1)


def _risen(slopes: list, v: np.ndarray, Δ: np.ndarray) -> np.ndarray:
    """(N,) s of every part, out of rest as fast as any extension lets the tip gain speed."""
    e = 0.0
    made = []
    for here, then, top, δ in zip(slopes, slopes[1:], v[1:], Δ):
        gain = 2 * OUT * max(here.acceleration(np.sqrt(e)), then.acceleration(np.sqrt(e)), 0.0) * δ
        made.append(2 * δ / max(np.sqrt(e) + np.sqrt(e + gain), 1e-12))
        e = min(e + gain, (OUT * top) ** 2)
    return np.array(made)


class _Slopes:
    """ẋ = f ṡ + g u, ẍ = f s̈ + g w + A ṡ² + B ṡ u + C u² of all pistons at one place, for SAMPLES extensions: arrays (n, 3)."""

    def __init__(self, task: Task, f, g, A, B, C):
        self.f, self.g, self.A, self.B, self.C = f, g, A, B, C
        self.v, self.a = (
            np.array([getattr(c, name) for c in task.crane.cylinders])
            for name in ("v_max", "a_max")
        )
        self.u = np.linspace(-self.v[2], self.v[2], SPEEDS)

    @classmethod
    def at(cls, task: Task, edge, s: float) -> _Slopes:
        """At the length s of an edge; places no extension reaches are left out."""
        r = np.array([edge(s), edge(s, nu=1), edge(s, nu=2)])
        q_3 = np.linspace(*task.ranges[2], SAMPLES)
        step = q_3[1] - q_3[0]
        q = np.broadcast_arrays(*task.crane.joints(list(r[0]), q_3))
        near = np.abs(task.crane.stretch(list(r[0]), q_3)) < 1
        for value, (low, high) in zip(q, task.ranges):
            slack = np.abs(np.gradient(value, step)) * step
            near = near & (value >= low - slack) & (value <= high + slack)
        at = q_3[near]
        rows = lambda pace: np.repeat(
            r[:, None, :] * np.array([1.0, pace, pace**2])[:, None, None], len(at), axis=1
        )
        along, both, only = (
            table(task.crane, False, rows(pace), at, np.full(len(at), u), 0.0 * at)
            for pace, u in ((1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
        )
        return cls(task, along.dx, only.dx, along.ddx, both.ddx - along.ddx - only.ddx, only.ddx)

    def speed(self) -> float:
        """Largest ṡ within the cylinders' speeds."""
        zero = np.zeros((len(self.f), 1, 2))
        slack = _between(self.f) * MOST * self.v[2] + _between(self.g) * self.v[2]
        return _most(self.f, self.g, zero, self.v[:2] + slack[:, None, :], self.v[2])

    def acceleration(self, pace: float) -> float:
        """Largest s̈ within the cylinders' accelerations at this ṡ, −inf where their speeds do not allow it."""
        u = self.u[None, :, None]
        v = self.f[:, None, :] * pace + self.g[:, None, :] * u
        h = self.A[:, None, :] * pace**2 + self.B[:, None, :] * pace * u + self.C[:, None, :] * u**2
        loose = lambda x: _between(x) + _between(x.transpose(1, 0, 2)).transpose(1, 0, 2)
        able = (np.abs(v) <= self.v + loose(v)).all(axis=2)
        slack = (
            loose(h[:, :, :2])
            + (_between(self.f) * MOST * self.a[2] + _between(self.g) * self.a[2])[:, None, :]
        )
        return _most(self.f, self.g, h[:, :, :2], self.a[:2] + slack, self.a[2], able)


def _between(x: np.ndarray) -> np.ndarray:
    """By how much entries may differ from what lies within half a step of them, along the first axis; two pistons."""
    d = np.abs(np.diff(x[..., :2] if x.ndim == 2 else x, axis=0))
    pad = [(1, 0)] + [(0, 0)] * (d.ndim - 1), [(0, 1)] + [(0, 0)] * (d.ndim - 1)
    return np.maximum(*(np.pad(d, p) for p in pad)) / 2


def _most(f, g, h, room, top: float, able=None) -> float:
    """max y over |f_i y + g_i w + h_i| ≤ room_i (i = 0, 1), |w| ≤ top, for all rows at once: the best of their vertices."""
    f = f[:, None, :2]
    g = g[:, None, :2]
    f = np.where(np.abs(f) < 1e-9, 1e-9, f)
    up, low = (sign * room * np.sign(f) - h for sign in (1, -1))  # y = (edge − g w)/f
    lines = [(up[..., 0], up[..., 1]), (up[..., 0], low[..., 1]), (low[..., 0], up[..., 1])]
    D = f[..., 0] * g[..., 1] - f[..., 1] * g[..., 0]
    D = np.where(np.abs(D) < 1e-12, 1e-12, D)
    crossings = [(f[..., 0] * b - f[..., 1] * a) / D for a, b in lines]
    best = np.full(np.broadcast_shapes(up.shape[:2], f.shape[:2]), -np.inf)
    for w in (top, -top, *crossings):
        w = np.clip(w, -top, top)
        y_up = ((up - g * w[..., None] if np.ndim(w) else up - g * w) / f).min(axis=-1)
        y_low = ((low - g * w[..., None] if np.ndim(w) else low - g * w) / f).max(axis=-1)
        best = np.maximum(best, np.where(y_low <= y_up + 1e-9, y_up, -np.inf))
    return float(np.max(best if able is None else np.where(able, best, -np.inf)))
