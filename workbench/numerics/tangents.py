"""A plant and its derivatives at many points at once, as compiled code: what a law that linearises along a path needs.

    ẋ = f(x, w) + A (x' − x) + B (w' − w),   y = g(x) + C (x' − x)

At a kink (a valve that changes sides, an end of its overlap) the derivative is that of one side: `off_edges` keeps points a hair
away from zero, where both sides of a valve meet; `opened` keeps them at a working opening, where inside an overlap nothing moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from workbench.contract.system import System
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.mapped import Mapped

HAIR = 1e-6  # share of what a stroke moves


class Tangent(NamedTuple):
    """f (N, n), A (N, n, n), B (N, n, m), y (N, p), C (N, p, n)."""

    f: np.ndarray
    A: np.ndarray
    B: np.ndarray
    y: np.ndarray
    C: np.ndarray

    @property
    def finite(self) -> bool:
        """Whether all of it is."""
        return all(np.isfinite(part).all() for part in self)


@dataclass(frozen=True, eq=False)
class Tangents:
    """Flow, outputs and their Jacobians of one plant; `live`: the inputs w they are functions of."""

    plant: System
    live: tuple[str, ...]
    traced: Traced
    c: np.ndarray
    both: Mapped
    seen: Mapped

    def __call__(self, x: np.ndarray, w: np.ndarray) -> Tangent:
        """At the points x (N, n), w (N, m)."""
        n = len(self.plant.states)
        m = len(self.live)
        p = len(self.plant.outputs)
        row = self.both(np.zeros((len(x), 1)), x, w, self.c)
        at = np.cumsum([n, n * n, n * m, p, p * n])
        f, A, B, y, C = np.split(row, at[:-1], axis=1)
        # Entries come column by column.
        turned = lambda M, rows: M.reshape(len(x), -1, rows).transpose(0, 2, 1)
        return Tangent(f, turned(A, n), turned(B, n), y, turned(C, p))

    def outputs(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(y (p,), C (p, n)) at one x."""
        p = len(self.plant.outputs)
        row = self.seen(np.zeros((1, 1)), x[None, :], np.zeros((1, len(self.live))), self.c)[0]
        return row[:p], row[p:].reshape(-1, p).T


_made: dict[int, Any] = {}  # a trace → it and its compiled derivatives


def derivatives(traced: Traced) -> tuple[ca.Function, ca.Function]:
    """Of (t, x, w, c): f, A, B, y, C in one column, each column by column; y and C alone."""
    arguments = [ca.SX.sym(traced.flow.name_in(i), traced.flow.size1_in(i)) for i in range(4)]
    _, x, w, _ = arguments
    f = traced.flow(*arguments)[: traced.n_states]
    y = traced.out(*arguments)
    flat = lambda *parts: ca.cse(ca.vertcat(*[ca.vec(ca.densify(part)) for part in parts]))
    C = ca.jacobian(y, x)
    both = flat(f, ca.jacobian(f, x), ca.jacobian(f, w), y, C)
    function = lambda e: ca.Function("tangent", arguments, [e])
    return function(both), function(flat(y, C))


def tangents(plant: System, live: Any) -> Tangents:
    """The derivatives of `plant` by its states and by its inputs `live`, with its numbers as arguments.

    They are compiled once for all plants of one graph.
    """
    traced = trace(plant, tuple(live))
    if id(traced) not in _made:
        _made[id(traced)] = (traced, *map(Mapped, derivatives(traced)))
    _, both, seen = _made[id(traced)]
    return Tangents(
        plant, tuple(live), traced, np.ascontiguousarray(traced.constants(plant)), both, seen
    )


def off_edges(points: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The points, zeros moved by a hair of `size`: a valve at rest is neither on one side nor on the other."""
    return np.where(points == 0.0, HAIR * size, points)


def opened(points: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The points, none nearer to zero than `least`; zero itself to the positive side."""
    return np.where(np.abs(points) < least, np.where(points < 0.0, -least, least), points)
