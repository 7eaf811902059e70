"""The open chain: poses, velocities and the equations of motion of a tree of bodies, in relative coordinates.

Velocities Z_j = (ṡ_j, ω_j) are those of the point of body j that is at the origin of the inertial frame, so that they and the
inertias M̄_j of several bodies simply add:

    Z_j  = Z_p + b_j ż_j                     (1)        d_j = Z_p × (b_j ż_j)
    Ż_j  = Ż_p + b_j z̈_j + d_j               (2)
    M^Σ  = Rᵀ M̄ R,  Q^Σ = Rᵀ (Q̄ − M̄ Ṙ ż)      (8)        R = T R_d, the columns b_j of every body above

by recursion: inertias and forces are summed from the leaves to the base, so R is never formed. A spherical joint has three
columns, along the body's own axes; its position is a quaternion (e_0 … e_3), its rate the angular velocity in the body's axes:
there is no singular attitude, and rotations are of e/|e|.

Source: [Jaiswal21] eqs (1)–(8).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.components.spatial import (
    IDENTITY,
    ZERO3,
    add,
    compose,
    cross,
    dot,
    inertia_times,
    minus,
    plus,
    power,
    scale,
    sub,
    turn,
)
from plants.multibody.branching import Tree
from plants.multibody.parts import unit
from workbench.contract.once import once

ZERO6 = (ZERO3, ZERO3)


class Ground(NamedTuple):
    """Motion of the ground: its twist about the origin, and the rate of that, component by component in its own axes."""

    Z: tuple = ZERO6
    rate: tuple = ZERO6


REST = Ground()


class Motion(NamedTuple):
    """Per body: origin r, rotation R, velocity Z and acceleration at z̈ = 0; per rate: its column b.

    And the motion of the ground, and the positions z all this is at.
    """

    r: list
    R: list
    Z: list
    bias: list
    b: list
    ground: Ground = REST
    z: list | tuple = ()


def rotation(u, c, s):
    """Rotation about the unit vector u by the angle with cosine c and sine s, row by row."""
    k = scale(1.0 - c, u)
    skew = ((0.0, -u[2], u[1]), (u[2], 0.0, -u[0]), (-u[1], u[0], 0.0))
    unity = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    rows = (add(add(scale(k[i], u), scale(c, unity[i])), scale(s, skew[i])) for i in range(3))
    return [entry for row in rows for entry in row]


def attitude(e):
    """Rotation of the quaternion e/|e|, row by row."""
    a, b, c, d = e
    n = a * a + b * b + c * c + d * d
    rows = [
        a * a + b * b - c * c - d * d,
        2 * (b * c - a * d),
        2 * (b * d + a * c),
        2 * (b * c + a * d),
        a * a - b * b + c * c - d * d,
        2 * (c * d - a * b),
        2 * (b * d - a * c),
        2 * (c * d + a * b),
        a * a - b * b - c * c + d * d,
    ]
    return [v / n for v in rows]


def quaternion_rate(e, ω):
    """ė = ½ e ⊗ (0, ω), ω in the body's axes."""
    a, b, c, d = e
    x, y, z = ω
    return [
        -0.5 * (b * x + c * y + d * z),
        0.5 * (a * x + c * z - d * y),
        0.5 * (a * y + d * x - b * z),
        0.5 * (a * z + b * y - c * x),
    ]


def moved(bodies, T: Tree, z, δ) -> list:
    """z ⊕ δ: positions after a small motion δ, given as rates times time; quaternions of unit length."""
    found = []
    for body, (at, many), (first, _) in zip(bodies, T.z, T.v):
        if body.joint == "spherical":
            before = z[at : at + many]
            motion = quaternion_rate(before, δ[first : first + 3])
            a, b, c, d = (old + more for old, more in zip(before, motion))
            size = (a * a + b * b + c * c + d * d) ** 0.5
            found += [a / size, b / size, c / size, d / size]
        else:
            found += [z[at + k] + δ[first + k] for k in range(many)]
    return found


def velocities(bodies, T: Tree, z, rates) -> list:
    """d/dt of the positions."""
    found = []
    for body, (at, _), (first, count) in zip(bodies, T.z, T.v):
        found += (
            quaternion_rate(z[at : at + 4], rates[first : first + 3])
            if body.joint == "spherical"
            else rates[first : first + count]
        )
    return found


def crossed(Z, b):
    """Z × b for motions: rate of a column b that is fixed in a body moving with Z."""
    return add(cross(Z[1], b[0]), cross(Z[0], b[1])), cross(Z[1], b[1])


