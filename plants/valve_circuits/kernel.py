"""Any number of sections on one pump, with regeneration: one convex programme, solved by nested monotone scalar roots.

With D the sum of (2/3) k |Δp|^1.5 of the orifices, (2/3) k_a max(P_r − P_h, 0)^1.5 of regeneration, and of the limits
0 ≤ P_h ≤ P_hM, 0 ≤ P_r ≤ P_rM, P ≤ P_M, P ≤ P_c, the pressures of βv + f̄ = f minimise

    D(p) − Q P + Σ_j (f_j − f̄_j)²/(2 β_j),   f_j = (A_h P_h − A_r P_r)_j,   v_j = (f_j − f̄_j)/β_j

which is strictly convex in f, so v is unique; given v they minimise D(p) − Q P + Σ v_j f_j. Both are v_j = v_0j + w_j f_j, with
w = 1/β, v_0 = −f̄/β, and with w = 0, v_0 = v. Minimising over a section's pressures keeps convexity in P, so

    r(P) = Q − k_b √P − Σ_j Q_pj(P)   decreases,   P = P_M if r(P_M) ≥ 0, else its root

Given P, a section is solved for P_r outside and P_h inside (`section`), each a root of an increasing function on a bounded
interval, by false position with bisection whenever that halves the interval too slowly (`_next`): at most 3 evaluations for each
halving, so it ends. That serves given velocities, and as the reference. Given (β, f̄), sections that move one way have a shorter way
(`quick`): closed forms without regeneration, Newton's method in (v, q_a) with it, whose answer is taken only if it satisfies the
balances; all others, both directions open at once, one root (`crossed`).

Functions here are compiled by Numba and can be called from compiled loops. Row: A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr, k_a.

Source: [Kikuuwe21] (91)–(126); several sections with regeneration, which it leaves open, areas A_h < A_r and u_tr = 0 are ours.
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.jit import jit

_HALVINGS = 200  # more than doubles have bits in any interval that occurs
_ROUNDED = 4e-16


@jit
def _root(x):
    return np.sqrt(x) if x >= 0.0 else -np.sqrt(-x)


@jit
def _clip(x, low, high):
    return low if x < low else (high if x > high else x)


@jit
def _next(a, fa, b, fb, before, step):
    """Where to look in the bracket a < b, f(a) < 0 < f(b): false position, bisection each third time or on slow progress."""
    middle = 0.5 * (a + b)
    if step % 3 == 2 or b - a > 0.5 * before:
        return middle
    x = a - fa * (b - a) / (fb - fa)
    edge = 1e-3 * (b - a)
    x = _clip(x, a + edge, b - edge)
    # Edge is below rounding where the bracket is narrow: not the end yet.
    return x if a < x < b else middle


@jit
def _flows(row, P, x, y):
    """Orifice flows out of P_c into head and rod, head → tank, rod → tank, regeneration, at P_h = x, P_r = y; P_c last."""
    k_ph = row[4]
    k_pr = row[5]
    a = k_ph * k_ph
    b = k_pr * k_pr
    P_c = P if a + b == 0.0 else max(P, (a * x + b * y) / (a + b))
    if b == 0.0:  # exactly, where the check is shut
        P_c = max(P, x)
    elif a == 0.0:
        P_c = max(P, y)
    q_a = row[8] * np.sqrt(y - x) if y > x else 0.0
    return (
        k_ph * _root(P_c - x),
        k_pr * _root(P_c - y),
        row[6] * np.sqrt(max(x, 0.0)),
        row[7] * np.sqrt(max(y, 0.0)),
        q_a,
        P_c,
    )


@jit
def _head(row, P, v_0, w, x, y):
    """A_h v less what flows into the head side: increasing in x = P_h."""
    q_ph, _, q_th, _, q_a, _ = _flows(row, P, x, y)
    return row[0] * (v_0 + w * (row[0] * x - row[1] * y)) - (q_ph - q_th + q_a)


@jit
def _rod(row, P, v_0, w, x, y):
    """−A_r v less what flows into the rod side: increasing in y = P_r. Where q_a is lost in rounding (y ≈ x), it is what the head
    side's balance leaves."""
    q_ph, q_pr, q_th, q_tr, q_a, _ = _flows(row, P, x, y)
    v = v_0 + w * (row[0] * x - row[1] * y)
    if row[8] > 0.0 and 0.0 < x < row[2] and y > x * (1.0 - _ROUNDED) and row[5] == 0.0:
        # a shut check loses no digits.
        fed = 0.0 if P < x * (1.0 - _ROUNDED) else row[4] / np.sqrt(max(P - x, _ROUNDED * x))
        if row[8] / np.sqrt(max(y - x, _ROUNDED * y)) > fed:
            q_a = max(row[0] * v + q_th - q_ph, 0.0)
    return -row[1] * v - (q_pr - q_tr - q_a)


