"""Required motion and required forces of every body of a mechanism: the bodies' side of virtual decomposition control.

    Z_rj   = Z_rp + b_j ż_rj                                        required twist, from ground to leaf
    Ż_rj   = Ż_rp + b_j z̈_rj + (Z × b_j) ż_rj                       its rate along the true motion Z
    Φ_z ż_r = 0,  Φ_z z̈_r + (Φ_z)˙ ż_r = 0                          loops, with the entries that lead given

    f*_rj  = m d/dt v_r(c_j) − m g                                  c_j: centre of mass, d/dt along the true motion
    m*_rj  = J ω̇_r + ω × (J ω_r)                                    about c_j, ω the true angular velocity

which is M_A V̇_r + C_A(ω) V_r + G_A with the skew-symmetric C_A of (8), in the inertial frame's axes. Twists and wrenches are about
the origin of the inertial frame, as in `plants.multibody.tree`. Loops are closed in closed form (`plants.multibody.planar_rates`),
or their rows are solved for the joints that follow (`plants.multibody.spatial_rates`).

Source: [Petrovic22] eqs (7), (8), (49), (59)–(69) for one machine; for a tree with loops the projection of the same equations.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.scalars import plain_difference, plain_product, plain_sum
from plants.components.spatial import (
    add,
    cross,
    inertia_times,
    plus,
    power,
    scale,
    sub,
    turn,
    unturn,
)
from plants.multibody import linear, planar_rates, reduced, spatial_rates
from plants.multibody.loops import opposite
from plants.multibody.lumped import lumped
from plants.multibody.tree import REST, ZERO6, Ground, Motion, crossed
from workbench.contract.once import once


class Required(NamedTuple):
    """Twists Z_r of all bodies about the origin, and their rates along the true motion."""

    Z: list
    rate: list


class Whole(NamedTuple):
    """The mechanism at one state: positions z, rates ż, true motion of the bodies; G, Φ_z of the loops; B, columns of ż = B q̇.

    q̇ are the rates that lead: as many as the mechanism has degrees of freedom.
    """

    z: list
    rates: list
    motion: Motion
    G: list
    B: list


class Lines(NamedTuple):
    """Actuators at one state, an entry for each.

    s              length or position;   wrench: on body b by a unit force, None for an actuator on a joint
    by_joint       ∂s/∂z;   by_coordinate: ∂s/∂q, q the coordinates that lead
    """

    s: list
    wrench: list
    by_joint: list
    by_coordinate: list


# ---- motion ---------------------------------------------------------------------------------------------------------
@once
def whole(mechanism, q, qd, ground: Ground = REST) -> Whole:
    """The motion of all joints and bodies from the positions and rates that are states, on a ground with the given motion."""
    if not mechanism.closings:
        motion = mechanism.moving(list(q), list(qd), ground)
        G = spatial_rates.jacobian(mechanism, motion)
        return Whole(list(q), list(qd), motion, G, reduced.basis(mechanism, G))
    z = reduced.positions(mechanism, list(q))
    G = planar_rates.jacobian(mechanism, z)
    rates = spread(mechanism, G, qd, [0.0] * len(G))
    motion = mechanism.closed(z, rates, ground)
    return Whole(z, rates, motion, G, reduced.basis(mechanism, G))


def spread(mechanism, G, own, γ) -> list:
    """Rates (or accelerations) of all joints with Φ_z ż + γ = 0, from those that lead, `own`."""
    rates = [0.0] * mechanism.tree.n_v
    for i, value in zip(mechanism.lead, own):
        rates[i] = value
    return reduced.followed(mechanism, G, rates, γ)


def rates_at(mechanism, q, own) -> list:
    """Rates of the joints that are states, at positions q, from those that lead."""
    if len(own) == len(mechanism.own[1]):
        return list(own)
    at = whole(mechanism, q, [0.0] * len(mechanism.own[1]))
    rates = spread(mechanism, at.G, own, [0.0] * len(at.G))
    return [rates[i] for i in mechanism.own[1]]


def accelerations_at(mechanism, q, qd, own) -> list:
    """Accelerations of the joints that are states, in the motion q, q̇, from those that lead."""
    if len(own) == len(mechanism.own[1]):
        return list(own)
    at = whole(mechanism, q, qd)
    found = spread(mechanism, at.G, own, _biases(mechanism, at, at.rates, REST))
    return [found[i] for i in mechanism.own[1]]


def swept(mechanism, motion: Motion, rates, accelerations, ground: Ground = REST) -> Required:
    """Z_r and Ż_r of all bodies from required rates and accelerations of all joints, and required motion of the ground."""
    T = mechanism.tree
    Z: list = [None] * len(T.parent)
    rate: list = [None] * len(T.parent)
    for j in T.order:
        p = T.parent[j]
        Z_p, rate_p, true = (*ground, motion.ground.Z)
        if p >= 0:
            Z_p = Z[p]
            rate_p = rate[p]
            true = motion.Z[p]
        first, count = T.v[j]
        own = ZERO6
        gain = ZERO6
        for k in range(first, first + count):
            own = plus(own, scaled(rates[k], motion.b[k]))
            gain = plus(gain, scaled(accelerations[k], motion.b[k]))
        # The axes of a ball joint turn with the body itself, any other axis with the parent.
        carrier = motion.Z[j] if count > 1 else true
        Z[j] = plus(Z_p, own)
        rate[j] = plus(rate_p, plus(gain, crossed(carrier, own) if count else ZERO6))
    return Required(Z, rate)


@once
def required(
    mechanism, at: Whole, qd_r, qdd_r, κ=0.0, ground: Ground = REST
) -> tuple[list, Required]:
    """(ż_r of all joints, Z_r and Ż_r + κ (Z_r − Z) of all bodies) for required rates and accelerations of those that lead.

    κ other than zero is for a ground at rest.
    """
    rates = spread(mechanism, at.G, qd_r, [0.0] * len(at.G))
    γ = _biases(mechanism, at, rates, ground)
    accelerations = [
        plain_sum(a, plain_product(κ, plain_difference(r, v)))
        for a, r, v in zip(spread(mechanism, at.G, qdd_r, γ), rates, at.rates)
    ]
    return rates, swept(mechanism, at.motion, rates, accelerations, ground)


def _biases(mechanism, at: Whole, rates, ground: Ground) -> list:
    """(Φ_z)˙ ż_r along the true motion."""
    if mechanism.closings or not at.G:
        return planar_rates.biases(mechanism, at.z, at.rates, rates)
    unmoved = swept(mechanism, at.motion, rates, [0.0] * len(rates), ground)
    return spatial_rates.biases(mechanism, at.motion, unmoved, ground)


# ---- forces ---------------------------------------------------------------------------------------------------------
@once
def net_wrenches(mechanism, motion: Motion, wanted: Required, gravity=None) -> list:
    """F*_r of every body about the origin, weight included; with Z_r = Z the true F*. gravity: the mechanism's unless given."""
    return _nets(mechanism, mechanism.bodies, motion, wanted, gravity)


