"""The four-bar written down a second time for independent solvers; `four_bar_exudyn` has it in exudyn.

`independent`: plain branches and 2 × 2 systems in Numba, nothing shared with `plants`; SciPy's DOP853 integrates it.
"""

from __future__ import annotations

from functools import cache
from math import cos, exp, pi, sin, sqrt, tanh

import numba
import numpy as np
from scipy.integrate import solve_ivp

PIECES = (
    (0.0, 1.0, 0.0),
    (1.0, 2.5, 1.0),
    (2.5, 5.0, 0.0),
    (5.0, 8.0, -1.0),
    (8.0, 30.0, 0.0),
)  # from, to, opening
LENGTHS = (2.0, 8.0, 5.0)  # m, of crank, coupler, rocker
MASSES = (16.0, 64.0, 40.0)  # kg
BENGISU, BROWN, LUGRE, FILM = range(4)


@numba.njit(cache=True)
def _root(dp):
    if abs(dp) < 2e5:
        return dp / sqrt(2e5)
    return sqrt(dp) if dp > 0 else -sqrt(-dp)


@numba.njit(cache=True)
def _friction(law, v, z, h, out):
    """Friction force, and ż, ḣ into out."""
    F_c = 210.0
    F_s = 300.0
    v_s = 5e-3
    b = 330.0
    s_0 = 6e6
    s_1 = 2e4
    drop = F_s - F_c
    r = abs(v) / v_s
    way = 1.0 if v > 0 else -1.0 if v < 0 else 0.0
    viscous = b * v
    if law == BENGISU:
        if r < 1:
            dry = F_s - F_s * (r - 1) ** 2
        else:
            dry = F_c + drop * exp(-200.0 * (abs(v) - v_s))
        return dry * way + viscous
    if law == BROWN:
        peak = drop * r / (r * r / 4 + 0.75) ** 2
        dry = F_c * tanh(4 * r) + peak
        return dry * way + viscous * tanh(4.0)
    fading = exp(-r * r)
    g = F_c + drop * fading
    if law == FILM:
        w = 1e-4
        v_b = 0.02
        reach = lambda u: u * u / (u * u + w * w) ** (2 / 3)
        thick = min(reach(v) / reach(v_b), 1.0)
        settled = (1 - F_c / F_s) * thick
        share = v * v / (v * v + w * w)
        time = 0.05 if h <= settled else 0.5
        rate = share / time + (1 - share) / 20.0
        out[1] = (settled - h) * rate
        breaking = max((1 - h) * F_s - F_c, 0.0)
        g = F_c + breaking * fading
    out[0] = v - s_0 * abs(v) / g * z
    return s_0 * z + s_1 * out[0] + b * v


@numba.njit(cache=True)
def _bars(a, w):
    """(inertia, what inertia and weight take at crank speed w, s, ds/da) at crank angle a, from the closure in components."""
    px = 2.0 * cos(a)
    py = 2.0 * sin(a)
    dx = 10.0 - px
    dy = -py
    d2 = dx * dx + dy * dy
    along = (d2 + 64.0 - 25.0) / (2 * d2)  # of the coupler's end on the line to E
    off = sqrt(64.0 / d2 - along * along)
    qx = along * dx - off * dy
    qy = along * dy + off * dx
    vx = (px, qx, 10.0 - px - qx)
    vy = (py, qy, -py - qy)
    # a bar's own vector (x, y) turns by (−y, x)
    tx = (-vy[0], -vy[1], -vy[2])
    ty = vx
    _, tx_1, tx_2 = tx
    _, ty_1, ty_2 = ty
    det = tx_1 * ty_2 - tx_2 * ty_1
    k_1 = (-tx[0] * ty_2 + tx_2 * ty[0]) / det
    k_2 = (-tx_1 * ty[0] + tx[0] * ty_1) / det
    sx = vx[0] + vx[1] * k_1 * k_1 + vx[2] * k_2 * k_2
    sy = vy[0] + vy[1] * k_1 * k_1 + vy[2] * k_2 * k_2
    j_1 = (sx * ty_2 - tx_2 * sy) / det
    j_2 = (tx_1 * sy - sx * ty_1) / det
    M, bias = _inertia(vx, vy, (1.0, k_1, k_2), (0.0, j_1, j_2), w)
    fx = 0.5 * px + 1.0
    fy = 0.5 * py
    s = sqrt(fx * fx + fy * fy)
    lever = (fx * -0.5 * py + fy * 0.5 * px) / s
    return M, bias, s, lever


@numba.njit(cache=True)
def _inertia(vx, vy, k, j, w):
    """(inertia, what inertia and weight take at crank speed w), from the bars' vectors, their speeds k w and accelerations j w²."""
    L = (2.0, 8.0, 5.0)
    m = (16.0, 64.0, 40.0)
    M = bias = 0.0
    cx = cy = ax = ay = 0.0
    for i in range(3):
        ki = k[i]
        ji = j[i]
        gx = -vy[i] * ki
        gy = vx[i] * ki
        turned_x = -vy[i] * ji
        turned_y = vx[i] * ji
        pulled_x = vx[i] * ki * ki
        pulled_y = vy[i] * ki * ki
        ex = cx + 0.5 * gx
        ey = cy + 0.5 * gy
        fx = ax + 0.5 * (turned_x - pulled_x)
        fy = ay + 0.5 * (turned_y - pulled_y)
        I = m[i] * L[i] ** 2 / 12
        M += m[i] * (ex * ex + ey * ey) + I * ki * ki
        turning = m[i] * (ex * fx + ey * fy) + I * ki * ji
        bias += w * w * turning + 9.81 * m[i] * ey
        cx += gx
        cy += gy
        ax = ax + turned_x - pulled_x
        ay = ay + turned_y - pulled_y
    return M, bias


