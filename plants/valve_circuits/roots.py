"""The outer root in P, one circuit or many: `resolve` for v with βv + f̄ ∈ Γ(v), `given` for the pressures at given velocities.

    r(P) = Q − k_b √P − Σ_j Q_pj(P) decreases.  P = P_M where r(P_M) ≥ 0, else its root, found in s = √P (k_b s is linear in it)

by Newton's method kept inside a bracket, and by the bracket alone where that shrinks too slowly.

Source: [Kikuuwe21] (114), (117), (123), (126).
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.crossed import crossed, passed
from plants.valve_circuits.jit import jit
from plants.valve_circuits.kernel import _next
from plants.valve_circuits.quick import DONE, quick

_MOST = 400


@jit
def _balance(rows, supply, β, f, s, v, q):
    """r at P = s², its derivative by s; v and q_a are set, and are where Newton's methods start."""
    P = s * s
    r = supply[0] - supply[2] * s
    slope = -supply[2]
    for j in range(rows.shape[0]):
        state, v[j], q[j], Q_p, rate = quick(rows[j], β[j], f[j], P, v[j], q[j])
        if state != DONE:
            q[j] = 0.0
            v[j], Q_p, rate = crossed(rows[j], β[j], f[j], P)
        r -= Q_p
        slope -= 2.0 * s * rate
    return r, slope


@jit
def resolve(rows, supply, β, f, v, q):
    """P; sets v [m/s] (N) with β_j v_j + f_j ∈ Γ_j(v). rows (N, 9), supply (3), β [N s/m] > 0 and f [N] (N), q (N) for work."""
    q[:] = 0.0
    top = np.sqrt(supply[1])
    a = 0.0
    b = top
    fb, slope = _balance(rows, supply, β, f, b, v, q)
    if fb >= 0.0:
        return supply[1]
    fa = supply[0]
    s = b
    fs = fb
    before = 2.0 * (b - a)
    small = 4e-16 * supply[0]
    for step in range(_MOST):
        s_new = s - fs / slope if slope < 0.0 else -1.0
        if slope < 0.0 and abs(s_new - s) <= 1e-15 * top:
            break
        if not a < s_new < b or step % 4 == 3 and b - a > 0.25 * before:
            s_new = _next(a, -fa, b, -fb, np.inf, step)
            if not a < s_new < b:
                break
        if step % 4 == 3:
            before = b - a
        s = s_new
        fs, slope = _balance(rows, supply, β, f, s, v, q)
        if abs(fs) <= small:
            break
        if fs > 0.0:
            a = s
            fa = fs
        else:
            b = s
            fb = fs
    return s * s


@jit
def moving(row, v, P, found):
    """Q_p of a section that moves at v while the pump holds P: `crossed.passed` under the force at which it moves so.

    Λ falls along the force, by no more than 1/β: a root between what the reliefs bear. Any force does where v leaves it open.
    """
    a = -row[1] * row[3]
    b = row[0] * row[2]
    β = (b - a) / (
        abs(v)
        + (row[4] + row[5] + row[6] + row[7] + row[8])
        * np.sqrt(row[2] + row[3])
        / (row[0] + row[1])
        + 1e-300
    )
    fa, Q_p = passed(row, β, a - β * v, P, found)
    if fa <= v:
        return Q_p
    fb, Q_p = passed(row, β, b - β * v, P, found)
    if fb >= v:
        return Q_p
    fa = fa - v
    fb = fb - v
    before = np.inf
    for step in range(_MOST):
        f = _next(a, -fa, b, -fb, before, step)
        if not a < f < b:
            break
        before = b - a
        w, Q_p = passed(row, β, f - β * v, P, found)
        if w == v:
            break
        if w > v:
            a = f
            fa = w - v
        else:
            b = f
            fb = w - v
    return Q_p


@jit
def _demand(rows, supply, v, P, found):
    """r at P for given velocities; found (N, 9) is set as `crossed.passed` does."""
    r = supply[0] - supply[2] * np.sqrt(P)
    for j in range(rows.shape[0]):
        r -= moving(rows[j], v[j], P, found[j])
    return r


@jit
def given(rows, supply, v, found):
    """P; sets found (N, 9), each section's pressures and flows, at the velocities v (N)."""
    a = 0.0
    b = supply[1]
    fb = _demand(rows, supply, v, b, found)
    if fb >= 0.0:
        return b
    fa = _demand(rows, supply, v, a, found)
    before = np.inf
    for step in range(_MOST):
        P = _next(a, -fa, b, -fb, before, step)
        if not a < P < b:
            break
        before = b - a
        f = _demand(rows, supply, v, P, found)
        if f > 0.0:
            a = P
            fa = f
        else:
            b = P
            fb = f
    P = b if fa > -fb else a
    _demand(rows, supply, v, P, found)
    return P


@jit
def loaded(rows, supply, β, f, found, v):
    """P; sets found (N, 9) and v (N) at the loads β, f̄ (N)."""
    P = resolve(rows, supply, β, f, v, np.zeros(len(β)))
    for j in range(rows.shape[0]):
        v[j] = passed(rows[j], β[j], f[j], P, found[j])[0]
    return P


@jit
def resolve_all(rows, supply, β, f, v, P):
    """`resolve` at M points: rows (M, N, 9), supply (M, 3), β, f, v (M, N), P (M)."""
    q = np.zeros(rows.shape[1])
    for m in range(rows.shape[0]):
        P[m] = resolve(rows[m], supply[m], β[m], f[m], v[m], q)