@once
def lumped_wrenches(mechanism, motion: Motion, wanted: Required, gravity=None) -> list:
    """As `net_wrenches`, with bodies that are fixed to another one counted as part of it: the joint forces are the same."""
    lumps = lumped(mechanism.bodies, mechanism.tree)
    nets = _nets(mechanism, lumps, motion, wanted, gravity)
    for j, lump in enumerate(lumps):
        f, m = nets[j]
        nets[j] = f, sub(m, scale(lump.spread, cross(motion.Z[j][1], wanted.Z[j][1])))
    return nets


def _nets(mechanism, bodies, motion: Motion, wanted: Required, gravity) -> list:
    down = mechanism.gravity if gravity is None else gravity
    return [net_wrench(body, motion, wanted, j, down) for j, body in enumerate(bodies)]


def net_wrench(body, motion: Motion, wanted: Required, j: int, gravity):
    """F*_rj, see the module."""
    R = motion.R[j]
    c = centre(body, motion, j)
    v, ω = motion.Z[j]
    v_r, ω_r = wanted.Z[j]
    a_r, α_r = wanted.rate[j]
    speed = add(v, cross(ω, c))
    lifted = sub(add(add(a_r, cross(α_r, c)), cross(ω_r, speed)), gravity)
    f = scale(body.mass, lifted)
    own = add(_tensor(body, R, α_r), cross(ω, _tensor(body, R, ω_r)))
    return f, add(own, cross(c, f))


def centre(body, motion: Motion, j: int) -> list:
    """Centre of mass of body j in the inertial frame."""
    return add(motion.r[j], turn(motion.R[j], body.com))


def momentum(body, motion: Motion, j: int, Z):
    """M_A V of a twist Z about the origin, as a wrench about the origin."""
    c = centre(body, motion, j)
    p = scale(body.mass, add(Z[0], cross(Z[1], c)))
    return p, add(_tensor(body, motion.R[j], Z[1]), cross(c, p))


def _tensor(body, R, ω) -> list:
    """J ω in the inertial frame's axes."""
    return turn(R, inertia_times(body.inertia, unturn(R, ω)))


def joint_forces(mechanism, motion: Motion, nets) -> list:
    """Σ_A (∂V_A/∂ż_k)ᵀ F_A of every rate k: what wrenches `nets` on the bodies ask of the joints."""
    T = mechanism.tree
    total = list(nets)
    for j in reversed(T.order):
        if T.parent[j] >= 0:
            total[T.parent[j]] = plus(total[T.parent[j]], total[j])
    return [power(motion.b[i], total[T.body_of[i]]) for i in range(T.n_v)]


def projected(B, τ) -> list:
    """Bᵀ τ."""
    return linear.times(B, τ)


# ---- actuators ------------------------------------------------------------------------------------------------------
@once
def lines(mechanism, at: Whole) -> Lines:
    """Lengths of all actuators and how they depend on joints and coordinates."""
    pulls = mechanism.pulls(at.motion, at.z, at.rates, None, None)
    by_joint = [
        _lever(mechanism, a, pull, at.motion.b) for a, pull in zip(mechanism.actuators, pulls)
    ]
    by_coordinate = [linear.times(at.B, row) for row in by_joint]
    return Lines([p.s for p in pulls], [p.wrench for p in pulls], by_joint, by_coordinate)


def _lever(mechanism, actuator, pull, columns) -> list:
    T = mechanism.tree
    row = [0.0] * T.n_v
    if pull.wrench is None:
        row[T.v[mechanism.number(actuator.joint)][0]] = 1.0
        return row
    a, b = (mechanism.number(pin.body) for pin in (actuator.a, actuator.b))
    for body, wrench in ((a, opposite(pull.wrench)), (b, pull.wrench)):
        for i in T.above[body] if body >= 0 else ():
            row[i] = plain_sum(row[i], power(columns[i], wrench))
    return row


# ---- wrenches and twists ---------------------------------------------------------------------------------------------
def scaled(k, F):
    """k F of a wrench or twist."""
    return scale(k, F[0]), scale(k, F[1])


def against(F, G):
    """F − G of two wrenches or twists."""
    return sub(F[0], G[0]), sub(F[1], G[1])
