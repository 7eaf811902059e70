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
from workbench.planning.fastest.grid import places, step_times
from workbench.planning.task import Task
from workbench.planning.ways import Way

STEPS, CELLS = 8, 1040  # an edge; over the stroke
FINE = 12  # parts of a step at which the tip's speed is followed
SAMPLES, SPEEDS = 66, 41  # of the extension, of its speed
MOST = 10.0  # times the extension's own speed and acceleration: more than the tip has
OUT = 1.02  # times the largest acceleration found: what it may be between two places on the path


def lower_bound(task: Task, way: Way, steps: int = STEPS, cells: int = CELLS) -> float:
    """s; no motion within the limits of speeds, accelerations, joints and flow is faster."""
    edges = range(len(way.edges))
    tip = np.concatenate([_tip_times(task, way, edge, steps) for edge in edges])
    extensions = np.linspace(*task.ranges[2], cells + 1)
    positions, allowed = places(task, way, steps, extensions)
    low, high = _within_cells(positions)
    open_cells = _open_cells(task, extensions, allowed)
    remaining = np.where(open_cells[-1], 0.0, np.inf)
    for k in reversed(range(len(tip))):
        after = k + 1
        way_there = _least_way(low[k], high[k], low[after], high[after])
        step = np.maximum(step_times(task, way_there), tip[k])
        remaining = (step + remaining).min(axis=1)
        remaining[~open_cells[k]] = np.inf
    return float(remaining.min())


def _least_way(low, high, next_low, next_high) -> np.ndarray:
    """The least way of every piston from each cell of one place to each of the next, signed; 0 where both have a position."""
    outwards = next_low[:, None, :] - high[:, :, None]
    backwards = low[:, :, None] - next_high[:, None, :]
    outwards = np.maximum(outwards, 0.0)
    backwards = np.maximum(backwards, 0.0)
    return outwards - backwards


