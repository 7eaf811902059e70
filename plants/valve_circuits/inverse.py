"""The command u that moves a section at a given velocity v: f ∈ Γ(v; u, P) solved for u, in closed form.

The pump holds the pressure P. Along the motion, σ = sign v, w = |v| and F = σ f. α_i, α_o are a_i, a_o of `closed` with the valves
fully open, so that a = u² α. On each branch of (122) one orifice, or both in series, limit the motion:

    both in series            u² = w² (1/α_i + 1/α_o)/(A P − F)                 u_s
    out side at its relief    u² = w²/(α_i (A P − F_o − F))                     u_o
    in side at its relief     u² = w²/(α_o (F_i − F))                           u_i, 0 where F ≤ F_i − F_o (both would be)
    in side on its check      u² = w²/(α_o (−F))                                u_c, where a load drives the rod (F < 0)

Each velocity grows with u, and the section moves at max(min(v_i, max(v_s, v_o)), v_c), so

    u = σ min(max(u_i, min(u_s, u_o)), u_c)

Where a force in a denominator is not positive, no opening gives that velocity: the pump's pressure is too low, and u is MOST.
Where a relief alone determines the motion, no opening changes it, and u says nothing.

Source: [Kikuuwe21] (61)–(64), (122); the inverse is ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.valve_circuits import closed, on_pump
from plants.valve_circuits.closed import _TINY

MOST = 10.0  # the command, far beyond any valve's, for a velocity that no opening gives


class Opening(NamedTuple):
    """What `opening` finds.

    u              the command, not limited to ±1
    push           A P − F, the force left for the orifices [N]
    fed, drained   pressures of the side that the pump feeds and of the one that drains, both orifices in series [Pa]; at v = 0
                   those of a rod about to move
    A, P_iM, P_oM  area of the fed side [m²], pressures of the reliefs of both [Pa]
    """

    u: object
    push: object
    fed: object
    drained: object
    A: object
    P_iM: object
    P_oM: object


def whole(drive) -> list:
    """The row of a drive's section with every valve fully open, both ways at once."""
    return [np.maximum(a, b) for a, b in zip(drive.opened(1.0), drive.opened(-1.0))]


def velocity(row, u, supply, β, f, P):
    """v with βv + f ∈ Γ(v; u, P), m/s, for a command u of valves without end stops; row as for `opening`."""
    out = np.maximum(u, 0.0)
    back = np.maximum(-u, 0.0)
    w = on_pump.way(
        [*row[:4], row[4] * out, row[5] * back, row[6] * back, row[7] * out, 0.0], supply
    )
    return w.σ * on_pump.moved(w, on_pump.fixed(w, β, f), β, P)[0]


def opening(row, v, f, P) -> Opening:
    """The command that moves a section at v [m/s] under the force f [N]; row as `whole` gives it."""
    out, back = closed.sides(row, (0.0, 0.0, 0.0))
    forwards = v >= 0.0
    s = closed.Side(*(np.where(forwards, a, b) for a, b in zip(out, back)))
    A_o = np.where(forwards, row[1], row[0])
    σ = np.where(forwards, 1.0, -1.0)
    w = np.abs(v)
    F = σ * f
    push = s.A * P - F
    series = 1.0 / s.a_i + 1.0 / s.a_o
    needs = lambda force, a: np.where(
        force > 0.0, np.minimum(w / np.sqrt(a * np.maximum(force, 0.0) + _TINY), MOST), MOST
    )
    main = np.minimum(needs(push, 1.0 / series), needs(push - s.F_o, s.a_i))
    relieved = np.where(F <= s.F_i - s.F_o, 0.0, needs(s.F_i - F, s.a_o))
    u = np.minimum(np.maximum(relieved, main), needs(-F, s.a_o))
    F_o = push / (s.a_o * series)
    return Opening(σ * u, push, (F + F_o) / s.A, F_o / A_o, s.A, s.F_i / s.A, s.F_o / A_o)
