"""The bodies' part of virtual decomposition control: the forces that the bodies of a mechanism require of its drives.

    F*_Ar = M_A V̇_Ar + C_A(ω_A) V_Ar + G_A + K_A (V_Ar − V_A)                                 (8)
    τ_r   = Σ_A J_Aᵀ F*_Ar − (joints' damping and springs at the required rates)
    f_cr  = W J_s (J_sᵀ W J_s)⁻¹ τ_r,   ṡ = J_s q̇                                             (68), (69) for any mechanism

W distributes a load among drives, where there are more of them than coordinates, see `plants.multibody.drive_forces`.

Source: [Petrovic22]; the projection of its equations for a tree with loops.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.spatial import add, compose, cross, plus, scale, turn, unturn
from plants.multibody import linear
from plants.multibody import required as bodies
from plants.multibody.drive_forces import (
    damped,
    driven_rows,
    every,
    shared,
    spring_forces,
    weights,
    with_springs,
)
from plants.multibody.tree import REST


class Needed(NamedTuple):
    """Required motion and forces at one state; "drives" are the driven actuators, in order.

    at, lines      the mechanism and its actuators at the true state
    rates          ż_r of all joints;      wanted   required twists of the bodies
    nets           F*_r of every body, K_A (V_r − V) included
    fed            K_A (V_r − V) of every body as a wrench; where the law itself asks, only its part by K_I
    f_c            required forces of the drives;      xd, xd_r   ṡ, ṡ_r of the drives
    passive        generalised forces of damping and springs on the joints, at the required rates
    every          required forces of all actuators, springs included
    """

    at: bodies.Whole
    lines: bodies.Lines
    rates: list
    wanted: bodies.Required
    fed: list
    nets: list
    f_c: list
    xd: list
    xd_r: list
    passive: list
    every: list


def required(law, plant, q, qd, qd_r, qdd_r, around=None) -> Needed:
    """Required motion and forces of `plant` under the gains of `law`, whose K_A are those of its own model's bodies.

    around: forces and motion of the plant's surroundings, given by the ledger; nets and fed then have an entry for every body. The
    law itself gives None, since it needs only the forces of the drives; a body and all that is fixed to it then count as one.
    """
    many = range(len(plant.bodies))
    at = bodies.whole(plant, q, qd, REST if around is None else around.ground)
    lines = bodies.lines(plant, at)
    if around is None and not law.gains:
        # κ M_A (V_r − V) is the wrench of an acceleration κ (V_r − V): joint by joint, it costs no wrench of its own.
        rates, wanted = bodies.required(plant, at, qd_r, qdd_r, law.κ)
        fed = [isotropic(diagonal(law, j), at.motion, wanted, j) for j in many]
        found = bodies.lumped_wrenches(plant, at.motion, wanted)
    else:
        gravity = None if around is None else around.gravity
        rates, wanted = bodies.required(plant, at, qd_r, qdd_r)
        fed = [fed_back(law, at.motion, wanted, j) for j in many]
        found = bodies.net_wrenches(plant, at.motion, wanted, gravity)
    nets = [plus(a, b) for a, b in zip(found, fed)]
    by_drive = driven_rows(plant, lines)
    xd = linear.times(by_drive, qd)
    xd_r = linear.times(by_drive, qd_r)
    passive = damped(plant, rates)
    springs = spring_forces(plant, lines, rates)
    asked = bodies.joint_forces(plant, at.motion, nets)
    left = [a - p for a, p in zip(asked, with_springs(plant, lines, passive, springs))]
    f_c = shared(by_drive, weights(plant), bodies.projected(at.B, left))
    return Needed(
        at=at,
        lines=lines,
        rates=rates,
        wanted=wanted,
        fed=fed,
        nets=nets,
        f_c=f_c,
        xd=xd,
        xd_r=xd_r,
        passive=passive,
        every=every(plant, springs, f_c),
    )


def levers(J) -> list:
    """By how much a drive's length changes, at least, for a unit of motion: 1/|row of J⁺| of every drive, J⁺ = (JᵀJ)⁻¹Jᵀ."""
    n = len(J[0])
    columns = [[row[i] for row in J] for i in range(n)]
    F = linear.factors([linear.times(columns, column) for column in columns])
    found = []
    for row in J:
        motion = linear.solve(F, row)
        found.append(1.0 / linear.times([motion], motion)[0] ** 0.5)
    return found


# ---- feedback -------------------------------------------------------------------------------------------------------
def fed_back(law, motion, wanted, j: int):
    """K_A (V_r − V) of body j as a wrench about the origin of the inertial frame."""
    body = law.machine.bodies[j]
    Δ = bodies.against(wanted.Z[j], motion.Z[j])
    own = {gain.name: gain.K for gain in law.gains}
    if body.name in own:
        return _matrix(own[body.name], _attitude(law, motion, j), motion.r[j], Δ)
    P = bodies.momentum(body, motion, j, Δ)
    whole = scale(law.κ, P[0]), scale(law.κ, P[1])
    return plus(whole, isotropic(diagonal(law, j), motion, wanted, j))


def diagonal(law, j: int):
    """K_I of body j: none of a load that is carried."""
    return 0.0 if law.machine.bodies[j].carried else law.K_I


def isotropic(K_I, motion, wanted, j: int):
    """K_I 1 acting on the velocity error of the body's frame, as a wrench about the origin."""
    Δ = bodies.against(wanted.Z[j], motion.Z[j])
    f, m = (scale(K_I, part) for part in _at_frame(motion.r[j], Δ))
    return f, add(m, cross(motion.r[j], f))


def _attitude(law, motion, j: int):
    """Rotation of the frame that a gain of body j is given in."""
    R = law.model.axes.get(law.machine.bodies[j].name)
    return motion.R[j] if R is None else compose(motion.R[j], R)


def _matrix(K, R, r, Δ):
    """A 6×6 K_A in a frame with origin r and rotation R."""
    v, ω = (unturn(R, part) for part in _at_frame(r, Δ))
    e = [*v, *ω]
    out = [linear.times([K[6 * i : 6 * i + 6]], e)[0] for i in range(6)]
    f = turn(R, out[:3])
    m = turn(R, out[3:])
    return f, add(m, cross(r, f))


def _at_frame(r, Z):
    """A twist about the origin as velocity of a frame at r, in the inertial axes."""
    return add(Z[0], cross(Z[1], r)), Z[1]
