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
    F_c, F_s, v_s, b, s_0, s_1 = 210.0, 300.0, 5e-3, 330.0, 6e6, 2e4
    r = abs(v) / v_s
    way = 1.0 if v > 0 else -1.0 if v < 0 else 0.0
    if law == BENGISU:
        if r < 1:
            return (F_s - F_s * (r - 1) ** 2) * way + b * v
        return (F_c + (F_s - F_c) * exp(-200.0 * (abs(v) - v_s))) * way + b * v
    if law == BROWN:
        return (F_c * tanh(4 * r) + (F_s - F_c) * r / (r * r / 4 + 0.75) ** 2) * way + b * v * tanh(
            4.0
        )
    g = F_c + (F_s - F_c) * exp(-r * r)
    if law == FILM:
        w, v_b = 1e-4, 0.02
        reach = lambda u: u * u / (u * u + w * w) ** (2 / 3)
        settled = (1 - F_c / F_s) * min(reach(v) / reach(v_b), 1.0)
        share = v * v / (v * v + w * w)
        out[1] = (settled - h) * (share / (0.05 if h <= settled else 0.5) + (1 - share) / 20.0)
        g = F_c + max((1 - h) * F_s - F_c, 0.0) * exp(-r * r)
    out[0] = v - s_0 * abs(v) / g * z
    return s_0 * z + s_1 * out[0] + b * v


@numba.njit(cache=True)
def _bars(a, w):
    """(inertia, what inertia and weight take at crank speed w, s, ds/da) at crank angle a, from the closure in components."""
    L, m = (2.0, 8.0, 5.0), (16.0, 64.0, 40.0)
    px, py = 2.0 * cos(a), 2.0 * sin(a)
    dx, dy = 10.0 - px, -py
    d2 = dx * dx + dy * dy
    along = (d2 + 64.0 - 25.0) / (2 * d2)  # of the coupler's end on the line to E
    off = sqrt(64.0 / d2 - along * along)
    qx, qy = along * dx - off * dy, along * dy + off * dx
    vx, vy = (px, qx, 10.0 - px - qx), (py, qy, -py - qy)
    # a bar's own vector (x, y) turns by (−y, x)
    tx, ty = (-vy[0], -vy[1], -vy[2]), (vx[0], vx[1], vx[2])
    det = tx[1] * ty[2] - tx[2] * ty[1]
    k2 = (-tx[0] * ty[2] + tx[2] * ty[0]) / det
    k3 = (-tx[1] * ty[0] + tx[0] * ty[1]) / det
    sx = vx[0] + vx[1] * k2 * k2 + vx[2] * k3 * k3
    sy = vy[0] + vy[1] * k2 * k2 + vy[2] * k3 * k3
    j2 = (sx * ty[2] - tx[2] * sy) / det
    j3 = (tx[1] * sy - sx * ty[1]) / det
    k, j = (1.0, k2, k3), (0.0, j2, j3)
    M = bias = 0.0
    cx = cy = ax = ay = 0.0
    for i in range(3):
        ex, ey = cx + 0.5 * tx[i] * k[i], cy + 0.5 * ty[i] * k[i]
        fx = ax + 0.5 * (tx[i] * j[i] - vx[i] * k[i] * k[i])
        fy = ay + 0.5 * (ty[i] * j[i] - vy[i] * k[i] * k[i])
        I = m[i] * L[i] ** 2 / 12
        M += m[i] * (ex * ex + ey * ey) + I * k[i] * k[i]
        bias += w * w * (m[i] * (ex * fx + ey * fy) + I * k[i] * j[i]) + 9.81 * m[i] * ey
        cx, cy = cx + tx[i] * k[i], cy + ty[i] * k[i]
        ax, ay = ax + tx[i] * j[i] - vx[i] * k[i] * k[i], ay + ty[i] * j[i] - vy[i] * k[i] * k[i]
    fx, fy = 0.5 * px + 1.0, 0.5 * py
    s = sqrt(fx * fx + fy * fy)
    return M, bias, s, (fx * -0.5 * py + fy * 0.5 * px) / s


