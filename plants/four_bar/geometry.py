"""Geometry of the four-bar: how its loop closes, how long its cylinder is; equations in `plants.four_bar.linkage`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Pose(NamedTuple):
    """Directions a_2, a_3 of coupler and rocker at a crank angle."""

    a_2: object
    a_3: object


def gap(p, z_1):
    """E − L_1 e(z_1) and its length, m."""
    x = p.L_0 - p.L_1 * np.cos(z_1)
    y = -p.L_1 * np.sin(z_1)
    return x, y, np.sqrt(x * x + y * y)


def span(p) -> tuple[float, float]:
    """Least and largest distance that coupler and rocker can bridge, m."""
    return abs(p.L_2 - p.L_3), p.L_2 + p.L_3


def pose(p, z_1) -> Pose:
    """The pose of the four-bar `p` in its branch."""
    x, y, d = gap(p, z_1)
    δ = np.arctan2(y, x)
    at_coupler = (d * d + p.L_2**2 - p.L_3**2) / (2.0 * d * p.L_2)
    at_rocker = (d * d + p.L_3**2 - p.L_2**2) / (2.0 * d * p.L_3)
    side = 1.0
    if p.branch == "below":
        side = -1.0
    return Pose(
        a_2=δ + side * np.arccos(at_coupler),
        a_3=δ - side * np.arccos(at_rocker),
    )


def length(p, z_1):
    """s [m]."""
    sides = p.x_F * p.x_F + p.x_G * p.x_G
    between = 2.0 * p.x_F * p.x_G * np.cos(z_1)
    return np.sqrt(sides + between)


def lever(p, z_1):
    """ds/dz_1 [m]."""
    return -p.x_F * p.x_G * np.sin(z_1) / length(p, z_1)


def crank_range(p) -> tuple[float, float]:
    """Crank angles at which the cylinder is inside its stroke and the loop closes, on the start's side of the dead points."""
    shortest, longest = p.circuit.range
    nearest, farthest = span(p)
    extended = _at_length(p, longest)
    retracted = _at_length(p, shortest)
    least = max(extended, _at_gap(p, nearest))
    most = min(retracted, _at_gap(p, farthest))
    if p.z_10 > 0:
        return least, most
    return -most, -least


def _at_length(p, s) -> float:
    """Crank angle, 0 to π, at a length s of the cylinder."""
    opposite = s * s - p.x_F**2 - p.x_G**2
    return _arccos(opposite / (2 * p.x_F * p.x_G))


def _at_gap(p, d) -> float:
    """Crank angle, 0 to π, at which the coupler's pin is d from E."""
    opposite = p.L_0**2 + p.L_1**2 - d * d
    return _arccos(opposite / (2 * p.L_0 * p.L_1))


def _arccos(cosine) -> float:
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))
