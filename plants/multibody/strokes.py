"""What the cylinders of a mechanism do to it over their strokes: joints' angles, and where a cylinder has no lever arm.

With N a basis of the rates that the loops allow (Φ_z N = 0) and s the lengths of all actuators between pins,

    L = ∂s/∂z N        lengths per independent rate: the lever arms

A cylinder is followed from the start in steps along v = N L⁺ e_k, the motion that moves cylinder k and, where that is
possible, no other, and the loops are closed after each step. It ends where an actuator of that motion leaves its span, or at a
dead point: the smallest singular value of L is zero there, the cylinder's pins and the joint it turns are in line (or those of
a link between them), and its length goes neither up nor down.

Positions are those of the tree with all its joints: a closed form has none where a loop does not close.

Source: [Haug89, chapter 3], driving constraints and lock-up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from plants.multibody.assembly import shortest
from plants.multibody.virtual_work import at_rest, lever_arms
from workbench.contract.errors import InputError, tried
from workbench.numerics.on_numbers import on_numbers

STEP = 0.05  # rad or m, of the joint that moves most
MOST = 400  # steps to one side
FARTHEST = 0.5  # rad or m, a loop is closed after a step by less than that, or not at all
DEAD = 1e-2  # share of the lever arm where it is largest: less is a dead point


class Stroke(NamedTuple):
    """The motion of a mechanism along the stroke of one cylinder: its lengths, rising, and all positions at each of them.

    dead_at: lengths at which it has a dead point.
    """

    name: str
    lengths: tuple[float, ...]
    positions: tuple[tuple[float, ...], ...]
    dead_at: tuple[float, ...]


@lru_cache(maxsize=64)
def strokes(mechanism) -> tuple[Stroke, ...]:
    """The strokes of all actuators whose span is known, the other cylinders at their start."""
    found = []
    for k, a in enumerate(mechanism.actuators):
        if not np.all(np.isfinite(a.span)):
            continue
        down, dead_low = _followed(mechanism, k, -1.0, mechanism.assembly.z)
        up, dead_high = _followed(mechanism, k, 1.0, mechanism.assembly.z)
        path = [*reversed(down), *up[1:]]
        found.append(
            Stroke(
                a.name,
                tuple(s for s, _ in path),
                tuple(z for _, z in path),
                (*dead_low, *dead_high),
            )
        )
    return tuple(found)


def check_strokes(mechanism) -> None:
    """InputError where a cylinder's stroke passes a dead point."""
    dead = [stroke for stroke in strokes(mechanism) if stroke.dead_at]
    tried(partial(_refuse, mechanism, stroke) for stroke in dead)


def _refuse(mechanism, stroke: Stroke) -> None:
    """InputError with every dead point of the stroke, and the stops that would keep the cylinder from them."""
    actuator = next(a for a in mechanism.actuators if a.name == stroke.name)
    low, high = actuator.span
    start = float(_lengths(mechanism, mechanism.assembly.z)[0][_index(mechanism, stroke.name)])
    points = " and ".join(f"{at:.4g} m" for at in stroke.dead_at)
    passed = "a dead point" if len(stroke.dead_at) == 1 else "dead points"
    stops = " and ".join(
        f"'{_side(at, start)}: {_inside(at, start):.4g} m'" for at in stroke.dead_at
    )
    raise InputError(
        f"actuators.{stroke.name}: its stroke, {low:.4g} … {high:.4g} m, passes {passed} at {points}, where it has no "
        f"lever arm (it is {start:.4g} m long at the start)",
        mend=f"move its pins, or write {stops} beside its 'between', where a stop is",
    )


def _side(at: float, start: float) -> str:
    """The key of the stop that keeps a cylinder from a dead point."""
    return "longest" if at > start else "shortest"


def _inside(at: float, start: float) -> float:
    """A length a little before the dead point."""
    return at - 0.02 * (at - start)


def _index(mechanism, name: str) -> int:
    return next(k for k, a in enumerate(mechanism.actuators) if a.name == name)


def _lengths(mechanism, z) -> tuple[np.ndarray, np.ndarray]:
    """(s of all actuators, ∂s/∂z)."""
    s, table = _of_positions(mechanism)(z)
    return s, table.reshape(len(s), mechanism.tree.n_v)


