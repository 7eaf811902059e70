"""The shorter way for sections that move one way: closed forms at a given P, Newton's method in (v, q_a) with regeneration.

Extending (head in, rod out; without regeneration a retracting section is the same with sides and signs exchanged), v > 0:

    P_i = proj(P − S(x)/k_i²),  x = A_i v − q_a,   P_o = proj(S(y)/k_o²),  y = A_o v − q_a,   q_a² = k_a² max(P_o − P_i, 0)
    F_1 = βv + f̄ − A_i P_i + A_o P_o = 0,   F_2 = q_a²/k_a² + P_i − P_o = 0

F is the gradient of a convex function of (v, q_a). `SLOW` hands over to `crossed`: where regeneration is open while the
section does not extend, where it alone drains the larger of two sides, or where Newton's method has not satisfied both equations.

Source: [Kikuuwe21] (93)–(95), (103), (106), (122), its formulas corrected as in `closed`.
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.jit import jit

DONE = 0
SLOW = 1


@jit
def _through(k, P, P_i):
    """Flow k √(P − P_i) into a chamber held at P_i by its relief or suction check, 0 where P < P_i; its derivative by P.

    It flows while the rod stands or is pushed back too, out through the relief, if P > P_iM: (113) has none then.
    """
    if k == 0.0 or P <= P_i:
        return 0.0, 0.0
    root = np.sqrt(P - P_i)
    return k * root, 0.5 * k / root


@jit
def _settle(b, c, a):
    """Root of x²/a + b x + c = 0 where c < 0, else 0: `closed.Φ_A` for what moves on."""
    if c >= 0.0 or a == 0.0:
        return 0.0
    return -2.0 * c / (b + np.sqrt(b * b - 4.0 * c / a))


@jit
def _advance(A_i, A_o, F_i, F_o, a_i, a_o, β, f, F):
    """v > 0 with βv + f = Γ̂₊(P, v), F = A_i P, where f < Γ̂₊(P, 0).  (122)"""
    a_s = a_i * a_o / (a_i + a_o) if a_i + a_o > 0.0 else 0.0
    top = F if F < F_i else F_i
    if a_i == 0.0 or f >= top:  # nothing pushes
        v = 0.0
    else:
        v = max(_settle(β, f - F, a_s), _settle(β, f - F + F_o, a_i))
        if F > F_i:
            v = min(v, max(_settle(β, f - F_i, a_o), (F_i - F_o - f) / β))
    return max(v, _settle(β, f, a_o), (-F_o - f) / β)


@jit
def _held(x, P, P_iM, k_i):
    """In-side pressure at the flow x through its valve, and its slope −dP_i/dx: at its relief where oil is pushed back (x < 0)."""
    if x < 0.0:
        return P_iM, 0.0
    if k_i == 0.0:
        return 0.0, 0.0
    h = x / (k_i * k_i)
    P_i = P - x * h
    return (0.0, 0.0) if P_i <= 0.0 else ((P_iM, 0.0) if P_i >= P_iM else (P_i, 2.0 * h))


@jit
def _drained(y, P_oM, k_o):
    """Out-side pressure at the flow y to tank, and its slope."""
    if y <= 0.0:
        return 0.0, 0.0
    if k_o == 0.0:
        return P_oM, 0.0
    r = y / (k_o * k_o)
    return (P_oM, 0.0) if y * r >= P_oM else (y * r, 2.0 * r)


@jit
def _regenerate(A_i, A_o, P_iM, P_oM, k_i, k_o, k_a, β, f, P, v, q):
    """Newton's method from (v, q), each step cut back where it goes uphill: whether it satisfies both equations, v, q_a,
    Q_p, dQ_p/dP."""
    g_a = 1.0 / (k_a * k_a)
    dv = 0.0
    dq = 0.0
    before = 0.0
    for _ in range(60):
        x = A_i * v - q
        y = A_o * v - q
        P_i, h = _held(x, P, P_iM, k_i)
        P_o, r = _drained(y, P_oM, k_o)
        F_1 = β * v + f - A_i * P_i + A_o * P_o
        F_2 = q * q * g_a + P_i - P_o
        uphill = F_1 * dv + F_2 * dq
        if uphill > -0.5 * before:
            cut = max(before / (before - uphill), 0.1) - 1.0
            v = v + cut * dv
            q = q + cut * dq
            dv = (1.0 + cut) * dv
            dq = (1.0 + cut) * dq
            before = (1.0 + cut) * before
            continue
        J_11 = β + A_i * A_i * h + A_o * A_o * r
        J_12 = -A_i * h - A_o * r
        J_22 = 2.0 * q * g_a + r + h
        det = J_11 * J_22 - J_12 * J_12
        if not det > 0.0:
            break
        dv = (J_12 * F_2 - J_22 * F_1) / det
        dq = (J_12 * F_1 - J_11 * F_2) / det
        cut = min(
            1.0, 0.9 * q / -dq if q + dq < 0.0 else 1.0, 0.9 * v / -dv if v + dv < 0.0 else 1.0
        )
        dv = cut * dv
        dq = cut * dq
        before = F_1 * dv + F_2 * dq
        v = v + dv
        q = q + dq
        if cut == 1.0 and abs(dv) <= 1e-8 * v and abs(dq) <= 1e-8 * q:
            good = abs(F_1) <= 1e-6 * (A_i * P_iM + A_o * P_oM) and abs(F_2) <= 1e-6 * (P_iM + P_oM)
            if h == 0.0:
                Q_p, slope = _through(k_i, P, P_i)
                return good, v, q, Q_p, slope
            dv = (J_12 + J_22 * A_i) / det
            dq = -(J_12 * A_i + J_11) / det
            return good, v, q, A_i * v - q, A_i * dv - dq
    return False, v, q, 0.0, 0.0


@jit
def _supplied(A_i, P_iM, k_i, v, P, stiff):
    """Pump flow Q_p of a section, and dQ_p/dP; its fed side takes A_i v, and stiff + dP_i/dv A_i is the slope of its force."""
    x = A_i * v
    P_i, h = _held(x, P, P_iM, k_i)
    if h == 0.0:
        return _through(k_i, P, P_i)
    return x, A_i * A_i / (stiff + A_i * A_i * h)


@jit
def _all_back(A_i, A_o, P_iM, P_oM, k_i, k_a, β, f, P):
    """A section whose out side drains into the in side only (k_o = 0), A_i > A_o: it moves like one of area A_i − A_o."""
    d = A_i - A_o
    low = min(P, P_iM) if k_i > 0.0 else 0.0
    if f >= max(d * low, A_i * low - A_o * P_oM):
        Q_p, slope = _through(k_i, P, P_iM)
        return DONE, min((A_i * P_iM - f) / β, 0.0), 0.0, Q_p, slope
    a = k_a * k_a / (A_o * A_o * A_o)
    v = _advance(d, A_o, d * P_iM, np.inf, k_i * k_i / (d * d * d), a, β, f, d * P)
    q = A_o * v
    if _held(d * v, P, P_iM, k_i)[0] + q * q / (k_a * k_a) <= P_oM:
        Q_p, slope = _supplied(d, P_iM, k_i, v, P, β + 2.0 * v / a)
        return DONE, v, q, Q_p, slope
    good, v, q, Q_p, slope = _regenerate(A_i, A_o, P_iM, P_oM, k_i, 0.0, k_a, β, f, P, v, 0.7 * q)
    return DONE if good else SLOW, v, q, Q_p, slope


@jit
def _shut_in(A_i, A_o, P_iM, P_oM, k_i, k_o, k_a, β, f, P):
    """Whether the check is shut while regeneration alone fills the fed side (x = 0) of a section with A_o > A_i; and v then."""
    d = A_o - A_i
    a = 1.0 / (A_i * A_i * A_i / (k_a * k_a) + d * d * d / (k_o * k_o))
    v = max(_settle(β, f, a), _settle(β, f + d * P_oM, k_a * k_a / (A_i * A_i * A_i)))
    P_o = min((d * v / k_o) ** 2, P_oM)
    P_i = P_o - (A_i * v / k_a) ** 2
    return v > 0.0 and (min(P, P_iM) if k_i > 0.0 else 0.0) <= P_i <= P_iM, v


@jit
def _one_way(A_i, A_o, P_iM, P_oM, k_i, k_o, k_a, β, f, P, v_w, q_w):
    """State (DONE or SLOW), v, q_a, Q_p, dQ_p/dP of a section that extends; v_w, q_w: from where Newton's method may start."""
    if k_a > 0.0 and k_o == 0.0:
        return (
            _all_back(A_i, A_o, P_iM, P_oM, k_i, k_a, β, f, P)
            if A_i > A_o
            else (SLOW, 0.0, 0.0, 0.0, 0.0)
        )
    F_i = A_i * P_iM
    F_o = A_o * P_oM
    F = A_i * P
    if f >= (min(F_i, F) if k_i > 0.0 else 0.0) - (0.0 if k_o > 0.0 else F_o):
        Q_p, slope = _through(k_i, P, P_iM)
        return DONE, (F_i - f) / β if f > F_i else 0.0, 0.0, Q_p, slope
    a_o = k_o * k_o / (A_o * A_o * A_o)
    v = _advance(A_i, A_o, F_i, F_o, k_i * k_i / (A_i * A_i * A_i), a_o, β, f, F)
    y = A_o * v
    P_o, r = _drained(y, P_oM, k_o)
    if k_a > 0.0:
        P_i, h = _held(A_i * v, P, P_iM, k_i)
        if P_o > P_i:
            if A_o > A_i:
                shut, v_s = _shut_in(A_i, A_o, P_iM, P_oM, k_i, k_o, k_a, β, f, P)
                if shut:
                    return DONE, v_s, A_i * v_s, 0.0, 0.0
            if q_w <= 0.0:
                v_w = v
                q_w = min(0.7 * k_a * np.sqrt(P_o - P_i), 0.7 * y)
            good, v, q, Q_p, slope = _regenerate(
                A_i, A_o, P_iM, P_oM, k_i, k_o, k_a, β, f, P, v_w, q_w
            )
            return DONE if good else SLOW, v, q, Q_p, slope
    Q_p, slope = _supplied(A_i, P_iM, k_i, v, P, β + A_o * A_o * r)
    return DONE, v, 0.0, Q_p, slope