@jit
def _head_pressure(row, P, v_0, w, y):
    """P_h at P_r = y."""
    a = 0.0
    b = row[2]
    fa = _head(row, P, v_0, w, a, y)
    if fa >= 0.0:
        return a
    fb = _head(row, P, v_0, w, b, y)
    if fb <= 0.0:
        return b
    before = np.inf
    for step in range(3 * _HALVINGS):
        x = _next(a, fa, b, fb, before, step)
        if not a < x < b:
            break
        before = b - a
        f = _head(row, P, v_0, w, x, y)
        if f == 0.0:
            return x
        if f < 0.0:
            a = x
            fa = f
        else:
            b = x
            fb = f
    return a if -fa < fb else b


@jit
def section(row, P, v_0, w):
    """P_h, P_r of one section at the pressure P before its check."""
    a = 0.0
    b = row[3]
    xa = _head_pressure(row, P, v_0, w, a)
    fa = _rod(row, P, v_0, w, xa, a)
    if fa >= 0.0:
        return xa, a
    xb = _head_pressure(row, P, v_0, w, b)
    fb = _rod(row, P, v_0, w, xb, b)
    if fb <= 0.0:
        return xb, b
    before = np.inf
    for step in range(3 * _HALVINGS):
        y = _next(a, fa, b, fb, before, step)
        if not a < y < b:
            break
        x = _head_pressure(row, P, v_0, w, y)
        before = b - a
        f = _rod(row, P, v_0, w, x, y)
        if f == 0.0:
            return x, y
        if f < 0.0:
            a = y
            fa = f
            xa = x
        else:
            b = y
            fb = f
            xb = x
    return (xa, a) if -fa < fb else (xb, b)


@jit
def pumped(row, P, v_0, w, x, y):
    """Q_p into one section: by the chambers' balances where they are between their limits, which loses fewer digits."""
    q_ph, q_pr, q_th, q_tr, q_a, _ = _flows(row, P, x, y)
    v = v_0 + w * (row[0] * x - row[1] * y)
    if row[8] > 0.0 and row[5] == 0.0 and x * (1.0 - _ROUNDED) < y < row[3]:
        q_a = max(row[1] * v - q_tr, 0.0)
    if row[4] > 0.0 and 0.0 < x < row[2]:
        q_ph = row[0] * v + q_th - q_a
        if row[5] == 0.0:
            q_ph = (
                min(max(q_ph, row[4] * _root(P - row[2]), 0.0), row[4] * np.sqrt(P))
                if P > x
                else 0.0
            )
    if row[5] > 0.0 and 0.0 < y < row[3]:
        q_pr = -row[1] * v + q_tr + q_a
        if row[4] == 0.0:
            q_pr = (
                min(max(q_pr, row[5] * _root(P - row[3]), 0.0), row[5] * np.sqrt(P))
                if P > y
                else 0.0
            )
    return max(q_ph + q_pr, 0.0)
