"""Formulas of [Kikuuwe21] as printed, for the study to hold them against the circuit: (29), (61)–(64), (73), (74)."""

from __future__ import annotations

import numpy as np

from plants.valve_circuits import closed


def segments(row, supply, v) -> dict[str, float]:
    """Forces of (64f)–(64s) as printed, and of the two plateaus, at v [m/s]; û² > 0."""
    A_h, A_r, P_hM, P_rM, k_ph, k_pr, k_th, k_tr = row[:8]
    Q, P_M, k_b = supply
    S = lambda x: np.sign(x) * x * x
    ph = S(v) * A_h**3 / k_ph**2
    tr = S(v) * A_r**3 / k_tr**2
    pr = S(v) * A_r**3 / k_pr**2
    th = S(v) * A_h**3 / k_th**2
    F_h = A_h * P_hM
    F_r = A_r * P_rM
    fed = -(A_h**3) / k_b**2 * S(v - Q / A_h) - ph
    back = -(A_r**3) / k_b**2 * S(v + Q / A_r) - pr
    return {
        "+0a": F_h - tr,
        "+0b": F_h - F_r,
        "+1a": fed - tr,
        "+1b": fed - F_r,
        "+2a": A_h * P_M - ph - tr,
        "+2b": A_h * P_M - ph - F_r,
        "+3": -tr,
        "-0a": -F_r - th,
        "-0b": F_h - F_r,
        "-1a": back - th,
        "-1b": back + F_h,
        "-2a": -A_r * P_M - pr - th,
        "-2b": -A_r * P_M - pr + F_h,
        "-3": -th,
        "-F_rM": -F_r,
        "F_hM": F_h,
    }


def printed_Γ(row, supply, v, ε):
    """(61b) − (62b) at v > 0, divisions by U_b² replaced by those by max(ε, U_b²), as the text proposes."""
    A_h, A_r, P_hM, P_rM, k_ph, _, _, k_tr = row[:8]
    Q, P_M, k_b = supply
    w = v - Q / A_h
    pushed = (
        np.minimum(A_h * P_M, -(A_h**3) / max(ε, k_b**2) * w * np.abs(w)) - v * v * A_h**3 / k_ph**2
    )
    return np.clip(pushed, 0.0, A_h * P_hM) - np.clip(v * v * A_r**3 / k_tr**2, 0.0, A_r * P_rM)


def printed_Φ_B(b, c, a_0, a_1, x_1):
    """(29) as printed for x_1 > 0, with b x_1 + c for its bx + c."""
    up = a_1 * b + 2 * x_1
    near = a_0 * (b * x_1 + c)
    beyond = (a_0 * up - np.sqrt(a_0**2 * up**2 + 4 * a_0 * (a_0 + a_1) * (a_1 * c - x_1**2))) / (
        2 * (a_0 + a_1)
    )
    down = a_1 * b - 2 * x_1
    behind = (
        np.sqrt(a_0**2 * down**2 - 4 * a_0 * (a_0 + a_1) * (a_1 * c + x_1**2)) - a_0 * down
    ) / (2 * (a_0 + a_1))
    below = (
        2
        * np.sqrt(a_0)
        * (x_1**2 - a_1 * c)
        / (np.sqrt(a_0) * up + np.sqrt(a_0 * up**2 + 4 * (a_1 - a_0) * (x_1**2 - a_1 * c)))
    )
    return np.where(x_1**2 <= a_1 * c, beyond, np.where(x_1**2 <= -near, behind, below))


def printed_Λ(row, supply, β, f):
    """v > 0 by (73a)–(73h), (74) as printed; max and min pass over NaN, as a comparison does."""
    s = closed.sides(row, supply)[0]
    Φ = closed.Φ_A
    ψ = s.a_i * s.a_o / (s.a_i + s.a_o)
    bled = np.fmax(
        printed_Φ_B(β, f, ψ, s.a_b, s.x_1), printed_Φ_B(β, f + s.F_o, s.a_i, s.a_b, s.x_1)
    )
    relieved = np.fmax(Φ(β, f - s.F_i, s.a_o), (s.F_i - s.F_o - f) / β)
    limited = np.fmax(Φ(β, f - s.F_M, ψ), Φ(β, f - s.F_M + s.F_o, s.a_i))
    return np.fmax(
        np.fmax(np.fmin(np.fmin(relieved, bled), limited), Φ(β, f, s.a_o)), (-s.F_o - f) / β
    )
