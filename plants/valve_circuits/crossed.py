"""A section with any openings, also with both directions open at once, at the pressure P before its check: one root in P_r.

With y = P_r given, the rod side's balance and the force give everything else; q_a, or the flow from chamber to chamber, is the root
of a quadratic:

    A_r v = k_tr √y − k_pr R(P − y) + q_a,   A_h x = βv + f̄ + A_r y,   q_a = k_a √(y − x)⁺

The head side's balance increases along y; its zero is sought. Below y = 0 and above y = P_rM, y stays and only x changes. The
unknown is not y but m = √y up to y = P/2, and √(2P) − R(P − y) from there, so that no digits are lost where a pressure drop is
small (with x and y as unknowns, velocities there are off by 1e-8 m/s). While the check is shut, P plays no part, and the valves
from the pump join head and rod side behind it, both ways, with the coefficient k_e = k_ph k_pr/√(k_ph² + k_pr²).

Source: [Kikuuwe21] (92); ours for openings it leaves out. The derivative by P is that of the linear network, as in `slopes`.
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits.jit import jit
from plants.valve_circuits.kernel import _root

_MOST = 300
_EDGE = 1e-13  # share of a limit: a chamber as near to it is at it


@jit
def _within(p, top):
    """Whether a chamber's pressure p is neither at the tank's nor at its relief's, `top`."""
    return _EDGE * top < p < top * (1.0 - _EDGE)


@jit
def _in_series(k_ph, k_pr):
    """k_e of two orifices in series, 0 where both are shut."""
    return k_ph * k_pr / np.sqrt(k_ph * k_ph + k_pr * k_pr) if k_ph + k_pr > 0.0 else 0.0


@jit
def _through(α, b, c):
    """q ≥ 0 of α q² + b q + c = 0 (α = ∞: 0)."""
    return 0.0 if c >= 0.0 or α == np.inf else -2.0 * c / (b + np.sqrt(b * b - 4.0 * α * c))


@jit
def _sides(row, P, shut, β, f, m, m_M):
    """x, v, y, q, q_pr at m [√Pa]; for m below 0 or beyond m_M, y is at its limit and the rest of m moves x."""
    A_h = row[0]
    A_r = row[1]
    k_pr = row[5]
    k_tr = row[7]
    k_a = row[8]
    k_e = 0.0
    if shut:
        k_e = _in_series(row[4], k_pr)
        k_pr = 0.0
    at = min(max(m, 0.0), m_M)
    half = np.sqrt(0.5 * P) if k_pr > 0.0 else np.inf
    if at <= half:
        y = at * at
        ζ = _root(P - at * at)
    else:
        ζ = 2.0 * half - at
        y = P - ζ * abs(ζ)
    n = k_tr * np.sqrt(max(y, 0.0)) - k_pr * ζ
    b = β / A_r
    c = β * n / A_r + f - (A_h - A_r) * y
    K = k_a + k_e if c < 0.0 else k_e
    q = 0.0
    if K > 0.0:
        q = _through(A_h / (K * K), b, -abs(c))
        q = q if c < 0.0 else -q
    v = (n + q) / A_r
    x = (β * v + f + A_r * y) / A_h
    # Beyond a limit only x moves; the quadratic gives its pressure drop to more digits than x and y do.
    if at != m:
        before = q / K if K > 0.0 else -_root(c / A_h)
        drop = before - (m - at)
        risen = before * abs(before) - drop * abs(drop)
        x = x + risen
        v = v + A_h * risen / β
        q = (k_a + k_e) * drop if drop > 0.0 else k_e * drop
    return x, v, y, q, k_pr * ζ


@jit
def _left(row, P, shut, x, v, q):
    """A_h v less what flows into the head side, and the size of these flows."""
    moved = row[0] * v
    drained = row[6] * np.sqrt(x)
    fed = 0.0 if shut else row[4] * _root(P - x)
    return moved + drained - fed - q, abs(moved) + drained + abs(fed) + abs(q)


