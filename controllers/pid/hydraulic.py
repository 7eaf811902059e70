"""What a PID makes of valves and pressures: feed-forward of flow, dynamic pressure feedback, compensation of overlap.

    u_v = o(ẋ_d, p̄_a, p̄_b)                               (89) with u_f = h ẋ_d + ℓ and ḟ_p = 0, at filtered pressures p̄
    u_p = K_f (A_a (p_a − p̄_a) − A_b (p_b − p̄_b))
    o_d(v) = δ u_d clip(v/w, −1, 1)                       δ: share of the valve's overlap u_d

Source: [Petrovic22] (89), (92).
"""

from __future__ import annotations

import numpy as np

from workbench.contract.declared import Notched


def feed_forward(law, wanted, y, slow) -> list:
    """u_v per actuator for the velocities `wanted`, without overlap; slow: p̄."""
    if law.feed == "flow":
        each = zip(law.chambers, y, wanted, _pairs(slow))
        return [_opening(c, s, v, *p) for c, s, v, p in each]
    return (
        [K * v for K, v in zip(law.each(law.K_v), wanted)] if law.feed == "gain" else [0.0] * law.n
    )


def _opening(actuator: Notched, s, v, p_a, p_b):
    """u_v of one actuator at position s, for the velocity v."""
    c = actuator.chambers
    oil = actuator.oil
    x = actuator.place(s)
    u_f = c.drift(oil, x, v, p_a, p_b)
    gains = c.gains(oil, x, p_a, p_b)
    D = c.valve.denominators(*gains, p_a, p_b, actuator.p_s, actuator.p_r)
    o = c.valve.invert(u_f, *D) - c.valve.dead_band * np.sign(u_f)
    # Where the supply is too low for it, no opening gives the flow.
    return np.clip(o, -c.valve.u_max, c.valve.u_max)


def pressure_feedback(law, pressures, slow) -> list:
    """u_p per actuator."""
    if law.damping == "none":
        return [0.0] * law.n
    each = zip(law.each(law.K_f), law.chambers, _pairs(pressures), _pairs(slow))
    return [K * (c.chambers.force(*p) - c.chambers.force(*s)) for K, c, p, s in each]


def overlap_made_up_for(law, v) -> list:
    """o_d per actuator."""
    if not law.chambers:
        return [0.0] * law.n
    bands = [c.chambers.valve.dead_band for c in law.chambers]
    return [law.δ * band * np.clip(vi / law.w, -1.0, 1.0) for band, vi in zip(bands, v)]


def _pairs(p):
    """(p_a, p_b) per cylinder."""
    return list(zip(p[::2], p[1::2]))
