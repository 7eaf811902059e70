"""A tip's path as geometry: where it goes, not when.

    s(τ) = ℓ (3τ² − 2τ³) along an edge of length ℓ, τ = 0 … 1

Edges end where the path rests: at its ends and at its corners. There ds/dτ = 0, so that at a finite τ̇ the tip rests, and a constant
τ̇ accelerates it out of rest: neither τ̇ nor the time ∫ dτ/τ̇ has a singular point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from workbench.contract.errors import InputError

LOOKED = 2001  # instants of an edge at which the given path is read
KNOTS = 201  # of the spline over its length
# Share of the largest speed: where a recorded path is slower than this, and slowest, it rests.
RESTING = 0.01


@final
@dataclass(frozen=True, eq=False)
class Way:
    """The geometry of `path`, a Cartesian reference (x, y) that ends.

    Raises InputError where it goes nowhere.
    """

    path: Any

    def __post_init__(self):
        if not np.isfinite(self.path.duration) or self.path.duration <= 0 or not self.edges:
            raise InputError(
                "path: it has no end, or no length",
                key="path",
                mend="give a path that ends, like Waypoints",
            )

    @cached_property
    def edges(self) -> list[tuple[Any, float]]:
        """(r over the length as a spline, length in m) of every edge."""
        found = [_edge(self.path, a, b) for a, b in zip(self.rests, self.rests[1:])]
        return [edge for edge in found if edge is not None]

    @cached_property
    def rests(self) -> list[float]:
        """Instants (s) of the given path at which an edge begins or ends."""
        T = float(self.path.duration)
        speed = lambda t: np.linalg.norm(self.path.sample(np.asarray(t, float), 1)[1], axis=1)
        t = np.linspace(0.0, T, LOOKED)
        v = speed(t)
        slow = (
            np.flatnonzero(
                (v[1:-1] <= RESTING * v.max()) & (v[1:-1] <= v[:-2]) & (v[1:-1] <= v[2:])
            )
            + 1
        )
        jumps = [float(s) for s in self.path.jerk_jumps()[0] if 0 < s < T]
        jumps = [s for s in jumps if speed([s])[0] <= RESTING * v.max()]
        near = T / (LOOKED - 1)
        return [
            0.0,
            *sorted(jumps + [float(s) for s in t[slow] if all(abs(s - j) > near for j in jumps)]),
            T,
        ]

    @property
    def lengths(self) -> np.ndarray:
        """(E,) m."""
        return np.array([ℓ for _, ℓ in self.edges])

    def sample(self, edge, τ) -> np.ndarray:
        """(3, N, 2): r, dr/dτ, d²r/dτ² at τ (N,) of the edges (N,)."""
        made = np.empty((3, len(τ), 2))
        for e, (r, ℓ) in enumerate(self.edges):
            at = np.flatnonzero(edge == e)
            t = τ[at]
            s = ℓ * t * t * (3 - 2 * t)
            ds = 6 * ℓ * t * (1 - t)
            dds = 6 * ℓ * (1 - 2 * t)
            along = r(s, nu=1)
            bend = r(s, nu=2)
            made[0, at], made[1, at] = r(s), along * ds[:, None]
            made[2, at] = bend * (ds * ds)[:, None] + along * dds[:, None]
        return made


def _edge(path: Any, a: float, b: float):
    """The part of the path between two instants over its length; None for a pause."""
    from scipy.interpolate import CubicHermiteSpline, make_interp_spline

    t = np.linspace(a, b, LOOKED)
    v = np.linalg.norm(path.sample(np.minimum(t, b * (1 - 1e-15)), 1)[1], axis=1)
    if b - a <= 0 or v.max() < 1e-12:
        return None
    # Simpson, two steps at a time.
    pieces = (v[:-2:2] + 4 * v[1:-1:2] + v[2::2]) * (t[2] - t[0]) / 6
    length = np.concatenate([[0.0], np.cumsum(pieces)])
    if length[-1] < 1e-6:
        return None
    s = np.linspace(0.0, length[-1], KNOTS)
    at = np.interp(s, length, t[::2])
    passed = CubicHermiteSpline(t[::2], length, v[::2])
    for _ in range(4):  # Newton's steps make the length smooth in s
        at[1:-1] = np.clip(at - (passed(at) - s) / np.maximum(passed(at, 1), 1e-3 * v.max()), a, b)[
            1:-1
        ]
    return make_interp_spline(s, path.sample(at, 0)[0], k=5), float(length[-1])
