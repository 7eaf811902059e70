"""A `ThrottledCircuit` as a control law sees it: the force f_p = A_2 p_2 − A_3 p_3, what moves it, and the voltage for that.

With g_k = A_k/(β V_k/B_ek), β = B_oil,

    ḟ_p = β (u_f − h ṡ),   u_f = g_2 Q_t + g_3 Q_3d,   h = g_2 A_2 + g_3 A_3

Slow enough for the small volume between valve and throttle, both carry the same flow, and with y = C_vd U

    Q_t = y v(Δ_2)/√(1 + (y/C_vt)²),   Δ_2 = p_P − p_2 when U ≥ 0, else p_2 − p_T          orifices in series
    Q_3d = y v(Δ_3),                   Δ_3 = p_3 − p_T when U ≥ 0, else p_P − p_3

so u_f rises with U as long as g_2 v(Δ_2) + g_3 v(Δ_3) > 0 and has an inverse. (In the laminar zone of either orifice the
series is only nearly right.) Source: [Jaiswal21] (13)–(18), (43), put into the form of [Petrovic22] (89)–(93).
"""

from __future__ import annotations

import numpy as np

from plants.components.circuit import ThrottledCircuit

STEPS = 5  # Newton's: u_f is concave in |U|, so they come from below, and with y/C_vt ≤ 0.5 four leave 1e-12


def gains(circuit: ThrottledCircuit, s):
    """g_2, g_3 at a distance s of the pins, 1/m."""
    _, K_2, K_3 = circuit.compliances(s)
    return circuit.A_2 / (circuit.B_oil * K_2), circuit.A_3 / (circuit.B_oil * K_3)


def drift(circuit: ThrottledCircuit, s, sdot):
    """h ṡ: the part of −ḟ_p/β that needs no flow."""
    g_2, g_3 = gains(circuit, s)
    return (g_2 * circuit.A_2 + g_3 * circuit.A_3) * sdot


def slopes(circuit: ThrottledCircuit, s, p_2, p_3):
    """(g_2 v(Δ_2), g_3 v(Δ_3)) for U ≥ 0, and for U < 0: u_f per y = C_vd U while the throttle is wide."""
    (g_2, g_3), v = gains(circuit, s), circuit.laminar_root
    return (
        (g_2 * v(circuit.p_P - p_2), g_3 * v(p_3 - circuit.p_T)),
        (g_2 * v(p_2 - circuit.p_T), g_3 * v(circuit.p_P - p_3)),
    )


def passed(circuit: ThrottledCircuit, s, p_2, p_3, U):
    """u_f at an opening U [V] that has lasted, m²/s."""
    out, back = slopes(circuit, s, p_2, p_3)
    y = circuit.C_vd * U
    a = np.where(U >= 0, out[0], back[0])
    b = np.where(U >= 0, out[1], back[1])
    return _rise(a, b, y / circuit.C_vt) * y


def _rise(a, b, r):
    return b + a / np.sqrt(1.0 + r * r)


def invert(circuit: ThrottledCircuit, s, p_2, p_3, u_f):
    """U [V] with `passed` = u_f, as far as the pressures allow one; unlimited."""
    out, back = slopes(circuit, s, p_2, p_3)
    a = np.where(u_f >= 0, out[0], back[0])
    b = np.where(u_f >= 0, out[1], back[1])
    y = u_f / (a + b)
    for _ in range(STEPS):
        r = y / circuit.C_vt
        y = y + (u_f - _rise(a, b, r) * y) / (b + a / np.sqrt(1.0 + r * r) ** 3)
    return y / circuit.C_vd
