"""What a PID makes of valves and pressures: feed-forward of flow, dynamic pressure feedback, compensation of overlap.

    u_v = o(ẋ_d, p̄_a, p̄_b)                               (89) with u_f = h ẋ_d + ℓ and ḟ_p = 0, at filtered pressures p̄
    u_p = K_f (A_a (p_a − p̄_a) − A_b (p_b − p̄_b))
    o_d(v) = δ u_d clip(v/w, −1, 1)                       δ: share of the valve's overlap u_d

Source: [Petrovic22] (89), (92).
"""

from __future__ import annotations

import numpy as np


def feed_forward(law, wanted, y, slow) -> list:
    """u_v per actuator for the velocities `wanted`, without overlap; slow: p̄."""
    if law.feed == "flow":
        supplies = law.model.supplies if law.model.supplies else [law.model.p_s] * law.n
        return [
            _opening(law, c, x, v, *p, p_s)
            for c, x, v, p, p_s in zip(law.model.cylinders, y, wanted, _pairs(slow), supplies)
        ]
    return (
        [K * v for K, v in zip(law.each(law.K_v), wanted)] if law.feed == "gain" else [0.0] * law.n
    )


def _opening(law, c, x, v, p_a, p_b, p_s):
    m = law.model
    u_f = c.drift(m.oil, x, v, p_a, p_b)
    D = c.valve.denominators(*c.gains(m.oil, x, p_a, p_b), p_a, p_b, p_s, m.p_r)
    o = c.valve.invert(u_f, *D) - c.valve.dead_band * np.sign(u_f)
    # Where the supply is too low for it, no opening gives the flow.
    return np.clip(o, -c.valve.u_max, c.valve.u_max)


def pressure_feedback(law, pressures, slow) -> list:
    """u_p per actuator."""
    if law.damping == "none":
        return [0.0] * law.n
    return [
        K * (c.force(*p) - c.force(*s))
        for K, c, p, s in zip(
            law.each(law.K_f), law.model.cylinders, _pairs(pressures), _pairs(slow)
        )
    ]


def overlap_made_up_for(law, v) -> list:
    """o_d per actuator."""
    if not law.hydraulic:
        return [0.0] * law.n
    return [
        law.δ * c.valve.dead_band * np.clip(vi / law.w, -1.0, 1.0)
        for c, vi in zip(law.model.cylinders, v)
    ]


def _pairs(p):
    """(p_a, p_b) per cylinder."""
    return list(zip(p[::2], p[1::2]))
