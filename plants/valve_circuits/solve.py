"""Γ, Λ, pressures, flows and valve states of a circuit: what users call. Methods are in `closed`, `kernel`, `quick` and `roots`.

    Γ(circuit, openings, u_b, v)       forces at the velocities v, as intervals: they are sets at v = 0, with the bleed shut at Q/A
    Λ(circuit, openings, u_b, β, f̄)    velocities with β_j v_j + f̄_j ∈ Γ_j(v)
    operating(circuit, openings, u_b, v, f)   pressures, flows, states there

openings: one `Openings` a section. Ends of intervals are limits of Γ from either side: v is moved by 1e-14 of Q/A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits import closed
from plants.valve_circuits.circuit import Circuit, Openings
from plants.valve_circuits.kernel import _flows
from plants.valve_circuits.roots import given, resolve_all
from plants.valve_circuits.states import segment
from workbench.errors import InputError

_STEP = 1e-14  # of Q/A: far above rounding of velocities, far below anything asked of a force
_SHUT = 1e-12  # of Q: a check or relief with less flow counts as shut
_EDGE = 1e-12  # of a relief's pressure: a chamber as near to its limit is at it


class Interval(NamedTuple):
    """Least and greatest value; the same where there is only one."""

    low: np.ndarray
    high: np.ndarray


class SectionState(NamedTuple):
    """One section at an operating point: pressures [Pa] as intervals, flows [m³/s], valves (True: open), row of Table 1.

    Q_ho, Q_ro: out through the relief; negative: in through the suction check. check: the pump's check is open.
    """

    P_h: Interval
    P_r: Interval
    Q_ph: float
    Q_pr: float
    Q_th: float
    Q_tr: float
    Q_a: float
    Q_ho: float
    Q_ro: float
    hR: bool
    hSC: bool
    rSC: bool
    rR: bool
    check: bool
    segment: str | None


class Operating(NamedTuple):
    """Velocities [m/s], forces [N], pressure of the pump [Pa], flows through bleed and pump relief [m³/s], pR: it is open."""

    v: np.ndarray
    f: Interval
    P: Interval
    Q_b: float
    Q_M: float
    pR: bool
    sections: tuple[SectionState, ...]


def Λ(circuit: Circuit, openings, u_b: float, β, f) -> np.ndarray:
    """Velocities, m/s, shape (…, N), with β_j v_j + f_j ∈ Γ_j(v); β [N s/m] > 0 and f [N] broadcast to (…, N).

    Unique for any number of sections, with regeneration, both directions open or not (`kernel`). Raises InputError for β ≤ 0 or
    what is no number.
    """
    rows, supply, N = circuit.rows(openings), circuit.supply(u_b), len(circuit.sections)
    β, f = np.broadcast_arrays(np.asarray(β, float), np.asarray(f, float))
    if β.shape[-1:] != (N,):
        if N > 1:
            raise InputError(f"β and f of shape {β.shape} for {N} sections", key="β, f",
                             mend=f"let their last axis have length {N}")
        β, f = β[..., None], f[..., None]
    if not (β > 0).all() or not np.isfinite(β).all() or not np.isfinite(f).all():
        raise InputError("β must be greater than zero and f̄ finite", key="β, f",
                         mend="β = B of (70), or B + h K of (72), from stiffness K ≥ 0 and damping B > 0")
    shape, M = β.shape, β.size // N
    v, P = np.zeros((M, N)), np.zeros(M)
    resolve_all(np.tile(rows, (M, 1, 1)), np.tile(supply, (M, 1)), β.reshape(M, N).copy(), f.reshape(M, N).copy(), v, P)
    return v.reshape(shape)


def Γ(circuit: Circuit, openings, u_b: float, v) -> Interval:
    """Forces, N, at the velocities v [m/s] of the N sections, each end with shape (N,).

    One section without regeneration, open one way: (61)–(65) as `closed` has them. Raises InputError for a velocity not finite.
    """
    rows, supply, v = circuit.rows(openings), circuit.supply(u_b), _velocities(circuit, v)
    if len(rows) == 1 and rows[0, 8] == 0.0 and _one(openings)[0].direction is not None:
        with np.errstate(over="ignore"):
            return Interval(*(np.array([float(closed.Γ(rows[0], supply, v[0], upper))]) for upper in (False, True)))
    return _forces(rows, _bounds(rows, supply, v, _one(openings)))


def operating(circuit: Circuit, openings, u_b: float, v, f=None) -> Operating:
    """Pressures, flows and valve states at the velocities v; f: forces [N], where they are known (Λ gives β v + f̄), narrow the
    pressures. Pressures not determined are intervals, each the range of one over all that balance; flows are unique."""
    rows, supply = circuit.rows(openings), circuit.supply(u_b)
    openings, v = _one(openings), _velocities(circuit, v)
    f = None if f is None else _each(circuit, f, "f", "force", "N")
    runs = _bounds(rows, supply, v, openings)
    force = Γ(circuit, openings, u_b, v) if f is None else Interval(f, f)
    pumps = [P for run in runs for P, _ in run]
    P = Interval(min(pumps), max(pumps))
    Q_b, parts = supply[2] * np.sqrt(P.low), []
    flows = [_section_flows(row, *run[0], j, v[j]) for j, (row, run) in enumerate(zip(rows, runs))]
    Q_M = supply[0] - Q_b - sum(max(q[0] + q[1], 0.0) for q in flows)
    pR = bool(Q_M > _SHUT * supply[0] and P.high >= supply[1] * (1 - 1e-12))
    for j, (row, q, o) in enumerate(zip(rows, flows, openings)):
        back = _back_only(row, v[j])
        P_h, P_r = _narrowed(row, *_ranges(runs[j], j, row if back else None), None if f is None else force.low[j], back)
        open_ = [bool(s * Q > _SHUT * supply[0]) for Q in (q[5], q[6]) for s in (1, -1)]
        hR, hSC, rR, rSC = open_
        name = segment(o.direction, int(np.sign(v[j])), hR, hSC, pR, rSC, rR) if row[8] == 0.0 else None
        parts.append(SectionState(P_h, P_r, *q, hR, hSC, rSC, rR, bool(q[0] + q[1] > _SHUT * supply[0]), name))
    return Operating(v, force, P, float(Q_b), float(max(Q_M, 0.0)), pR, tuple(parts))


def _one(openings) -> tuple[Openings, ...]:
    return (openings,) if isinstance(openings, Openings) else tuple(openings)


def _velocities(circuit: Circuit, v) -> np.ndarray:
    return _each(circuit, v, "v", "velocity", "m/s")


def _each(circuit: Circuit, numbers, key: str, what: str, unit: str) -> np.ndarray:
    found = np.atleast_1d(np.asarray(numbers, float))
    if found.shape != (len(circuit.sections),) or not np.isfinite(found).all():
        raise InputError(f"{found} is no {what} for each of {len(circuit.sections)} sections", key=key,
                         mend=f"give one finite number a section, in {unit}")
    return found


def _bounds(rows, supply, v, openings):
    """For each section, (P, pressures (N, 2)) at its least force and at its greatest.

    More of the pump's flow to another section lowers P, and with it the force of a section that extends.
    """
    step = _STEP * np.maximum(np.abs(v), supply[0] / np.maximum(rows[:, 0], rows[:, 1]))
    takes = np.array([-1.0 if o.direction == -1 else 1.0 for o in openings])
    runs = []
    for j in range(len(v)):
        both = []
        for side in (1.0, -1.0):
            moved = takes * takes[j] * side
            moved[j] = side
            p = np.zeros((len(v), 2))
            both.append((given(rows, supply, v + moved * step, p), p))
        runs.append(both)
    return runs


def _forces(rows, runs) -> Interval:
    ends = [[rows[j, 0] * p[j, 0] - rows[j, 1] * p[j, 1] for j, (_, p) in enumerate(side)] for side in zip(*runs)]
    return Interval(np.minimum(*map(np.array, ends)), np.maximum(*map(np.array, ends)))


def _back_only(row, v) -> bool:
    """Whether a section stands whose rod side has no way out but regeneration: any P_r ≤ P_h balances then."""
    return v == 0.0 and row[8] > 0.0 and row[7] == 0.0


def _ranges(run, j, back) -> tuple[Interval, Interval]:
    """P_h, P_r: ends of the force are ends of the pressures. back: row of a section that is `_back_only`; there P_r may rise as far
    as P_h, and P_h sink to what feeds it."""
    (P, p), (_, o) = run
    P_h, P_r = (Interval(min(p[j, i], o[j, i]), max(p[j, i], o[j, i])) for i in (0, 1))
    if back is None:
        return P_h, P_r
    fed = min(P, back[2]) if back[4] > 0.0 else P_r.low
    return Interval(min(P_h.low, fed), P_h.high), Interval(P_r.low, max(P_r.high, min(back[3], P_h.high)))


def _narrowed(row, P_h, P_r, f, back: bool) -> tuple[Interval, Interval]:
    """The ranges on the line f = A_h P_h − A_r P_r; f None: as they are."""
    if f is None:
        return P_h, P_r
    A_h, A_r = row[:2]
    if back and A_h != A_r:  # P_r ≤ P_h
        meet = float(np.clip(f / (A_h - A_r), *P_r))
        P_r = Interval(P_r.low, meet) if A_h > A_r else Interval(meet, P_r.high)
    h = Interval(*(float(np.clip((f + A_r * p) / A_h, *P_h)) for p in P_r))
    return h, Interval(*(float(np.clip((A_h * p - f) / A_r, *P_r)) for p in h))


def _section_flows(row, P, p, j, v):
    """Q_ph, Q_pr, Q_th, Q_tr, Q_a, Q_ho, Q_ro; where a chamber is between its limits, what feeds it follows from its balance."""
    x, y = p[j]
    q_ph, q_pr, q_th, q_tr, q_a, _ = _flows(row, P, x, y)
    inside = [edge * top < at < top * (1 - edge) for at, top, edge in ((x, row[2], _EDGE), (y, row[3], _EDGE))]
    one_way = row[4] == 0.0 or row[5] == 0.0
    if inside[0] and row[4] > 0.0 and one_way:
        q_ph = max(row[0] * v + q_th - q_a, 0.0)
    if inside[1] and row[5] > 0.0 and one_way:
        q_pr = max(-row[1] * v + q_tr + q_a, 0.0)
    q_ho, q_ro = q_ph - q_th + q_a - row[0] * v, q_pr - q_tr - q_a + row[1] * v
    return q_ph, q_pr, q_th, q_tr, q_a, 0.0 if inside[0] else q_ho, 0.0 if inside[1] else q_ro
