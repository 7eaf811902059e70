"""One section at a given pressure P of the pump, as an expression: its velocity v̂(P), and the flow Q_p(P) that it takes.

    Q_pj(P) = clip(A_i v̂(P), k_i √max(P − P_iM, 0), k_i √P)                                              (114), (123)

P itself is the root of the pump's balance with all sections: `shared`, or `together` where some of them regenerate.

Source: [Kikuuwe21] (106)–(126), (113) corrected: oil also passes to a standing section whose relief is below P.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits import closed
from plants.valve_circuits.closed import Side


class Way(NamedTuple):
    """A section in the direction that its valves are open: σ = 1 extending, −1 retracting; in that direction its `closed.Side`,
    coefficient k_i [m³/(s √Pa)] of the in side's valve, and P_iM [Pa] of its relief."""

    σ: object
    side: Side
    k_i: object
    P_iM: object


class Shared(NamedTuple):
    """All sections at one pressure P [Pa] of the pump: v [m/s] and Q_p [m³/s] of each.

    residual: what the balance of the pump's flow misses, over Q. held: of each section (P_h, P_r) [Pa] where it can
    regenerate, else None.
    """

    v: list
    P: object
    Q_p: list
    residual: object
    held: list


def way(row, supply) -> Way:
    """The section in the direction that its valves are open."""
    out, back = closed.sides(row, supply)
    σ = np.where(back.a_i + back.a_o > 0.0, -1.0, 1.0)
    side = Side(*(np.where(σ > 0.0, a, b) for a, b in zip(out, back)))
    return Way(σ, side, np.where(σ > 0.0, row[4], row[5]), np.where(σ > 0.0, row[2], row[3]))


class Fixed(NamedTuple):
    """The terms of (122) that do not depend on P, along σ.

    f       f̄ [N];   a_s: both valves in series
    most    v [m/s] with the in side at its relief;   least: with the in side on its suction check
    back    v where the load pushes the rod back, out through the in side's relief
    stand   force [N] of the out side while the rod stands: that of its relief where its valve is shut
    """

    f: object
    a_s: object
    most: object
    least: object
    back: object
    stand: object


def fixed(w: Way, β, f) -> Fixed:
    """The terms of (122) that hold at any P, for βv + f̄ with f = f̄ [N]."""
    s = w.side
    f = w.σ * f
    return Fixed(
        f=f,
        a_s=closed.in_series(s),
        most=np.maximum(closed.Φ_A(β, f - s.F_i, s.a_o), (s.F_i - s.F_o - f) / β),
        least=np.maximum(closed.Φ_A(β, f, s.a_o), (-s.F_o - f) / β),
        back=np.minimum((s.F_i - f) / β, 0.0),
        stand=np.where(s.a_o > 0.0, 0.0, s.F_o),
    )


def moved(w: Way, c: Fixed, β, P):
    """v, Q_p and dQ_p/dP at the pressure P."""
    s = w.side
    F = w.side.A * P
    limited = np.maximum(closed.Φ_A(β, c.f - F, c.a_s), closed.Φ_A(β, c.f - F + s.F_o, s.a_i))
    standing = np.where(s.a_i > 0.0, np.minimum(s.F_i, F), 0.0) - c.stand
    v = np.where(c.f < standing, np.maximum(np.minimum(c.most, limited), c.least), c.back)
    x = s.A * v
    drained = np.where(v * v < s.F_o * s.a_o, closed.ratio(2.0 * v, s.a_o), 0.0)
    over = P - w.P_iM
    relieves = over > 0.0
    root = np.sqrt(np.where(relieves, over, 1.0))
    low = np.where(relieves, w.k_i * root, 0.0)
    high = w.k_i * np.sqrt(P)
    slope = np.where(
        x > low,
        s.A * s.A / (β + closed.ratio(2.0 * v, s.a_i) + drained),
        np.where(relieves, 0.5 * w.k_i / root, 0.0),
    )
    slope = np.where(x >= high, closed.ratio(0.5 * w.k_i * w.k_i, high), slope)
    return v, np.minimum(np.maximum(x, low), high), slope


def shut(k_a) -> bool:
    """Whether a section can never regenerate: its coefficient k_a is the plain number 0.0, and no expression."""
    return isinstance(k_a, float) and k_a == 0.0


def pressures(row, supply, v, f, P, held=None):
    """P_h, P_r [Pa] with A_h P_h − A_r P_r = f at the velocity v [m/s] and the pump's pressure P [Pa].

    At v = 0, where they are not determined, the least that balance f. held: (P_h, P_r) of a section that can regenerate, as
    `shared.resolved` returns them; None of others.
    """
    w = way(row, supply)
    s = w.side._replace(F_M=w.side.A * P)
    v = w.σ * v
    f = w.σ * f
    pushed = np.where(s.a_i > 0.0, np.minimum(s.F_i, s.F_M), 0.0)
    drained = np.where(v * v < s.F_o * s.a_o, closed.ratio(v * v, s.a_o), s.F_o)
    shut = np.where(v < 0.0, 0.0, np.where(s.a_o > 0.0, 0.0, 1.0))
    F_o = np.where(v > 0.0, drained, np.maximum(pushed - f, 0.0) * shut)
    F_h = np.where(w.σ > 0.0, f + F_o, F_o)
    F_r = np.where(w.σ > 0.0, F_o, f + F_o)
    if held is None:
        return F_h / row[0], F_r / row[1]
    extends = np.where(row[8] > 0.0, np.where(v > 0.0, 1.0, 0.0), 0.0)
    return np.where(extends > 0.0, held[0], F_h / row[0]), np.where(
        extends > 0.0, held[1], F_r / row[1]
    )
