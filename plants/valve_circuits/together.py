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

from plants.valve_circuits import on_pump, regenerating
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


class _Looked(NamedTuple):
    """What one look at (√P, m) finds: sums over all sections, extremes of their √P_j, and how far it is from the root."""

    points: dict  # of each curve, by the number of its section
    left: object  # Q − Σ Q_pj
    lead: object  # Σ dQ_pj/d√P_j (√P − √P_j)
    slope: object  # Σ dQ_pj/d√P_j
    most: object
    fewest: object
    apart: object  # Σ |√P_j − √P|


def resolved(rows, supply, β, f) -> on_pump.Shared:
    """As `shared.resolved`."""
    ways = [on_pump.way(row, supply) for row in rows]
    fixed = [on_pump.fixed(way, b, g) for way, b, g in zip(ways, β, f)]
    parts = list(zip(ways, fixed, β))
    fed = {j: curved(row, β[j], f[j]) for j, row in enumerate(rows) if not on_pump.shut(row[8])}
    s, m = _root(parts, fed, supply)
    v = []
    Q_p = []
    held = []
    gap = 0.0
    for j, part in enumerate(parts):
        own, taken, _ = on_pump.moved(*part, s * s)
        own = part[0].σ * own
        pair = None
        if j in fed:
            on = fed[j].on
            back = part[1].back
            fast, into, at, pair = _on_its_curve(fed[j].feed, m[j], β[j])
            own = np.where(on > 0.0, fast + back, own)
            taken = np.where(on > 0.0, into, taken)
            gap = gap + on * np.abs(at - s)
        v.append(own)
        Q_p.append(taken)
        held.append(pair)
    return on_pump.Shared(v, s * s, Q_p, _residual(s, Q_p, supply, gap), held)


def _on_its_curve(feed: regenerating.Feed, m, β):
    """v, Q_p and √P of a section at the point m of its curve, and its pressures there."""
    p = regenerating.velocity(feed, m)
    at = regenerating.at(feed, m)
    other = (feed.A * p.x - β * p.v - feed.f) / feed.A_o
    return p.v, at.X, at.s, (p.x, other)


def _residual(s, Q_p, supply, gap):
    """Share of Q that the balance of flows misses below the relief, and share of √P_M by which curves miss the pump's √P."""
    Q, P_M, k_b = supply
    missed = np.abs(Q - k_b * s - sum(Q_p)) / Q
    below = np.where(s * s < P_M * (1.0 - 1e-15), missed, 0.0)
    return below + gap / np.sqrt(P_M)


def _root(parts, fed, supply):
    """√P, and m of each curve."""
    Q, P_M, k_b = supply
    top = np.sqrt(P_M)
    ends = {j: _ends(curve.feed) for j, curve in fed.items()}
    m = {j: 0.5 * (curve.feed.start + curve.feed.end) for j, curve in fed.items()}
    low = 0.0 * P_M
    high = 2.0 * top  # beyond the relief until it is known to be shut
    s = top
    before = np.inf
    least = np.inf
    best = (s, m)
    for _ in range(STEPS[0] + STEPS[1] * len(parts)):
        found = _look(parts, fed, Q, s, m)
        high = np.where(found.left < k_b * found.most, np.minimum(high, found.most), high)
        risen = np.minimum(np.maximum(low, found.fewest), top)
        low = np.where(found.left < k_b * found.fewest, low, risen)
        r = found.left - k_b * s
        size = np.where(s < top, np.abs(r), np.maximum(-r, 0.0)) / Q + found.apart / top
        better = size < least
        kept = {j: np.where(better, m[j], best[1][j]) for j in fed}
        best = np.where(better, s, best[0]), kept
        least = np.minimum(size, least)
        slow = size > 0.7 * before
        before = size
        shut = np.minimum(high, top)
        to = s + ratio(r - found.lead, k_b + found.slope)
        s = np.where(slow, 0.5 * (low + shut), _inside(to, low, shut))
        s = np.where(high > top, np.where(to >= top, top, s), s)
        for j, point in found.points.items():
            ends[j] = _narrowed(ends[j], m[j], point, low, shut)
            newton = m[j] + ratio(s - point.s, point.ds)
            m[j] = np.where(slow, 0.5 * sum(ends[j]), _inside(newton, *ends[j]))
    return best


def _ends(feed: regenerating.Feed):
    """Where m of a curve lies at first."""
    return feed.start - feed.σ_M, feed.end + _BEYOND * feed.σ_M


def _narrowed(ends, m, point, low, high):
    """The bracket of an m whose point has been looked at, where √P lies between `low` and `high`."""
    first, last = ends
    first = np.where(point.s <= low, np.maximum(first, m), first)
    last = np.where(point.s >= high, np.minimum(last, m), last)
    return first, last


def _look(parts, fed, Q, s, m) -> _Looked:
    """Every section at √P = s, those that regenerate at their m."""
    points = {j: regenerating.at(curve.feed, m[j]) for j, curve in fed.items()}
    places = [_placed(part, s, fed.get(j), points.get(j)) for j, part in enumerate(parts)]
    left = Q
    lead = 0.0
    apart = 0.0
    most = s
    fewest = s
    for at, X, slope in places:
        left = left - X
        lead = lead + slope * (s - at)
        apart = apart + np.abs(at - s)
        most = np.maximum(most, at)
        fewest = np.minimum(fewest, at)
    return _Looked(points, left, lead, sum(place[2] for place in places), most, fewest, apart)


def _placed(part, s, curve, p):
    """√P of a section, Q_p and dQ_p/d√P there: at s, or, where it regenerates, at its point p."""
    _, Q_p, slope = on_pump.moved(*part, s * s)
    rate = 2.0 * s * slope
    if curve is None:
        return s, Q_p, rate
    pick = lambda on, off: np.where(curve.on > 0.0, on, off)
    along = ratio(np.where(p.X > 0.0, p.dX, 0.0), p.ds)
    return pick(p.s, s), pick(p.X, Q_p), pick(along, rate)


def _inside(to, low, high):
    """Newton's step where it stays between both; else, or where it goes back to one of them, the middle."""
    middle = 0.5 * (low + high)
    return np.where(to >= low, np.where(to <= high, to, middle), middle)
