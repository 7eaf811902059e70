"""Sections on one pump as an expression: the root in P unrolled, for models that are traced.

    r(P) = Q − k_b √P − Σ_j Q_pj(P),   Q_pj = clip(A_i v̂(P), k_i √max(P − P_iM, 0), k_i √P)              (114), (123)

found in s = √P by Newton's method inside a bracket, a fixed number of times; `residual` says how far r is from zero. `resolve` of
`roots` is the reference. Sections with regeneration are sought along curves, together with P: `together`.

Source: [Kikuuwe21] (106)–(126), (113) corrected: oil also passes to a standing section whose relief is below P.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits import closed, together
from plants.valve_circuits.closed import Side

STEPS = 16, 4  # of the iteration: at least, and more for each section


class Way(NamedTuple):
    """A section in the direction its valves are open: σ = ±1, its side, k_i, P_iM."""

    σ: object
    side: Side
    k_i: object
    P_iM: object


class Shared(NamedTuple):
    """Velocities [m/s], pressure of the pump [Pa], Q_p a section [m³/s], r/Q where the iteration stopped; P_h and P_r [Pa] of
    sections that can regenerate, None of others."""

    v: list
    P: object
    Q_p: list
    residual: object
    held: list


def way(row, supply) -> Way:
    """The section as `rising_at` needs it."""
    out, back = closed.sides(row, supply)
    σ = np.where(back.a_i + back.a_o > 0.0, -1.0, 1.0)
    side = Side(*(np.where(σ > 0.0, a, b) for a, b in zip(out, back)))
    return Way(σ, side, np.where(σ > 0.0, row[4], row[5]), np.where(σ > 0.0, row[2], row[3]))


class Fixed(NamedTuple):
    """What does not depend on P: f̄ along σ, a of both valves in series, v at a relief or suction check, F_o of a shut out side."""

    f: object
    a_s: object
    most: object
    least: object
    back: object
    stand: object


def fixed(w: Way, β, f) -> Fixed:
    """Everything of (122) that holds at any P."""
    s = w.side
    f = w.σ * f
    return Fixed(
        f,
        closed.ratio(s.a_i * s.a_o, s.a_i + s.a_o),
        np.maximum(closed.Φ_A(β, f - s.F_i, s.a_o), (s.F_i - s.F_o - f) / β),
        np.maximum(closed.Φ_A(β, f, s.a_o), (-s.F_o - f) / β),
        np.minimum((s.F_i - f) / β, 0.0),
        np.where(s.a_o > 0.0, 0.0, s.F_o),
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
    """Whether regeneration is known to be shut for good, before anything is traced: a plain 0.0."""
    return isinstance(k_a, float) and k_a == 0.0


def resolved(rows, supply, β, f) -> Shared:
    """v with β_j v_j + f_j ∈ Γ_j(v); rows, β, f: one a section, supply: Q, P_M, k_b.

    A k_a that is a plain 0.0 is known to be shut before anything is traced. Regeneration counts where k_ph > 0, and the rod is not
    open to retract: elsewhere k_a must be zero.
    """
    if not all(shut(row[8]) for row in rows):
        return together.resolved(rows, supply, β, f)
    ways = [way(row, supply) for row in rows]
    parts = [(w, fixed(w, b, g), b) for w, b, g in zip(ways, β, f)]
    Q, P_M, k_b = supply
    low = 0.0 * P_M
    high = np.sqrt(P_M)
    s = best = high
    before = least = np.inf
    for step in range(STEPS[0] + STEPS[1] * len(ways)):
        each = [moved(*part, s * s) for part in parts]
        r = Q - k_b * s - sum(e[1] for e in each)
        rate = k_b + 2.0 * s * sum(e[2] for e in each)
        low = np.where(r > 0.0, s, low)
        high = np.where(r > 0.0, high, s)
        if step == 0:  # at its relief already
            low = np.where(r >= 0.0, high, low)
            least = np.where(r >= 0.0, 0.0, least)
        to = s + closed.ratio(r, rate)
        middle = 0.5 * (low + high)
        size = np.abs(r)
        best = np.where(size < least, s, best)
        least = np.minimum(size, least)
        slow = size > 0.5 * before  # Newton's method may go to and fro about a kink
        before = size
        s = np.where(slow, middle, np.where(to > low, np.where(to < high, to, middle), middle))
    s = best
    each = [moved(*part, s * s) for part in parts]
    r = Q - k_b * s - sum(e[1] for e in each)
    left = np.where(s * s < P_M * (1.0 - 1e-15), r / Q, 0.0)
    return Shared(
        [w.σ * e[0] for w, e in zip(ways, each)],
        s * s,
        [e[1] for e in each],
        left,
        [None] * len(ways),
    )


def pressures(row, supply, v, f, P, held=None):
    """P_h, P_r [Pa] with A_h P_h − A_r P_r = f at the velocity v and the pump's pressure P: at v = 0 the least that there are.
    held: those of a section that can regenerate, as `resolved` gives them."""
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