def move(bodies, T: Tree, z, rates, turned=None, ground: Ground = REST) -> Motion:
    """Outward sweep (1), (2) with z̈ = 0; rates None: poses and columns only.

    turned: body → (cosine, sine) of its joint, where they are known without the angle.
    """
    Z_0, bias_0 = ground if rates is not None else REST
    n = len(bodies)
    r = [None] * n
    R = [None] * n
    Z = [None] * n
    bias = [None] * n
    b = [None] * T.n_v
    for j in T.order:
        body, p, (at, many), (first, count) = bodies[j], T.parent[j], T.z[j], T.v[j]
        r_p, R_p, Z_p, bias_p = (
            (r[p], R[p], Z[p], bias[p]) if p >= 0 else (ZERO3, IDENTITY, Z_0, bias_0)
        )
        r[j], R[j] = add(r_p, turn(R_p, body.point)), R_p
        if body.joint == "spherical":
            R[j] = compose(R_p, attitude(z[at : at + many]))
            axes = [[R[j][k], R[j][3 + k], R[j][6 + k]] for k in range(3)]
        elif count:
            own = unit(body.axis)
            axes = [turn(R_p, own)]
            if body.joint == "revolute":
                c, s = turned[j] if turned and j in turned else (np.cos(z[at]), np.sin(z[at]))
                R[j] = compose(R_p, rotation(own, c, s))
            else:
                r[j] = add(r[j], scale(z[at], axes[0]))
        for k in range(count):
            b[first + k] = (
                (axes[k], ZERO3) if body.joint == "prismatic" else (cross(r[j], axes[k]), axes[k])
            )
        Z[j], bias[j] = Z_p, bias_p
        if rates is not None and count:
            own = ZERO6
            for k in range(count):
                own = plus(
                    own,
                    (
                        scale(rates[first + k], b[first + k][0]),
                        scale(rates[first + k], b[first + k][1]),
                    ),
                )
            Z[j], bias[j] = plus(Z_p, own), plus(bias_p, crossed(Z_p, own))
    return Motion(r, R, Z, bias, b, Ground(Z_0, bias_0), list(z))


class Inertia(NamedTuple):
    """M̄ about the origin: mass, m g (first moment), tensor about the origin (xx, yy, zz, xy, xz, yz)."""

    m: object
    h: list
    J: list

    def times(self, Z):
        """M̄ Z: (momentum, angular momentum about the origin), (6)."""
        v, ω = Z
        return add(scale(self.m, v), cross(ω, self.h)), add(
            inertia_times(self.J, ω), cross(self.h, v)
        )

    def plus(self, other):
        return Inertia(
            self.m + other.m,
            add(self.h, other.h),
            [*add(self.J[:3], other.J[:3]), *add(self.J[3:], other.J[3:])],
        )


def inertia(body, r, R) -> Inertia:
    """M̄_j of a body at pose (r, R)."""
    g = add(r, turn(R, body.com))
    h = scale(body.mass, g)
    rows = (R[0:3], R[3:6], R[6:9])
    J = [
        dot(rows[i], inertia_times(body.inertia, rows[j])) - h[i] * g[j]
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    ]
    all_round = dot(h, g)
    return Inertia(body.mass, h, [*(e + all_round for e in J[:3]), *J[3:]])


@once
def inertias(bodies, motion: Motion) -> list[Inertia]:
    """M̄_j of every body."""
    return [inertia(body, r, R) for body, r, R in zip(bodies, motion.r, motion.R)]


def mass_matrix(T: Tree, own: list[Inertia], b) -> list[list]:
    """M^Σ as rows (8)."""
    whole = list(own)
    for j in reversed(T.order):
        if T.parent[j] >= 0:
            whole[T.parent[j]] = whole[T.parent[j]].plus(whole[j])
    M = [[0.0] * T.n_v for _ in range(T.n_v)]
    for i in range(T.n_v):
        F = whole[T.body_of[i]].times(b[i])
        for k in T.above[T.body_of[i]]:
            if k <= i or T.body_of[k] != T.body_of[i]:
                M[i][k] = M[k][i] = power(b[k], F)
    return M


def forces(T: Tree, own: list[Inertia], motion: Motion, gravity, wrenches) -> list:
    """Q^Σ (8), (7); wrenches: per body, the external force and its moment about the origin, or None."""
    lift = (scale(-1.0, gravity), ZERO3)
    net = []
    for M, Z, bias, W in zip(own, motion.Z, motion.bias, wrenches):
        P = M.times(Z)
        F = M.times(plus(bias, lift))
        F = plus(F, (cross(Z[1], P[0]), add(cross(Z[1], P[1]), cross(Z[0], P[0]))))
        net.append(F if W is None else minus(F, W))
    for j in reversed(T.order):
        if T.parent[j] >= 0:
            net[T.parent[j]] = plus(net[T.parent[j]], net[j])
    return [-power(motion.b[i], net[T.body_of[i]]) for i in range(T.n_v)]


def energies(bodies, own: list[Inertia], motion: Motion, gravity):
    """(kinetic, potential) energy, J."""
    kinetic = potential = 0.0
    for M, Z in zip(own, motion.Z):
        kinetic = kinetic + 0.5 * power(Z, M.times(Z))
        potential = potential - dot(gravity, M.h)
    return kinetic, potential


def point(motion: Motion, j: int, at):
    """Position, velocity and acceleration (z̈ = 0) of a point of body j (−1: the ground), given in its frame."""
    r = list(at) if j < 0 else add(motion.r[j], turn(motion.R[j], at))
    (v, ω), (a, α) = motion.ground if j < 0 else (motion.Z[j], motion.bias[j])
    speed = add(v, cross(ω, r))
    return r, speed, add(add(a, cross(α, r)), cross(ω, speed))


def direction(motion: Motion, j: int, n):
    """A direction fixed in body j (−1: the ground), and its first and second (z̈ = 0) derivatives."""
    d = list(n) if j < 0 else turn(motion.R[j], n)
    Z, bias = motion.ground if j < 0 else (motion.Z[j], motion.bias[j])
    ω = Z[1]
    α = bias[1]
    rate = cross(ω, d)
    return d, rate, add(cross(α, d), cross(ω, rate))


def apart(P, Q):
    """Q − P, with the derivatives."""
    return tuple(sub(q, p) for p, q in zip(P, Q))
