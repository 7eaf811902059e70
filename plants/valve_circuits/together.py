"""Sections with regeneration on one pump, as an expression: P and a point on the curve of each (`regenerating`), sought together.

P_j and Q_pj rise along m_j, so with P the root, Σ over all sections and those without regeneration taken at the s = √P looked at,

    r̂ = Q − Σ_j Q_pj(m_j):   r̂ < k_b √max P_j  ⇒  P < max P_j,   r̂ ≥ k_b √min P_j  ⇒  P ≥ min P_j

One of the two holds wherever one looks, and narrows the bracket of s, or that of an m_j. Newton's method for all of them at once,
kept inside the brackets, takes the middle where it is slow. STEPS leave less than 1e-9 m/s in 40,000 random circuits of one and of
two sections, and in all but 4 of 40,000 of three (4e-5 there); `residual` says how far it is.

Source: [Kikuuwe21] (114), (123); several sections with regeneration on one pump are an open problem there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits import regenerating, shared
from plants.valve_circuits.closed import ratio

STEPS = 25, 6  # at least, and more for each section
_BEYOND = 100.0  # of √P_oM: far enough beyond a relief of the in side for any P of the pump


class Curved(NamedTuple):
    """A section that can regenerate: 1 where it does (k_a, k_ph > 0), else 0; its curve then."""

    on: object
    feed: regenerating.Feed


def curved(row, β, f) -> Curved:
    """One section; row as `Circuit.rows` has it."""
    A_h, A_r, P_hM, P_rM, k_ph, _, _, k_tr, k_a = row
    on = np.where(k_a > 0.0, np.where(k_ph > 0.0, 1.0, 0.0), 0.0)
    return Curved(on, regenerating.feed((A_h, A_r, P_hM, P_rM), (k_ph, k_tr, k_a), β, f))


def resolved(rows, supply, β, f) -> shared.Shared:
    """As `shared.resolved`."""
    parts = [(shared.way(row, supply), b, g) for row, b, g in zip(rows, β, f)]
    parts = [(w, shared.fixed(w, b, g), b) for w, b, g in parts]
    fed = {j: curved(row, β[j], f[j]) for j, row in enumerate(rows) if not shared.shut(row[8])}
    s, m = _root(parts, fed, supply)
    (Q, P_M, k_b), v, Q_p, held, gap = supply, [], [], [], 0.0
    for j, (w, c, b) in enumerate(parts):
        own, taken, _ = shared.moved(w, c, b, s * s)
        own = w.σ * own
        pair = None
        if j in fed:
            on, feed = fed[j]
            p = regenerating.velocity(feed, m[j])
            at = regenerating.at(feed, m[j])
            own, taken = np.where(on > 0.0, p.v + c.back, own), np.where(on > 0.0, at.X, taken)
            gap = gap + on * np.abs(at.s - s)
            pair = (p.x, (feed.A * p.x - b * p.v - feed.f) / feed.A_o)
        v = [*v, own]
        Q_p = [*Q_p, taken]
        held = [*held, pair]
    left = np.where(
        s * s < P_M * (1.0 - 1e-15), np.abs(Q - k_b * s - sum(Q_p)) / Q, 0.0
    ) + gap / np.sqrt(P_M)
    return shared.Shared(v, s * s, Q_p, left, held)


def _root(parts, fed, supply):
    """√P, and m of each curve."""
    Q, P_M, k_b = supply
    top = np.sqrt(P_M)
    ends = {
        j: [c.feed.start - c.feed.σ_M, c.feed.end + _BEYOND * c.feed.σ_M] for j, c in fed.items()
    }
    m = {j: 0.5 * (c.feed.start + c.feed.end) for j, c in fed.items()}
    low, high, s, before = (
        0.0 * P_M,
        2.0 * top,
        top,
        np.inf,
    )  # beyond the relief until it is known to be shut
    best = (s, m)
    least = np.inf
    for _ in range(STEPS[0] + STEPS[1] * len(parts)):
        points = {j: regenerating.at(c.feed, m[j]) for j, c in fed.items()}
        places = [_placed(part, s, fed.get(j), points.get(j)) for j, part in enumerate(parts)]
        taken = Q
        most = s
        fewest = s
        size = 0.0
        lead = 0.0
        for at, X, slope in places:
            taken = taken - X
            lead = lead + slope * (s - at)
            most, fewest, size = np.maximum(most, at), np.minimum(fewest, at), size + np.abs(at - s)
        high = np.where(taken < k_b * most, np.minimum(high, most), high)
        low = np.where(taken < k_b * fewest, low, np.minimum(np.maximum(low, fewest), top))
        r = taken - k_b * s
        size = np.where(s < top, np.abs(r), np.maximum(-r, 0.0)) / Q + size / top
        better = size < least
        best = np.where(better, s, best[0]), {j: np.where(better, m[j], best[1][j]) for j in fed}
        least = np.minimum(size, least)
        slow = size > 0.7 * before
        before = size
        to = s + ratio(r - lead, k_b + sum(place[2] for place in places))
        shut = np.minimum(high, top)
        s = np.where(slow, 0.5 * (low + shut), _inside(to, low, shut))
        s = np.where(high > top, np.where(to >= top, top, s), s)
        for j, p in points.items():
            a, b = ends[j]
            ends[j] = a, b = (
                np.where(p.s <= low, np.maximum(a, m[j]), a),
                np.where(p.s >= shut, np.minimum(b, m[j]), b),
            )
            m[j] = np.where(slow, 0.5 * (a + b), _inside(m[j] + ratio(s - p.s, p.ds), a, b))
    return best


def _placed(part, s, curve, p):
    """√P of a section, Q_p and dQ_p/d√P there: at s, or, where it regenerates, at its point p."""
    _, Q_p, slope = shared.moved(*part, s * s)
    rate = 2.0 * s * slope
    if curve is None:
        return s, Q_p, rate
    pick = lambda on, off: np.where(curve.on > 0.0, on, off)
    return pick(p.s, s), pick(p.X, Q_p), pick(ratio(np.where(p.X > 0.0, p.dX, 0.0), p.ds), rate)


def _inside(to, low, high):
    """Newton's step where it stays between both; else, or where it goes back to one of them, the middle."""
    middle = 0.5 * (low + high)
    return np.where(to >= low, np.where(to <= high, to, middle), middle)