@lru_cache(maxsize=16)
def _of_positions(mechanism) -> Callable[..., list[np.ndarray]]:
    """z → [s, ∂s/∂z row by row], a graph: a stroke asks for them a hundred times."""

    def both(z):
        motion, pulls = at_rest(mechanism, z)
        arms = lever_arms(mechanism, motion, pulls)
        return [p.s for p in pulls], [entry for line in arms for entry in line]

    return on_numbers(both, mechanism.tree.n_z)


def _arms(mechanism, z):
    """(s, N, L) at closed positions z."""
    s, S = _lengths(mechanism, z)
    _, G = mechanism.constraints(z)
    N = np.eye(mechanism.tree.n_v)
    if len(G):
        _, σ, Vt = np.linalg.svd(G)
        N = Vt[int((σ > 1e-8 * σ.max(initial=0.0)).sum()) :].T
    return s, N, S @ N


def beside(mechanism, name: str, z) -> list[tuple[float, ...]]:
    """Positions along the stroke of the cylinder `name`, through the closed positions z; the others keep their lengths."""
    k = _index(mechanism, name)
    down, _ = _followed(mechanism, k, -1.0, z)
    up, _ = _followed(mechanism, k, 1.0, z)
    return [there for _, there in (*reversed(down), *up[1:])]


def _followed(mechanism, k: int, way: float, z_0):
    """([(s_k, z), …] from z_0 towards longer (way 1) or shorter, lengths of dead points met)."""
    z = [float(v) for v in z_0]
    spans = np.array([a.span for a in mechanism.actuators], float)
    s, N, L = _arms(mechanism, z)
    path = [(float(s[k]), tuple(z))]
    before = None
    largest = 0.0
    for _ in range(MOST):
        size = np.linalg.svd(L, compute_uv=False)
        largest = max(largest, float(size[-1]))
        v = N @ np.linalg.pinv(L, rcond=1e-3)[:, k] * way
        most = np.abs(v).max()
        if not most > 0 or size[-1] < DEAD * largest:
            return path, (float(s[k]),)
        v = v / most
        if before is not None and before @ v < 0:
            return path, (float(s[k]),)
        before = v
        z, s, ended = _onward(mechanism, spans, z, s, STEP * v)
        if z is None:
            return path, (path[-1][0],)
        path.append((float(s[k]), tuple(z)))
        if ended:
            return path, ()
        s, N, L = _arms(mechanism, z)
    return path, ()


def _onward(mechanism, spans, z, s, move):
    """(positions, lengths, whether the move ends early) after `move`, or where an actuator first reaches an end of its span.

    Positions are None where the loops do not close.
    """
    share = 1.0
    for _ in range(4):
        there = _stepped(mechanism, z, share * move)
        if there is None:
            return None, s, True
        lengths = _lengths(mechanism, there)[0]
        part = _left(spans, s, lengths)
        if share == 1.0 and part > 1.0:
            return there, lengths, False
        if part <= 0.0:
            return z, s, True
        if abs(part - 1.0) < 1e-9 or not part < np.inf:
            break
        share = min(1.0, share * part)
    return there, lengths, True


def _left(spans, s, there) -> float:
    """Share of the step from lengths s to `there` at which an actuator first reaches an end of its span; above 1: none does."""
    share = np.inf
    for low, high, a, b in zip(*spans.T, s, there):
        limit = high if b > a else low
        if abs(b - a) > 1e-9 and np.isfinite(limit):
            share = min(share, max(0.0, float((limit - a) / (b - a))))
    return share


def _stepped(mechanism, z, move) -> list | None:
    """Positions after `move`, the loops closed; None where they do not close."""
    z = mechanism.moved(list(z), list(map(float, move)))
    unity = np.eye(mechanism.tree.n_v)
    for _ in range(8):
        Φ, G = mechanism.constraints(z)
        if not len(Φ) or np.abs(Φ).max() < 1e-12:
            return z
        back = shortest(G, unity, -Φ)
        if not np.abs(back).max() < FARTHEST:
            return None
        z = mechanism.moved(z, list(map(float, back)))
    return z if np.abs(Φ).max() < 1e-9 else None
