"""One section of quasistatic metering valves: equations that all drives behind such valves share, whatever their rods move.

    f ∈ Γ(ẋ, P)  ⇔  ẋ = Λ(B, f̄, P),   f = f̄ + B ẋ                                                   (68)–(70), (122)

The command u_c in −1 … 1 opens pump to head and rod to tank, or pump to rod and head to tank. Regeneration, where there is some,
opens rod to head by u_a while u_c > 0: u_a is u_c ("command"), or an input of its own ("input").

    P Q = Q_ph (P − P_h) + Q_pr (P − P_r) + Q_th P_h + Q_tr P_r + Q_a (P_r − P_h) + Q_ho P_h + Q_ro P_r + f ẋ
    Q_ho = Q_ph − Q_th + Q_a − A_h ẋ,   Q_ro = Q_pr − Q_tr − Q_a + A_r ẋ          where power goes, valve by valve

Q_ho, Q_ro: out through the chambers' reliefs. A chamber that a suction check fills takes its oil from the tank at no cost.

Source: [Kikuuwe21] Sections 4.1, 5, 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.components.cylinder import Cylinder
from plants.drives.contract import Behind, Line, Settled
from plants.valve_circuits import on_pump, shared
from plants.valve_circuits.circuit import Motor, Section
from workbench.contract.parameters import unchecked

VALVES = ("ph", "pr", "th", "tr", "a", "hR", "rR")  # of a section: what its account names
NO_PUMP = (0.0, 0.0, 0.0)  # Q, P_M, k_b of a pump whose pressure is given
PLENTY = 10.0  # m³/s, more than any section takes
SUCTION = 0.3e5  # Pa below the return that suction checks may leave
OVER = 1.1  # of the reliefs' pressure


class Metered(NamedTuple):
    """A section at work: its row, ṙ [m/s], f [N], Q_p [m³/s], P_h and P_r above the return [Pa]."""

    row: list

    speed: object
    force: object
    flow: object
    P_h: object
    P_r: object


def section_of(cylinder: Cylinder, P_hM, P_rM, name: str = "1") -> Section:
    """A section with the areas of a cylinder and the orifices of its servo valve fully open, k = c u_max, m³/(s √Pa)."""
    v = cylinder.valve
    return unchecked(
        Section,
        name=name,
        A_h=cylinder.A_a,
        A_r=cylinder.A_b,
        P_hM=P_hM,
        P_rM=P_rM,
        c_ph=v.c_p1 * v.u_max,
        c_pr=v.c_p2 * v.u_max,
        c_th=v.c_n1 * v.u_max,
        c_tr=v.c_n2 * v.u_max,
    )


def opened(section: Section | Motor, u_c, u_a=0.0) -> list:
    """The section at the command u_c, as `Circuit.rows` has it; u_a: opening of regeneration, a plain 0.0 where there is none."""
    out = np.minimum(np.maximum(u_c, 0.0), 1.0)
    back = np.minimum(np.maximum(-u_c, 0.0), 1.0)
    return [
        section.A_h,
        section.A_r,
        section.P_hM,
        section.P_rM,
        section.c_ph * out,
        section.c_pr * back,
        section.c_th * back,
        section.c_tr * out,
        section.c_a * u_a if not _never(u_a) else 0.0,
    ]


def unsloped(u):
    """The number 0, whose derivative by the commands u is 0, but is not a number at a command that just shuts valves.

    Added to a speed or a flow, it tells whoever linearises that there is no derivative. At u_c = 0 other valves open on either
    side, and at u_a = 0 regeneration opens to one side only, so that both quantities have two slopes there. While u_c ≤ 0,
    regeneration is shut and u_a makes no difference.
    """
    u_c, *more = u
    return sum(_unsloped(v) for v in (u_c, *(np.where(u_c > 0.0, u_a, 1.0) for u_a in more)))


def _unsloped(v):
    return np.where(v == 0.0, np.sqrt(np.abs(v)), 0.0)


def _never(u_a) -> bool:
    return isinstance(u_a, float) and u_a == 0.0


def regenerated(way: str, u):
    """Opening u_a of regeneration for a drive's inputs u; a plain 0.0 where there is none."""
    if way == "none":
        return 0.0
    asked = u[1] if way == "input" else u[0]
    return np.where(u[0] > 0.0, np.minimum(np.maximum(asked, 0.0), 1.0), 0.0)