@numba.njit(cache=True)
def _rates(x, U_ref, law):
    """ẋ of z_1, ż_1, p_1, p_2, p_3, U, z, h and the cylinder's work."""
    out = np.zeros(9)
    M, bias, s, lever = _bars(x[0], x[1])
    _, w, p_1, p_2, p_3, U, z, h, _ = x
    v = lever * w
    A_2 = pi * 0.04**2
    A_3 = pi * (0.04**2 - 0.0175**2)
    rubbed = _friction(law, v, z, h, out[6:8])
    F = A_2 * p_2 - A_3 * p_3 - rubbed
    C_d = 24e-3 / 60 / (10 * sqrt(35e5))
    C_t = 0.8 * pi * 0.003**2 * sqrt(2 / 850.0)
    supply = 7.6e6
    tank = 1e5
    if U > 0:
        Q_1 = C_d * U * _root(supply - p_1)
        Q_3 = C_d * U * _root(p_3 - tank)
    else:
        Q_1 = C_d * U * _root(p_1 - tank)
        Q_3 = C_d * U * _root(supply - p_3)
    Q_t = C_t * _root(p_1 - p_2)
    swept_2 = A_2 * (0.5 + s - sqrt(3.0))
    swept_3 = A_3 * (0.5 - s + sqrt(3.0))
    V_1 = 4.71e-5
    V_2 = 3.14e-5 + swept_2
    V_3 = 7.85e-5 + swept_3
    oil = 1 / 1500e6
    B_1 = 1 / (oil + 1 / 150e6)
    B_2 = 1 / (oil + 3.14e-5 / (V_2 * 150e6) + swept_2 / (V_2 * 31500e6))
    B_3 = 1 / (oil + 7.85e-5 / (V_3 * 150e6) + swept_3 / (V_3 * 31500e6))
    out[0] = w
    out[1] = (F * lever - bias) / M
    out[2] = B_1 / V_1 * (Q_1 - Q_t)
    out[3] = B_2 / V_2 * (Q_t - A_2 * v)
    out[4] = B_3 / V_3 * (A_3 * v - Q_3)
    out[5] = (U_ref - U) * 70 * pi
    out[8] = F * v
    return out


def start() -> np.ndarray:
    """At rest at 60°, p_3 = 3.5 MPa."""
    _, weight, _, lever = _bars(pi / 3, 0.0)
    A_2 = pi * 0.04**2
    A_3 = pi * (0.04**2 - 0.0175**2)
    p = (weight / lever + A_3 * 3.5e6) / A_2
    return np.array([pi / 3, 0.0, p, p, 3.5e6, 0.0, 0.0, 0.0, 0.0])


@cache
def independent(law: int, T: float = 10.0, rtol: float = 1e-12) -> np.ndarray:
    """Rows every ms up to T by DOP853, started anew at every jump of U_ref."""
    rows = []
    x = start()
    size = np.array([1.0, 1.0, 1e6, 1e6, 1e6, 10.0, 1e-4, 0.1, 100.0])
    for t_0, t_1, opening in PIECES:
        t_1 = min(t_1, T)
        if t_0 >= T:
            break
        first = round(t_0 * 1000)
        last = round(t_1 * 1000)
        at = np.arange(first, last + 1) / 1000
        found = solve_ivp(
            lambda t, x, U=10.0 * opening: _rates(x, U, law),
            (t_0, t_1),
            x,
            "DOP853",
            at,
            rtol=rtol,
            atol=rtol * size,
            max_step=5e-3,
        )
        rows.append(found.y.T[: -1 if t_1 < T else None])
        x = found.y[:, -1]
    return np.concatenate(rows)


def mechanism(circuit, method: str):
    """The same bars as a `Mechanism` in relative coordinates, the loop cut at E."""
    from plants.multibody.mechanism import Actuator, Body, Loop, Mechanism
    from plants.multibody.parts import Pin, Place

    named = (
        ("crank", "ground", "60 deg"),
        ("coupler", "crank", "-37.90 deg"),
        ("rocker", "coupler", "-93.58 deg"),
    )
    bars = []
    end = 0.0  # of the bar before, m
    for (name, parent, start), L, m in zip(named, LENGTHS, MASSES):
        at = (end, 0.0, 0.0)
        end = L
        J = m * L**2 / 12
        bars.append(
            Body(
                name,
                parent,
                point=at,
                mass=m,
                com=(L / 2, 0.0, 0.0),
                inertia=(0.0, J, J, 0.0, 0.0, 0.0),
                start=start,
                hold=not bars,
            )
        )
    loop = Loop("E", Place("rocker", (5.0, 0.0, 0.0)), Place("ground", (10.0, 0.0, 0.0)))
    cylinder = Actuator(
        "c",
        circuit,
        Pin("ground", (-1.0, 0.0, 0.0)),
        Pin("crank", (1.0, 0.0, 0.0)),
    )
    return Mechanism(tuple(bars), (loop,), (cylinder,), method=method)
