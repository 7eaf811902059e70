"""Accelerations of a mechanism, and its way back onto the loops; equations in `plants.multibody.mechanism`."""

from __future__ import annotations

import numpy as np

from plants.multibody import articulated, linear, loops, planar, planar_rates, reduced, tree
from plants.multibody.lumped import lumped
from plants.multibody.tree import Motion
from workbench.contract.once import once

DAMPED = 1e-4  # share of the diagonal of Φ_z M⁻¹ Φ_zᵀ
NEWTON = 2  # chord steps of a projection: an error ε of the size-1 mechanism becomes ε³


def kept(mechanism, motion: Motion) -> list:
    """The rows that are used."""
    rows = mechanism.rows(motion)
    return [rows[i] for i in mechanism.used]


def damping(mechanism) -> float:
    """Damping of the multipliers where more rows are used than are independent."""
    return DAMPED if len(mechanism.used) > len(mechanism.kept) else 0.0


@once
def accelerations(mechanism, motion: Motion, rates, pulls, around=None) -> tuple[list, list]:
    """(z̈, λ), see `Mechanism.accelerations`."""
    own = tree.inertias(lumped(mechanism.bodies, mechanism.tree), motion)
    Q = mechanism.loads(motion, own, rates, pulls, around)
    if not mechanism.closings:
        found = kept(mechanism, motion)
        G = loops.jacobian(mechanism.tree, found, motion.b)
        γ = [row.bias for row in found]
        M = articulated.branches(mechanism.tree, own, motion.b)
        return linear.constrained(linear.held(M, G, damping(mechanism)), Q, γ)
    G = planar_rates.jacobian(mechanism, motion.z)
    γ = planar_rates.biases(mechanism, motion.z, rates, rates)
    M = tree.mass_matrix(mechanism.tree, own, motion.b)
    ζ = reduced.followed(mechanism, G, [0.0] * mechanism.tree.n_v, γ)
    return reduced.accelerations(M, Q, reduced.basis(mechanism, G), ζ), []


def all_accelerations(mechanism, motion: Motion, rates, own) -> list:
    """z̈ of all joints from those that `accelerations` gives: the others follow from the loops."""
    if not mechanism.closings:
        return own
    accelerations = [0.0] * mechanism.tree.n_v
    for i, value in zip(mechanism.lead, own):
        accelerations[i] = value
    G = planar_rates.jacobian(mechanism, motion.z)
    γ = planar_rates.biases(mechanism, motion.z, rates, rates)
    return reduced.followed(mechanism, G, accelerations, γ)


def projected(mechanism, z, rates) -> tuple[list, list]:
    """(z, ż) with Φ = 0 and Φ_z ż = 0, by NEWTON chord steps each: M and Φ_z are factored once, where it begins."""
    if not mechanism.kept or mechanism.closings:
        return z, rates
    motion = mechanism.moving(z, rates)
    M = articulated.branches(mechanism.tree, tree.inertias(mechanism.bodies, motion), motion.b)
    H = linear.held(
        M, loops.jacobian(mechanism.tree, kept(mechanism, motion), motion.b), damping(mechanism)
    )
    for _ in range(NEWTON):
        Φ = [row.value for row in kept(mechanism, mechanism.moving(z, None))]
        z = mechanism.moved(z, [-v for v in H.along(H.multipliers(Φ))])
    for _ in range(NEWTON):
        rate = [row.rate for row in kept(mechanism, mechanism.moving(z, rates))]
        rates = [v - c for v, c in zip(rates, H.along(H.multipliers(rate)))]
    return z, rates


def bends(mechanism, z, motion: Motion) -> list:
    """Values of the signals `signals.bends`, each 0 where a loop is at a dead point.

    Loops in closed form: of each, the sine of the angle between its two links. Else one number: the least distance of a row of Φ_z
    from the span of the rows before it, in the metric of M⁻¹, over the mean size of a row.
    """
    if mechanism.closings:
        return [
            np.sqrt(np.maximum(planar.closed(mechanism, k, z)[1], 0.0)) for k in mechanism.closings
        ]
    if not mechanism.kept or mechanism.used != mechanism.kept:
        return []
    M = articulated.branches(mechanism.tree, tree.inertias(mechanism.bodies, motion), motion.b)
    H = linear.held(M, loops.jacobian(mechanism.tree, kept(mechanism, motion), motion.b))
    size = sum(row[i] for i, row in enumerate(H.rows)) / len(H.rows)
    least = 1.0
    for inverse in H.S.inverse:
        least = np.minimum(least, 1.0 / (inverse * size))
    return [np.sqrt(np.maximum(least, 0.0))]
