"""How far a mechanism's loops are from closed, and how that changes with its joints, on numbers.

An assembly asks for both a hundred times, and a search for starts asks for a hundred assemblies. Both depend on joints and loops
alone, so that mechanisms which differ in their start, their bodies' masses or their drives share one graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from plants.multibody import loops, tree
from workbench.numerics.on_numbers import on_numbers


class Joint(NamedTuple):
    """Of a body: what poses depend on."""

    joint: str
    point: tuple[float, ...]
    axis: tuple[float, ...]


def equations(mechanism, z: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """(Φ, Φ_z) of all rows at positions z, redundant rows too: (rows,) and (rows, rates)."""
    T = mechanism.tree
    if not mechanism.loops:
        return np.zeros(0), np.zeros((0, T.n_v))
    joints = tuple(Joint(b.joint, tuple(b.point), tuple(b.axis)) for b in mechanism.bodies)
    found, slopes = _graph(T, joints, mechanism.loops, tuple(mechanism.cuts))(z)
    return found, slopes.reshape(-1, T.n_v)


@lru_cache(maxsize=64)
def _graph(T: tree.Tree, joints, cut_loops, cuts) -> Callable[..., list[np.ndarray]]:
    """z → [Φ, Φ_z row by row]."""

    def both(z):
        motion = tree.move(joints, T, z, None)
        rows = loops.all_rows(cut_loops, cuts, motion)
        table = loops.jacobian(T, rows, motion.b)
        return [row.value for row in rows], [entry for line in table for entry in line]

    return on_numbers(both, T.n_z)
