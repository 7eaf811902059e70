"""Energy of the actuator: what it stores, and the powers that change it, by cause; their sum is d(stored)/dt + F Ẏ identically,
F what the piston gives.

    stored   ½ m_e Ė² + springs of the stops + (v_e/β) ζ² + V_A φ(P_A) + V_B φ(P_B)  [+ Σ V_i φ_i(p_i), full]

φ(P) = ∫_0^P s/β(s) ds is the energy per volume of oil at gauge pressure P, with the plant's own β (`Oil.energy`); where β
is constant it is P²/(2β). A chamber (V/β) Ṗ = q − V̇ then has

    d(V φ)/dt = P q − P V̇ + φ V̇                    flow at its pressure, work on its walls, and "carried"

for the volume that is gained fills with oil already compressed. The causes:

    shaft        torque ω
    intake       P_rp times what the pump takes from the recirculating line
    valve        P_s |Q_e|, what the micro-valve's supply gives (less than zero where it flows back)
    return       open circuit: −P_T times the flow to the tank; closed: −P_B Q_A − P_A Q_B, what the other chamber gives back
    throttling   −Δp q at ports, distributor, micro-valve, and as chambers at P_rp open to the delivery pressure
    leakage      −4 k_e ζ² − K_in (P_A − P_B)² − K_ex (P_A² + P_B²) − k_p Σ p_i²
    friction     −b_e Ė² − b_v Ẏ² − f_f Ẏ
    stops        what their damping takes
    carried      Σ φ V̇, above
    averaging    no cause but a gap of the simpler pumps, which are not those of one machine at every instant:
                 averaged  F_p Ė, for the mean flow leaves out the oil that the carriage's own motion displaces
                 ripple    (p_1 − p_2) ω S_p Σ (share_i − side_i) b_i: a piston's flow changes ports at once, its pressure over ε

With ideal pistons (averaged, ripple) the pump's own balance is F_p Ė − torque ω + p_1 Q_1 + p_2 Q_2 = averaging; of the
decompression κ (P_rp − P), the line gives P_rp κ (P_rp − P) and κ (P_rp − P)² is throttled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NAMES = (
    "shaft",
    "intake",
    "valve",
    "return",
    "throttling",
    "leakage",
    "friction",
    "stops",
    "carried",
)
GAP = "averaging"


def in_actuator(plant, x):
    """Energy of the carriage, the stops' springs and the compressed oil, J."""
    E, Edot, ζ, P_A, P_B, Y, _ = x[:7]
    V_A, V_B = plant.volumes(Y)
    φ_A, φ_B = (density(plant, P) for P in (P_A, P_B))
    kinetic = 0.5 * plant.m_e * Edot * Edot
    springs = plant.stop_E.stored(E) + plant.stop_Y.stored(Y)
    return kinetic + springs + plant.v_e / plant.oil.β * ζ * ζ + V_A * φ_A + V_B * φ_B


def in_pistons(plant, φ, x):
    """Energy of the oil in the micro-pistons, J."""
    pump = plant.pump
    return sum(
        pump.volume(piston.L) * p * p for piston, p in zip(pump.pistons(φ, x[0]), plant.pistons(x))
    ) / (2 * plant.oil.β)


def density(plant, P):
    """φ in the cylinder's chambers, J/m³."""
    oil = plant.oil
    if plant.circuit == "closed":
        return P * P / (2 * oil.β)
    return oil.energy(P + oil.p_0, oil.p_0)


