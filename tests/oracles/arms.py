"""Metered arms as the source writes them: (79) of every arm, its rod by (68)–(70), one pressure of the pump for all.

Source: [Kikuuwe21] Sections 4.1, 4.3, 6.
"""

from __future__ import annotations

import numpy as np

from plants.valve_circuits import closed, on_pump, shared


def motion(plant, x, u):
    """(arm, θ, θ̇, x) of each, f̄, and velocities of the rods."""
    parts = [(a, *x[3 * j : 3 * j + 3]) for j, a in enumerate(plant.arms)]
    held = [a.held(θ, θ̇, p) for a, θ, θ̇, p in parts]
    if len(parts) == 1 and parts[0][0].regeneration == "none":
        v = [closed.Λ(plant.rows(u)[0], plant.supply, parts[0][0].B, held[0])]
    else:
        v = shared.resolved(plant.rows(u), plant.supply, [a.B for a in plant.arms], held).v
    return parts, held, v


def rhs(plant, x, u):
    rates = []
    for (a, θ, θ̇, _), f_bar, v, f_ey in zip(*motion(plant, x, u), u[-len(plant.arms) :]):
        rates += [θ̇, a.torque(θ, f_bar + a.B * v, f_ey, plant.g) / a.inertia, v]
    return rates


def monitor(plant, x, u):
    parts, held, v = motion(plant, x, u)
    rows = plant.rows(u)
    pump = shared.resolved(rows, plant.supply, [a.B for a in plant.arms], held)
    shown = []
    for (a, θ, _, p), f_bar, w, row, pair in zip(parts, held, v, rows, pump.held):
        l, f = a.length(θ), f_bar + a.B * w
        shown += [l, w, f, p - l, *on_pump.pressures(row, plant.supply, w, f, pump.P, pair)]
    return [*shown, pump.P, pump.residual]


def powers(plant, x, u):
    """W: each arm's rod, what lies between rod and arm, and the tip's force."""
    found = []
    for (a, θ, θ̇, _), f_bar, v, f_ey in zip(*motion(plant, x, u), u[-len(plant.arms) :]):
        found += [
            (f_bar + a.B * v) * v,
            -a.B * (v - a.lever(θ) * θ̇) ** 2,
            a.L_f * np.cos(θ) * θ̇ * f_ey,
        ]
    return found


def stored(plant, x):
    """Kinetic and potential energy of the arms, energy of what lies between rod and arm, J."""
    energy = 0.0
    for j, a in enumerate(plant.arms):
        θ, θ̇, p = x[3 * j : 3 * j + 3]
        energy += 0.5 * a.inertia * θ̇ * θ̇ + a.M * plant.g * a.L_g * np.sin(θ)
        energy += 0.5 * a.K * (p - a.length(θ)) ** 2
    return energy
