"""All pressures that balance: flows decide the drops over open valves, and leave some levels open.

At given velocities the flows are one (every orifice's potential is strictly convex in its drop), the pressures need not be: they
are the polyhedron

    P_h = P_c − S(q_ph/k_ph),   P_r = P_c − S(q_pr/k_pr),   P_h = (q_th/k_th)²,   P_r = (q_tr/k_tr)²      valves that are open
    P_r − P_h = (q_a/k_a)² where q_a > 0, else P_r ≤ P_h                                                 regeneration
    P_h = P_hM where its relief passes oil, 0 where its suction check does, else between; P_r likewise
    P_c = P where the check passes oil, else P_c ≥ P;   P by the bleed, P_M where its relief passes oil, else 0 ≤ P ≤ P_M

Per section that is a box in (P_h, P_r) cut by a band of P_r − P_h, and by the line A_h P_h − A_r P_r = f where the force is known;
sections meet in P alone. So least and greatest pressures, and forces (they are Γ(v)), are found at corners, without a step in v.

Source: ours; optimality conditions of the programme in `kernel`.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

# Share of the flows around: with less a check, a relief or regeneration counts as shut.
_OPEN = 1e-14


class Level(NamedTuple):
    """Pressures of one section while they are searched.

    Its row; ranges of P_h and P_r [Pa] that do not depend on the pump, and of P_r − P_h; the pressures found; P_c − P_h and
    P_c − P_r of valves open to the pump (None: shut); whether the pump's check passes oil; the known force [N] or None.
    """

    row: np.ndarray
    h: tuple[float, float]
    r: tuple[float, float]
    band: tuple[float, float]
    at: tuple[float, float]
    drop_h: float | None
    drop_r: float | None
    fed: bool
    f: float | None


class Found(NamedTuple):
    """Ranges (low, high) of P_h, P_r [Pa], f [N], and of the pressure behind the check."""

    P_h: tuple[float, float]
    P_r: tuple[float, float]
    f: tuple[float, float]
    P_c: tuple[float, float]


def level(row, flows, small: float, f: float | None) -> Level:
    """The section whose `crossed.passed` is `flows`; flows below `small` [m³/s] count as none."""
    x, y, q_ph, q_pr, _, _, q_a, q_ho, q_ro = map(float, flows)
    k_ph, k_pr, k_th, k_tr, k_a = row[4:]
    h = _limited(x, row[2], q_ho, small, k_th > 0.0)
    r = _limited(y, row[3], q_ro, small, k_tr > 0.0)
    drop_h = _drop(q_ph, k_ph) if k_ph > 0.0 else None
    drop_r = _drop(q_pr, k_pr) if k_pr > 0.0 else None
    band = (-inf, inf)
    if k_a > 0.0:
        band = (-inf, 0.0)
        if q_a > small:
            rise = _drop(q_a, k_a)
            band = (rise, rise)
    if drop_h is not None and drop_r is not None:
        rise = drop_h - drop_r
        band = (rise, rise)
    return Level(
        row=row,
        h=h,
        r=r,
        band=band,
        at=(x, y),
        drop_h=drop_h,
        drop_r=drop_r,
        fed=q_ph + q_pr > small,
        f=f,
    )


def _drop(q, k) -> float:
    return float(q * abs(q) / (k * k))


def _limited(p, top, over, small, drained) -> tuple[float, float]:
    """Range of a chamber's pressure by its own limits."""
    if drained or abs(over) > small:
        return p, p
    return 0.0, float(top)


def section(s: Level, P: tuple[float, float]) -> Found:
    """Ranges with the pump's pressure between both ends of P."""
    behind = P if s.fed else (P[0], inf)
    h = s.h
    r = s.r
    if s.drop_h is not None:
        h = _both(h, _moved(behind, -s.drop_h), s.at[0])
    if s.drop_r is not None:
        r = _both(r, _moved(behind, -s.drop_r), s.at[1])
    corners = _known(s, h, r) if s.f is not None else _corners(s, h, r)
    P_h = _span(x for x, _ in corners)
    P_r = _span(y for _, y in corners)
    A_h, A_r = s.row[:2]
    force = (s.f, s.f)
    if s.f is None:
        force = _span(A_h * x - A_r * y for x, y in corners)
    P_c = (-inf, inf)
    if s.drop_h is not None:
        P_c = _moved(P_h, s.drop_h)
    elif s.drop_r is not None:
        P_c = _moved(P_r, s.drop_r)
    return Found(P_h, P_r, force, P_c)


def _moved(span, by) -> tuple[float, float]:
    """A range moved up."""
    low, high = span
    return low + by, high + by


def _span(values) -> tuple[float, float]:
    """The least and the greatest of these."""
    known = list(values)
    return min(known), max(known)


def _both(a, b, at) -> tuple[float, float]:
    """Where both ranges are; the pressure found where they miss each other by rounding."""
    low = max(a[0], b[0])
    high = min(a[1], b[1])
    return (low, high) if low <= high else (at, at)


def _corners(s: Level, h, r) -> list:
    """Corners of the box cut by the band."""
    low, high = s.band
    box = [(x, y) for x in h for y in r]
    found = [(x, y) for x, y in box if low <= y - x <= high]
    for d in {d for d in s.band if abs(d) < inf}:
        along_h = [(x, x + d) for x in h]
        along_r = [(y - d, y) for y in r]
        found += [(x, y) for x, y in along_h if r[0] <= y <= r[1]]
        found += [(x, y) for x, y in along_r if h[0] <= x <= h[1]]
    return found or [s.at]


def _known(s: Level, h, r) -> list:
    """Ends of the line of the known force in the box and the band."""
    A_h = s.row[0]
    A_r = s.row[1]
    low = (s.f + A_r * r[0]) / A_h
    high = (s.f + A_r * r[1]) / A_h
    low = max(low, h[0])
    high = min(high, h[1])
    rise = A_h / A_r - 1.0  # of P_r − P_h along P_h
    if abs(rise) > 1e-12:
        ends = sorted((d + s.f / A_r) / rise for d in s.band)
        low = max(low, ends[0])
        high = min(high, ends[1])
    if low > high:
        low = high = float(np.clip(s.at[0], *h))

    def end(x):
        """The line's point at P_h = x, kept within the range of P_r."""
        y = (A_h * x - s.f) / A_r
        return x, min(max(y, r[0]), r[1])

    return [end(low), end(high)]


def ranges(rows, supply, P: float, flows, forces=None) -> tuple[tuple[float, float], list[Found]]:
    """Range of the pump's pressure, and `Found` of every section. P, flows (N, 9): one solution; forces [N]: known, or None."""
    Q, P_M, k_b = supply
    largest = np.abs(flows[:, 2:]).max(initial=0.0)
    small = _OPEN * (Q + float(largest))
    each = [None] * len(flows) if forces is None else map(float, forces)
    parts = [level(row, q, small, f) for row, q, f in zip(rows, flows, each)]
    taken = sum(max(q[2] + q[3], 0.0) for q in flows)
    known = k_b > 0.0 or Q - taken > small  # by what passes the bleed, or the relief
    span = (P, P) if known else (0.0, float(P_M))
    for s in parts:
        P_c = section(s, span).P_c
        span = _both(span, P_c if s.fed else (0.0, P_c[1]), P)
    return span, [section(s, span) for s in parts]
