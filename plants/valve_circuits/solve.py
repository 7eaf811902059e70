"""Γ, Λ, pressures, flows and valve states of a circuit: what users call. Methods are in `closed`, `kernel`, `quick` and `roots`.

    Γ(circuit, openings, u_b, v)       forces at the velocities v, as intervals: they are sets at v = 0, with the bleed shut at Q/A
    Λ(circuit, openings, u_b, β, f̄)    velocities with β_j v_j + f̄_j ∈ Γ_j(v)
    operating(circuit, openings, u_b, v, f)   pressures, flows, states there

openings: one `Openings` a section. Ends of intervals are those of all pressures that balance (`levels`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits import closed
from plants.valve_circuits.circuit import Circuit, Openings
from plants.valve_circuits.levels import ranges
from plants.valve_circuits.roots import given, loaded, resolve_all
from plants.valve_circuits.states import segment
from workbench.contract.errors import InputError

_SHUT = 1e-12  # share of Q: a check or relief with less flow counts as shut
# Share of full speed: a force under which a section would move otherwise is not in Γ(v).
_AWAY = 1e-6


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
    rows = circuit.rows(openings)
    supply = circuit.supply(u_b)
    N = len(circuit.sections)
    β, f = np.broadcast_arrays(np.asarray(β, float), np.asarray(f, float))
    if β.shape[-1:] != (N,):
        if N > 1:
            raise InputError(
                f"β and f of shape {β.shape} for {N} sections",
                key="β, f",
                mend=f"let their last axis have length {N}",
            )
        β = β[..., None]
        f = f[..., None]
    if not (β > 0).all() or not np.isfinite(β).all() or not np.isfinite(f).all():
        raise InputError(
            "β must be greater than zero and f̄ finite",
            key="β, f",
            mend="β = B of (70), or B + h K of (72), from stiffness K ≥ 0 and damping B > 0",
        )
    shape = β.shape
    M = β.size // N
    v = np.zeros((M, N))
    P = np.zeros(M)
    resolve_all(
        np.tile(rows, (M, 1, 1)),
        np.tile(supply, (M, 1)),
        β.reshape(M, N).copy(),
        f.reshape(M, N).copy(),
        v,
        P,
    )
    return v.reshape(shape)


def Γ(circuit: Circuit, openings, u_b: float, v) -> Interval:
    """Forces, N, at the velocities v [m/s] of the N sections, each end with shape (N,).

    One section without regeneration, open one way: (61)–(65) as `closed` has them. Raises InputError for a velocity not finite.
    """
    rows = circuit.rows(openings)
    supply = circuit.supply(u_b)
    v = _velocities(circuit, v)
    if len(rows) == 1 and rows[0, 8] == 0.0 and _one(openings)[0].direction is not None:
        with np.errstate(over="ignore"):
            return Interval(
                *(
                    np.array([float(closed.Γ(rows[0], supply, v[0], upper))])
                    for upper in (False, True)
                )
            )
    P, flows = _solved(circuit, rows, supply, v, None)
    return _forces(ranges(rows, supply, P, flows)[1])


def operating(circuit: Circuit, openings, u_b: float, v, f=None) -> Operating:
    """Pressures, flows and valve states at the velocities v; f: forces [N], where they are known (Λ gives β v + f̄), narrow the
    pressures. Pressures not determined are intervals, each the range of one over all that balance; flows are unique.

    Raises InputError for forces that are not in Γ(v).
    """
    rows = circuit.rows(openings)
    supply = circuit.supply(u_b)
    openings = _one(openings)
    v = _velocities(circuit, v)
    f = None if f is None else _each(circuit, f, "f", "force", "N")
    P, flows = _solved(circuit, rows, supply, v, f)
    span, found = ranges(rows, supply, P, flows, f)
    Q_b = supply[2] * np.sqrt(P)
    parts = []
    Q_M = supply[0] - Q_b - sum(max(q[2] + q[3], 0.0) for q in flows)
    pR = bool(Q_M > _SHUT * supply[0] and P >= supply[1] * (1 - 1e-12))
    for j, (row, q, at, o) in enumerate(zip(rows, flows, found, openings)):
        hR, hSC, rR, rSC = [bool(s * Q > _SHUT * supply[0]) for Q in q[7:] for s in (1, -1)]
        name = (
            segment(o.direction, int(np.sign(v[j])), hR, hSC, pR, rSC, rR)
            if row[8] == 0.0
            else None
        )
        parts.append(
            SectionState(
                Interval(*at.P_h),
                Interval(*at.P_r),
                *map(float, q[2:]),
                hR,
                hSC,
                rSC,
                rR,
                bool(q[2] + q[3] > _SHUT * supply[0]),
                name,
            )
        )
    force = _forces(found) if f is not None else Γ(circuit, openings, u_b, v)
    return Operating(v, force, Interval(*span), float(Q_b), float(max(Q_M, 0.0)), pR, tuple(parts))


def _solved(circuit: Circuit, rows, supply, v, f):
    """P, and `crossed.passed` of every section (N, 9), at the velocities v, under the forces f where they are known."""
    flows = np.zeros((len(rows), 9))
    if f is None:
        return given(rows, supply, v, flows), flows
    most = rows[:, 0] * rows[:, 2] + rows[:, 1] * rows[:, 3]
    full = (supply[0] + rows[:, 4:].max(1) * np.sqrt(rows[:, 2])) / rows[:, 0]
    β = most / full
    w = np.zeros(len(v))
    P = loaded(rows, supply, β, f - β * v, flows, w)
    far = np.abs(w - v) > _AWAY * (full + np.abs(v))
    if far.any():
        j = int(np.argmax(far))
        raise InputError(
            f"{f[j]:.6g} N is no force of section {circuit.sections[j].name} at {v[j]:.6g} m/s: under it and these "
            f"openings it would move at {w[j]:.6g} m/s",
            key="f",
            mend="give the forces βv + f̄ of Λ, or leave f out: Γ tells which there are",
        )
    return P, flows


def _one(openings) -> tuple[Openings, ...]:
    return (openings,) if isinstance(openings, Openings) else tuple(openings)


def _velocities(circuit: Circuit, v) -> np.ndarray:
    return _each(circuit, v, "v", "velocity", "m/s")


def _each(circuit: Circuit, numbers, key: str, what: str, unit: str) -> np.ndarray:
    found = np.atleast_1d(np.asarray(numbers, float))
    if found.shape != (len(circuit.sections),) or not np.isfinite(found).all():
        raise InputError(
            f"{found} is no {what} for each of {len(circuit.sections)} sections",
            key=key,
            mend=f"give one finite number a section, in {unit}",
        )
    return found


def _forces(found) -> Interval:
    return Interval(*(np.array([at.f[end] for at in found]) for end in (0, 1)))