@jit
def _solved(row, P, shut, β, f):
    """x, v, y, q, q_pr of the section; shut: the check passes no oil."""
    P_hM = row[2]
    P_rM = row[3]
    both = row[5] > 0.0 and not shut
    m_M = np.sqrt(P_rM) if not both or P_rM <= 0.5 * P else np.sqrt(2.0 * P) - _root(P - P_rM)
    x_0 = _sides(row, P, shut, β, f, 0.0, m_M)[0]
    x_M = _sides(row, P, shut, β, f, m_M, m_M)[0]
    a = min(_root(-x_0), 0.0)
    b = m_M + max(_root(P_rM - x_M) - _root(P_rM - P_hM), 0.0)
    k = (row[4] + row[5] + row[6] + row[7] + row[8]) / np.sqrt(P_hM) + row[0] * row[0] / β
    # Residuals at both ends (ra, rb), and as false position weighs them (fa, fb); side: the end moved last.
    ra = -np.inf
    rb = np.inf
    fa = 0.0
    fb = 0.0
    side = 0
    for step in range(_MOST):
        m = a - fa * (b - a) / (fb - fa) if fb > fa and step % 8 != 7 else 0.5 * (a + b)
        if not a < m < b:
            m = 0.5 * (a + b)
            if not a < m < b:
                break
        x, v, y, q, q_pr = _sides(row, P, shut, β, f, m, m_M)
        r, size = _left(row, P, shut, min(max(x, 0.0), P_hM), v, q)
        r = max(min(r, k * x), k * (x - P_hM))  # x = 0 and x = P_hM hold the root
        if r < 0.0:
            a = m
            ra = r
            fa = r
            fb = 0.5 * fb if side < 0 else fb
            side = -1
        else:
            b = m
            rb = r
            fb = r
            fa = 0.5 * fa if side > 0 else fa
            side = 1
        if abs(r) <= 2e-15 * size:
            break
    m = a if -ra < rb else b
    x, v, y, q, q_pr = _sides(row, P, shut, β, f, m, m_M)
    return min(max(x, 0.0), P_hM), v, y, q, q_pr


@jit
def _fed(row, P, x, v, q):
    """Flow through the valve from the pump to the head side, the check open."""
    q_ph = row[4] * _root(P - x)
    # No more than with x at a limit: x may be at one without being recognised as such.
    if _within(x, row[2]) and row[4] > 0.0:
        q_ph = min(
            max(row[0] * v + row[6] * np.sqrt(x) - q, row[4] * _root(P - row[2])),
            row[4] * np.sqrt(P),
        )
    if row[5] == 0.0:  # one valve from the pump, behind its check
        q_ph = max(q_ph, 0.0) if P > x else 0.0
    return q_ph


@jit
def passed(row, β, f, P, found):
    """v and Q_p of a section at the pressure P; sets found: x, y [Pa], q_ph, q_pr, q_th, q_tr, q_a, q_ho, q_ro [m³/s].

    Flows are exact however small they are: they come from balances and roots of small drops, not from differences of pressures.
    Behind a shut check, a standing rod's pressures are not determined by its force: x, y are one pair of them (`levels` has all).
    """
    x, v, y, q, q_pr = _solved(row, P, False, β, f)
    q_ph = _fed(row, P, x, v, q)
    q_a = q
    if q_ph + q_pr <= 0.0:
        x, v, y, q, _ = _solved(row, P, True, β, f)
        k_e = _in_series(row[4], row[5])
        q_a = q * row[8] / (row[8] + k_e) if q > 0.0 and row[8] > 0.0 else 0.0
        q_ph = q - q_a
        q_pr = q_a - q
    q_th = row[6] * np.sqrt(x)
    q_tr = row[7] * np.sqrt(max(y, 0.0))
    found[0] = x
    found[1] = y
    found[2] = q_ph
    found[3] = q_pr
    found[4] = q_th
    found[5] = q_tr
    found[6] = q_a
    found[7] = 0.0 if _within(x, row[2]) else q_ph - q_th + q_a - row[0] * v
    found[8] = 0.0 if _within(y, row[3]) else q_pr - q_tr - q_a + row[1] * v
    return v, max(q_ph + q_pr, 0.0)


@jit
def crossed(row, β, f, P):
    """v, Q_p and dQ_p/dP of a section at the pressure P."""
    x, v, y, q, q_pr = _solved(row, P, False, β, f)
    Q_p = _fed(row, P, x, v, q) + q_pr
    if Q_p <= 0.0:
        return _solved(row, P, True, β, f)[1], 0.0, 0.0
    return v, Q_p, _slope(row, β, P, x, y)


@jit
def _conductance(k, drop):
    return k / (2.0 * np.sqrt(max(abs(drop), 1e-9)))


@jit
def _slope(row, β, P, x, y):
    """dQ_p/dP: chambers at their limits keep their pressure."""
    A_h = row[0]
    A_r = row[1]
    g_h = _conductance(row[4], P - x)
    g_r = _conductance(row[5], P - y)
    g_a = _conductance(row[8], y - x) if y > x else 0.0
    hh = g_h + _conductance(row[6], x) + g_a + A_h * A_h / β
    rr = g_r + _conductance(row[7], y) + g_a + A_r * A_r / β
    hr = -g_a - A_h * A_r / β
    free_h = _within(x, row[2])
    free_r = _within(y, row[3])
    dx = dy = 0.0
    if free_h and free_r:
        det = hh * rr - hr * hr
        dx = (rr * g_h - hr * g_r) / det
        dy = (hh * g_r - hr * g_h) / det
    elif free_h:
        dx = g_h / hh
    elif free_r:
        dy = g_r / rr
    return g_h * (1.0 - dx) + g_r * (1.0 - dy)