@numba.njit(cache=True)
def _rates(x, U_ref, law):
    """ẋ of z_1, ż_1, p_1, p_2, p_3, U, z, h and the cylinder's work."""
    out = np.zeros(9)
    M, bias, s, lever = _bars(x[0], x[1])
    v = lever * x[1]
    A_2, A_3 = pi * 0.04**2, pi * (0.04**2 - 0.0175**2)
    F = A_2 * x[3] - A_3 * x[4] - _friction(law, v, x[6], x[7], out[6:8])
    C_d, C_t = 24e-3 / 60 / (10 * sqrt(35e5)), 0.8 * pi * 0.003**2 * sqrt(2 / 850.0)
    if x[5] > 0:
        Q_1, Q_3 = C_d * x[5] * _root(7.6e6 - x[2]), C_d * x[5] * _root(x[4] - 1e5)
    else:
        Q_1, Q_3 = C_d * x[5] * _root(x[2] - 1e5), C_d * x[5] * _root(7.6e6 - x[4])
    Q_t = C_t * _root(x[2] - x[3])
    l_2, l_3 = 0.5 + s - sqrt(3.0), 0.5 - s + sqrt(3.0)
    V_1, V_2, V_3 = 4.71e-5, 3.14e-5 + A_2 * l_2, 7.85e-5 + A_3 * l_3
    B_1 = 1 / (1 / 1500e6 + 1 / 150e6)
    B_2 = 1 / (1 / 1500e6 + 3.14e-5 / (V_2 * 150e6) + A_2 * l_2 / (V_2 * 31500e6))
    B_3 = 1 / (1 / 1500e6 + 7.85e-5 / (V_3 * 150e6) + A_3 * l_3 / (V_3 * 31500e6))
    out[0], out[1] = x[1], (F * lever - bias) / M
    out[2], out[3], out[4] = (
        B_1 / V_1 * (Q_1 - Q_t),
        B_2 / V_2 * (Q_t - A_2 * v),
        B_3 / V_3 * (A_3 * v - Q_3),
    )
    out[5] = (U_ref - x[5]) * 70 * pi
    out[8] = F * v
    return out


def start() -> np.ndarray:
    """At rest at 60°, p_3 = 3.5 MPa."""
    _, weight, _, lever = _bars(pi / 3, 0.0)
    p = (weight / lever + pi * (0.04**2 - 0.0175**2) * 3.5e6) / (pi * 0.04**2)
    return np.array([pi / 3, 0.0, p, p, 3.5e6, 0.0, 0.0, 0.0, 0.0])


@cache
def independent(law: int, T: float = 10.0, rtol: float = 1e-12) -> np.ndarray:
    """Rows every ms up to T by DOP853, started anew at every jump of U_ref."""
    rows, x = [], start()
    size = np.array([1.0, 1.0, 1e6, 1e6, 1e6, 10.0, 1e-4, 0.1, 100.0])
    for t_0, t_1, opening in PIECES:
        t_1 = min(t_1, T)
        if t_0 >= T:
            break
        at = np.arange(round(t_0 * 1000), round(t_1 * 1000) + 1) / 1000
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

    bars = []
    for (name, parent, start), L, m in zip(
        (
            ("crank", "ground", "60 deg"),
            ("coupler", "crank", "-37.90 deg"),
            ("rocker", "coupler", "-93.58 deg"),
        ),
        LENGTHS,
        MASSES,
    ):
        at = (bars[-1].com[0] * 2, 0.0, 0.0) if bars else (0.0, 0.0, 0.0)
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
    return Mechanism(
        tuple(bars),
        (Loop("E", Place("rocker", (5.0, 0.0, 0.0)), Place("ground", (10.0, 0.0, 0.0))),),
        (Actuator("c", circuit, Pin("ground", (-1.0, 0.0, 0.0)), Pin("crank", (1.0, 0.0, 0.0))),),
        method=method,
    )