@jit
def quick(row, β, f, P, v_w, q_w):
    """State, v, q_a, Q_p, dQ_p/dP of a section at the pressure P, as far as there is a shorter way."""
    A_h = row[0]
    A_r = row[1]
    P_hM = row[2]
    P_rM = row[3]
    k_ph = row[4]
    k_pr = row[5]
    k_th = row[6]
    k_tr = row[7]
    k_a = row[8]
    if k_pr == 0.0 and k_th == 0.0:
        if k_a > 0.0 and k_ph == 0.0 and k_tr == 0.0:
            return SLOW, 0.0, 0.0, 0.0, 0.0
        if k_ph == 0.0 and k_tr == 0.0:
            v = (
                (A_h * P_hM - f) / β
                if f > A_h * P_hM
                else ((-A_r * P_rM - f) / β if f < -A_r * P_rM else 0.0)
            )
            return DONE, v, 0.0, 0.0, 0.0
        return _one_way(A_h, A_r, P_hM, P_rM, k_ph, k_tr, k_a, β, f, P, v_w, q_w)
    if k_ph == 0.0 and k_tr == 0.0 and k_a == 0.0:
        state, v, q, Q_p, slope = _one_way(
            A_r, A_h, P_rM, P_hM, k_pr, k_th, 0.0, β, -f, P, 0.0, 0.0
        )
        return state, -v, q, Q_p, slope
    return SLOW, 0.0, 0.0, 0.0, 0.0
