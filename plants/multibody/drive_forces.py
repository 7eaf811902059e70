"""What a motion asks of the drives, and what motion their forces give: inverse and forward dynamics of any mechanism.

    τ   = Σ_A J_Aᵀ F*_A + J_Dᵀ F_D − (joints' damping and springs)          F*_A: net wrench of body A, weight included
    f_c = W J_s (J_sᵀ W J_s)⁻¹ τ,   ṡ = J_s q̇                               (68), (55) for any mechanism

W shares a load among drives that act on the same motion: diagonal, the squares of the largest forces they can bear. With as many
drives as coordinates it cancels, and f_c = J_s⁻ᵀ τ. The ground bears Σ_A F*_A + F_D, (69).

Source: [Petrovic22]; the projection of its equations for a tree with loops.
"""

from __future__ import annotations

from functools import reduce
from math import isfinite

import numpy as np

from plants.components.scalars import plain_product, plain_sum
from plants.components.spatial import plus
from plants.multibody import coordinates, linear, required, surroundings


def asked(mechanism, q, qd, qdd, around=None) -> list:
    """f_c [N] of the driven actuators in order, that the motion needs: (68).

    q, q̇: of the coordinates that are states, q̈: of those that lead [m, rad; s]. `around`: gravity, motion of the ground, wrench
    of the tool (`plants.multibody.surroundings`); without it the ground is at rest and nothing acts on the tool.
    """
    around = around or surroundings.at_rest(mechanism)
    at, rates, true = _moving(mechanism, q, qd, qdd, around)
    nets = required.lumped_wrenches(mechanism, at.motion, true, around.gravity)
    tool = surroundings.at_tool(mechanism, at.motion, around.wrench)
    if tool is not None:
        nets[tool[0]] = plus(nets[tool[0]], tool[1])
    lines = required.lines(mechanism, at)
    springs = spring_forces(mechanism, lines, rates)
    passive = with_springs(mechanism, lines, damped(mechanism, rates), springs)
    wanted = required.joint_forces(mechanism, at.motion, nets)
    left = [a - p for a, p in zip(wanted, passive)]
    return shared(driven_rows(mechanism, lines), weights(mechanism), linear.times(at.B, left))


def borne(mechanism, q, qd, qdd, around=None) -> tuple:
    """(force N, moment N m) of the ground on the machine in that motion, about the ground's origin, in its axes: (69)."""
    around = around or surroundings.at_rest(mechanism)
    at, _, true = _moving(mechanism, q, qd, qdd, around)
    nets = required.net_wrenches(mechanism, at.motion, true, around.gravity)
    tool = surroundings.at_tool(mechanism, at.motion, around.wrench)
    return reduce(plus, nets if tool is None else [*nets, tool[1]])


def _moving(mechanism, q, qd, qdd, around) -> tuple:
    """(the mechanism at its state, rates of all joints, motion of all bodies)."""
    at = required.whole(mechanism, q, qd, around.ground)
    return at, *required.required(mechanism, at, qd, qdd, ground=around.ground)


def motion(mechanism, q, qd, forces, around=None) -> list:
    """q̈ of the coordinates that lead, under the forces [N] of all actuators in order."""
    around = around or surroundings.at_rest(mechanism)
    return accelerations(mechanism, required.whole(mechanism, q, qd, around.ground), forces, around)


def accelerations(mechanism, at, forces, around=None) -> list:
    """As `motion`, where `at` is already computed: `required.whole(mechanism, q, qd, ground)`."""
    pulls = mechanism.pulls(at.motion, at.z, at.rates, None, None)
    acting = [pull._replace(force=f) for pull, f in zip(pulls, forces)]
    return mechanism.accelerations(at.motion, at.rates, acting, around)[0]


def inertia(mechanism, q) -> list:
    """H(q) = Bᵀ M B, rows: kinetic energy is ½ q̇ᵀ H q̇."""
    at = required.whole(mechanism, q, [0.0] * len(mechanism.own[1]))
    M = mechanism.mass_matrix(at.z)
    MB = [linear.times(M, column) for column in at.B]
    return [[linear.times([row], column)[0] for column in MB] for row in at.B]


# ---- drives ---------------------------------------------------------------------------------------------------------
def driven_rows(mechanism, lines) -> list:
    """Rows of J_s of the driven actuators."""
    return [lines.by_coordinate[i] for i in coordinates.driven(mechanism)]


def rows_at(mechanism, q) -> list:
    """Rows of J_s of the driven actuators at positions q."""
    at = required.whole(mechanism, q, [0.0] * len(mechanism.own[1]))
    return driven_rows(mechanism, required.lines(mechanism, at))


def shared(J, W, τ) -> list:
    """W J (Jᵀ W J)⁻¹ τ for rows J of the drives."""
    n = len(τ)
    columns = [[row[i] for row in J] for i in range(n)]
    weighted = [[plain_product(w, value) for w, value in zip(W, column)] for column in columns]
    H = [linear.times(weighted, column) for column in columns]
    μ = linear.solve(linear.factors(H), τ)
    return [linear.times([[column[k] for column in weighted]], μ)[0] for k in range(len(J))]


def weights(mechanism) -> list[float]:
    """Diagonal of W: (largest force of the drive / largest of all drives)²; ones with as many drives as coordinates."""
    drives = [mechanism.actuators[i].drive for i in coordinates.driven(mechanism)]
    if len(drives) == len(mechanism.lead):
        return [1.0] * len(drives)
    line = mechanism.line_at_most
    ends = [drive.bears(line) for drive in drives]
    most = [np.maximum(np.abs(low), np.abs(high)) for low, high in ends]
    if any(isinstance(value, float) and not isfinite(value) for value in most):
        return [1.0] * len(drives)
    largest = reduce(np.maximum, most)
    return [(value / largest) ** 2 for value in most]


# ---- what is not driven ---------------------------------------------------------------------------------------------
def damped(mechanism, rates) -> list:
    """−d ż of every joint."""
    return [
        plain_product(-mechanism.bodies[j].damping, v)
        for j, v in zip(mechanism.tree.body_of, rates)
    ]


def spring_forces(mechanism, lines, rates) -> dict:
    """Forces of the actuators without a command, by number, at these rates of the joints and the true lengths."""
    commanded = coordinates.driven(mechanism)
    found = {}
    for i, a in enumerate(mechanism.actuators):
        if i not in commanded:
            rate = linear.times([lines.by_joint[i]], rates)[0]
            found[i] = a.drive.force([], lines.s[i], rate, [], None)
    return found


def with_springs(mechanism, lines, passive, springs) -> list:
    """Generalised forces on the joints of damping and springs together."""
    total = list(passive)
    for i, force in springs.items():
        total = [
            plain_sum(t, plain_product(arm, force)) for t, arm in zip(total, lines.by_joint[i])
        ]
    return total


def every(mechanism, springs, forces) -> list:
    """Forces of all actuators from those of the springs and of the drives."""
    driven = iter(forces)
    return [springs[i] if i in springs else next(driven) for i in range(len(mechanism.actuators))]