def speed_gain(section: Section | Motor, P) -> float:
    """ẋ per unit of command without force at the pump's pressure P, extending and retracting averaged."""
    A_h = section.A_h
    A_r = section.A_r
    ways = (
        (A_h, section.c_ph, section.c_tr),
        (A_r, section.c_th, section.c_pr),
    )
    return sum((A * P / (A_h**3 / h**2 + A_r**3 / r**2)) ** 0.5 for A, h, r in ways) / 2


def behind(section: list, spring, B, xdot) -> Behind:
    """A section (a `row`) at the spring force K (r − x) and the rod's ẋ."""
    return Behind(section, B, spring - B * xdot)


def metered(own: Behind, line: Line, u) -> Metered:
    """The section at work under the commands u: at the pressures of its line, or as the supply has found it (`Line.settled`)."""
    P = line.p_s - line.p_r
    speed, flow, pair, _ = line.settled or held_at(own, P)
    speed = speed + unsloped(u)
    flow = flow + unsloped(u)
    force = own.held + own.β * speed
    P_h, P_r = on_pump.pressures(own.row, NO_PUMP, speed, force, P, pair)
    return Metered(own.row, speed, force, flow, P_h, P_r)


def held_at(own: Behind, P) -> Settled:
    """The section on a pump that holds the pressure P ≥ 0 [Pa] above the return, whatever flow it takes."""
    if not on_pump.shut(own.row[8]):
        found = shared.resolved([own.row], (PLENTY, P, 0.0), [own.β], [own.held])
        return Settled(found.v[0], found.Q_p[0], found.held[0], found.residual)
    way = on_pump.way(own.row, NO_PUMP)
    along, flow, _ = on_pump.moved(way, on_pump.fixed(way, own.β, own.held), own.β, P)
    return Settled(way.σ * along, flow, None, 0.0)


def dissipated(work: Metered, P) -> list:
    """Power [W] that each of `VALVES` takes; P: the pump's pressure above the return, Pa.

    The flow through a relief is what the other flows of its chamber leave over: none, unless the chamber is at a limit.
    """
    A_h, A_r, _, _, _, k_pr, k_th, k_tr, k_a = work.row
    P_h = work.P_h
    P_r = work.P_r
    Q_pr = np.where(k_pr > 0.0, work.flow, 0.0)
    Q_ph = work.flow - Q_pr
    Q_th = k_th * _root(P_h)
    Q_tr = k_tr * _root(P_r)
    Q_a = 0.0 if on_pump.shut(k_a) else k_a * _root(P_r - P_h)
    Q_ho = Q_ph - Q_th + Q_a - A_h * work.speed
    Q_ro = Q_pr - Q_tr - Q_a + A_r * work.speed
    return [
        Q_ph * (P - P_h),
        Q_pr * (P - P_r),
        Q_th * P_h,
        Q_tr * P_r,
        Q_a * (P_r - P_h),
        Q_ho * P_h,
        Q_ro * P_r,
    ]


def _root(drop):
    """√drop for drop > 0, else 0 with the derivative 0: right for the loss, drop^1.5, whose derivative at 0 is 0."""
    falls = drop > 0.0
    return np.where(falls, np.sqrt(np.where(falls, drop, 1.0)), 0.0)


def bounds(P_hM, P_rM) -> tuple[float, float]:
    """(least, greatest) pressure [Pa] above the return that chambers should have: a little beyond suction checks and reliefs."""
    return -SUCTION, OVER * max(P_hM, P_rM)


def open_port(work: Metered, u_c, line: Line, w):
    """Pressure of the chamber that is open to the pump, blended over an opening of w, Pa."""
    o = u_c / w
    head = work.P_h * np.clip(o, 0.0, 1.0)
    rod = work.P_r * np.clip(-o, 0.0, 1.0)
    return line.p_r + head + rod


def bears(section: Section | Motor, line: Line) -> tuple:
    """(least, greatest) force on a rod at rest that pump and reliefs allow, N; of a motor N m."""
    P = line.p_s - line.p_r
    return -section.A_r * np.minimum(P, section.P_rM), section.A_h * np.minimum(P, section.P_hM)


def bears_by(line: Line) -> str:
    return (
        f"pump ({(line.p_s - line.p_r) / 1e5:g} bar above the return) and reliefs of the chambers"
    )