def _within_cells(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest position of every piston in a cell, from those at the cell's ends."""
    after = positions[..., 1:]
    before = positions[..., :-1]
    curved = np.abs(np.diff(positions, n=2, axis=2))
    most_curved = curved.max(axis=2, initial=0.0)[..., None]
    bend = most_curved / 4  # twice what a parabola leaves its chord by
    low = np.minimum(after, before) - bend
    high = np.maximum(after, before) + bend
    return low, high


def _open_cells(task: Task, extensions: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Which cells an extension may be in at every place: one of their ends, or of a neighbour's, is within reach."""
    near = np.pad(allowed, ((0, 0), (1, 1)))
    cells = near.shape[1] - 3
    found = near[:, :cells]
    for shift in range(1, 4):
        found = found | near[:, shift : shift + cells]
    found[0] &= _cells_with(extensions, task.start)
    if task.end is not None:
        found[-1] &= _cells_with(extensions, task.end)
    return found


def _cells_with(extensions: np.ndarray, q_3: float) -> np.ndarray:
    """Which cells hold the extension q_3."""
    width = extensions[1] - extensions[0]
    begins = extensions[:-1]
    above = begins - 1e-9 <= q_3
    below = q_3 <= begins + width + 1e-9
    return above & below


def _tip_times(task: Task, way: Way, edge: int, steps: int) -> np.ndarray:
    """(steps,) s that every step of an edge takes at least, by the tip's own speed."""
    parts = steps * FINE
    share = np.arange(parts + 1) / parts
    along = way.lengths[edge] * share * share * (3 - 2 * share)
    curve = way.edges[edge][0]
    slopes = [_Slopes.at(task, curve, here) for here in along]
    fastest = np.array([here.speed() for here in slopes])
    parts_long = np.diff(along)
    ahead = _risen(slopes, fastest, parts_long)
    mirrored = (values[::-1] for values in (slopes, fastest, parts_long))
    back = _risen(*mirrored)[::-1]
    faster = np.maximum(fastest[1:], fastest[:-1])
    free = parts_long / faster / OUT
    least = np.max([ahead, back, free], axis=0)
    return least.reshape(steps, FINE).sum(axis=1)


def _risen(slopes: list, fastest: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """(N,) s of every part, out of rest as fast as any extension lets the tip gain speed."""
    squared = 0.0  # ṡ²
    times = []
    for here, then, top, length in zip(slopes, slopes[1:], fastest[1:], lengths):
        pace = np.sqrt(squared)
        steepest = max(here.acceleration(pace), then.acceleration(pace), 0.0)
        gained = squared + 2 * OUT * steepest * length
        both = pace + np.sqrt(gained)
        times.append(2 * length / max(both, 1e-12))
        squared = min(gained, (OUT * top) ** 2)
    return np.array(times)


class _Slopes:
    """ẋ = f ṡ + g u, ẍ = f s̈ + g w + A ṡ² + B ṡ u + C u² of all pistons at one place, for SAMPLES extensions: arrays (n, 3)."""

    def __init__(self, task: Task, f, g, A, B, C):
        self.f = f
        self.g = g
        self.A = A
        self.B = B
        self.C = C
        cylinders = task.crane.cylinders
        self.v = np.array([c.v_max for c in cylinders])
        self.a = np.array([c.a_max for c in cylinders])
        fastest = self.v[2]
        self.u = np.linspace(-fastest, fastest, SPEEDS)

    @classmethod
    def at(cls, task: Task, edge, s: float) -> _Slopes:
        """At the length s of an edge; places no extension reaches are left out."""
        derivatives = np.array([edge(s), edge(s, nu=1), edge(s, nu=2)])
        extensions = _reaching(task, list(derivatives[0]))
        many = len(extensions)

        def moved(pace: float, u: float):
            """All pistons while the tip moves at `pace` and the extension at u."""
            powers = np.array([1.0, pace, pace**2])
            place = derivatives[:, None, :] * powers[:, None, None]
            rows = np.repeat(place, many, axis=1)
            speed = np.full(many, u)
            unaccelerated = 0.0 * extensions
            return table(task.crane, False, rows, extensions, speed, unaccelerated)

        along = moved(1.0, 0.0)
        both = moved(1.0, 1.0)
        only = moved(0.0, 1.0)
        mixed = both.ddx - along.ddx - only.ddx
        return cls(task, along.dx, only.dx, along.ddx, mixed, only.ddx)

    def speed(self) -> float:
        """Largest ṡ within the cylinders' speeds."""
        nothing = np.zeros((len(self.f), 1, 2))
        fastest = self.v[2]
        room = self.v[:2] + self._slack(fastest)
        return _most(self.f, self.g, nothing, room, fastest)

    def acceleration(self, pace: float) -> float:
        """Largest s̈ within the cylinders' accelerations at this ṡ, −inf where their speeds do not allow it."""
        u = self.u[None, :, None]
        f, g, A, B, C = (x[:, None, :] for x in (self.f, self.g, self.A, self.B, self.C))
        v = f * pace + g * u
        h = A * pace**2 + B * pace * u + C * u**2
        within = np.abs(v) <= self.v + _around(v)
        able = within.all(axis=2)
        turning = h[:, :, :2]
        strongest = self.a[2]
        slack = _around(turning) + self._slack(strongest)
        room = self.a[:2] + slack
        return _most(self.f, self.g, turning, room, strongest, able)

    def _slack(self, largest: float) -> np.ndarray:
        """By how much f and g between samples may change what a piston does; largest: the extension's speed or acceleration."""
        by_tip = _between(self.f) * MOST * largest
        by_extension = _between(self.g) * largest
        return (by_tip + by_extension)[:, None, :]


def _reaching(task: Task, place: list) -> np.ndarray:
    """Samples of the extension at which the crane reaches a place, and those next to them."""
    extensions = np.linspace(*task.ranges[2], SAMPLES)
    step = extensions[1] - extensions[0]
    joints = np.broadcast_arrays(*task.crane.joints(place, extensions))
    near = np.abs(task.crane.stretch(place, extensions)) < 1
    for value, (low, high) in zip(joints, task.ranges):
        slack = np.abs(np.gradient(value, step)) * step
        near = near & (value >= low - slack)
        near = near & (value <= high + slack)
    return extensions[near]


def _between(x: np.ndarray) -> np.ndarray:
    """By how much entries may differ from what lies within half a step of them, along the first axis; two pistons."""
    pair = x[..., :2] if x.ndim == 2 else x
    steps = np.abs(np.diff(pair, axis=0))
    none = np.zeros((1, *steps.shape[1:]))
    before = np.concatenate([none, steps])
    after = np.concatenate([steps, none])
    return np.maximum(before, after) / 2


def _around(x: np.ndarray) -> np.ndarray:
    """As `_between`, along the first axis and the second."""
    turned = x.transpose(1, 0, 2)
    second = _between(turned).transpose(1, 0, 2)
    return _between(x) + second


def _most(f, g, h, room, top: float, able=None) -> float:
    """max y over |f_i y + g_i w + h_i| ≤ room_i (i = 0, 1), |w| ≤ top, for all rows at once: the best of their vertices."""
    f = f[:, None, :2]
    g = g[:, None, :2]
    f = np.where(np.abs(f) < 1e-9, 1e-9, f)
    edge = room * np.sign(f)
    up = edge - h  # y = (up − g w)/f
    low = -edge - h
    rows = np.broadcast_shapes(up.shape[:2], f.shape[:2])
    best = np.full(rows, -np.inf)
    crossings = _crossings(f, g, up, low)
    for vertex in (top, -top, *crossings):
        w = np.clip(vertex, -top, top)
        moved = g * w[..., None] if np.ndim(w) else g * w
        y_up = ((up - moved) / f).min(axis=-1)
        y_low = ((low - moved) / f).max(axis=-1)
        fits = y_low <= y_up + 1e-9
        best = np.maximum(best, np.where(fits, y_up, -np.inf))
    if able is not None:
        best = np.where(able, best, -np.inf)
    return float(np.max(best))


def _crossings(f, g, up, low) -> list[np.ndarray]:
    """w at which the edges of the two pistons' bands cross."""
    f_0 = f[..., 0]
    f_1 = f[..., 1]
    D = f_0 * g[..., 1] - f_1 * g[..., 0]
    D = np.where(np.abs(D) < 1e-12, 1e-12, D)
    edges = ((up, up), (up, low), (low, up))
    found = []
    for one, other in edges:
        crossed = f_0 * other[..., 1] - f_1 * one[..., 0]
        found.append(crossed / D)
    return found