def by_cause(plant, φ, x, X) -> list:
    """W at the position X of the micro-valve with the shaft at φ, in the order of NAMES, then GAP for the simpler pumps.

    They add up to d(`in_actuator`)/dt and what the piston gives, `thrust` Ẏ.
    """
    E, Edot, ζ, P_A, P_B, Y, Ydot = x[:7]
    made = plant.delivery(φ, x)
    pumped = _full(plant, φ, x) if plant.detail == "full" else _ideal(plant, φ, x, made)
    Q_e = plant.valve.flow(plant.c, X - E, ζ)
    valve = plant.valve.P_s * np.where(X > E, Q_e, -Q_e)
    back, to_tank = _returned(plant, x, made)
    leaked = (
        pumped.leaked
        + 4 * plant.k_e * ζ * ζ
        + plant.K_in * (P_A - P_B) ** 2
        + plant.K_ex * (P_A * P_A + P_B * P_B)
    )
    φ_A, φ_B = (density(plant, P) for P in (P_A, P_B))
    rubbing = plant.rubbing(x)[0] * Ydot
    causes = [
        made.torque * plant.pump.ω,
        pumped.intake,
        valve,
        back,
        2 * ζ * Q_e - valve - pumped.throttled - to_tank,
        -leaked,
        -plant.b_e * Edot * Edot - plant.b_v * Ydot * Ydot - rubbing,
        _damped(plant.stop_E, E, Edot) + _damped(plant.stop_Y, Y, Ydot),
        pumped.carried + (φ_A * plant.S_A - φ_B * plant.S_B) * Ydot,
    ]
    return causes if pumped.gap is None else [*causes, pumped.gap]


def _damped(stop, place, speed):
    """What the damping of an end stop gives, W: zero or less."""
    return (stop.force(place, speed) - stop.force(place, 0.0)) * speed


def _returned(plant, x, made):
    """(return, what is throttled on the way to the tank), W."""
    E, _, _, P_A, P_B = x[:5]
    P_T = plant.P_T
    if plant.circuit == "closed":
        return -P_B * made.Q_A - P_A * made.Q_B, 0.0
    q_A, q_B = plant.to_tank(E, P_A, P_B)
    return -P_T * (q_A + q_B), (P_A - P_T) * q_A + (P_B - P_T) * q_B


class _Pumped(NamedTuple):
    """The pump's part of each cause, W. gap: what averaging leaves over (GAP), None of a pump that is seen piston by piston."""

    intake: Any
    throttled: Any
    leaked: Any
    carried: Any
    gap: Any = None


def _full(plant, φ, x) -> _Pumped:
    """The pump piston by piston."""
    E, Edot, _, P_A, P_B = x[:5]
    pump = plant.pump
    p = plant.pistons(x)
    intake = throttled = leaked = carried = 0.0
    for (piston, fed, to_A, to_B), p_i in zip(plant.exchanged(φ, E, P_A, P_B, p), p):
        intake = intake + pump.P_rp * fed
        throttled = throttled + (pump.P_rp - p_i) * fed + (p_i - P_A) * to_A + (p_i - P_B) * to_B
        leaked = leaked + pump.k_p * p_i * p_i
        carried = carried + p_i * p_i / (2 * plant.oil.β) * pump.swept(piston, Edot)
    return _Pumped(intake, throttled, leaked, carried)


def _ideal(plant, φ, x, made) -> _Pumped:
    """The pump of ideal pistons."""
    E, Edot, _, P_A, P_B = x[:5]
    pump = plant.pump
    ways = plant.distributor.ways(E)
    if plant.detail == "ripple":
        pistons = pump.pistons(φ, E)
        Q_1, Q_2 = pump.delivery(pistons, Edot)
        p_1, p_2 = plant.port_pressures(P_A, P_B, ways)
        early = sum(
            (pump.share(piston) - np.where(piston.sin > 0, 1.0, 0.0)) * piston.b
            for piston in pistons
        )
        gap = (p_1 - p_2) * pump.ω * pump.S_p * early
    else:
        Q_2 = pump.mean_flow(E)
        Q_1 = -Q_2
        gap = made.F_p * Edot
    intake = -pump.P_rp * ((1.0 - ways.A) * Q_2 + (1.0 - ways.B) * Q_1)
    throttled = leaked = 0.0
    for way, P in ((ways.A, P_A), (ways.B, P_B)):
        leak = pump.N / 2 * pump.k_p * P
        opened = pump.mean_loss(E, P, plant.oil.β) + leak  # κ (P_rp − P)
        intake = intake + way * pump.P_rp * opened
        throttled = throttled + way * (pump.P_rp - P) * opened
        leaked = leaked + way * leak * P
    return _Pumped(intake, throttled, leaked, carried=0.0, gap=gap)
