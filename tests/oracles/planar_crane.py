"""Cylinder forces of a planar crane by Newton–Euler for three bodies in the plane, written out.

Source: [Nurmi17] Sections 2, 5.3.
"""

import numpy as np


def forces(crane, q, qd, qdd):
    """Cylinder forces, N, positive when they push the rod out."""
    c1, s1, c2, s2 = np.cos(q[0]), np.sin(q[0]), np.cos(q[0] + q[1]), np.sin(q[0] + q[1])
    ω1, ω2, α1, α2 = qd[0], qd[0] + qd[1], qdd[0], qdd[0] + qdd[1]
    ℓ = crane.L_2 + q[2]
    one, two, three = crane.bodies
    at1, at2, at3 = (one.r, one.s), (two.r, two.s), (ℓ + three.r, three.s)

    def acceleration(c, s, ω, α, r, p):  # of a point (r, p) in a frame turning with ω, α
        return -α * (r * s + p * c) - ω**2 * (r * c - p * s), α * (r * c - p * s) - ω**2 * (
            r * s + p * c
        )

    def moment(c, s, r, p, f):
        return (r * c - p * s) * f[1] - (r * s + p * c) * f[0]

    ax, ay = acceleration(c1, s1, ω1, α1, crane.L_1, 0.0)
    ay = ay + crane.g  # as an accelerometer reads it

    def force(mass, at):  # of a point of link 2, which turns about the tilt joint
        X, Y = acceleration(c2, s2, ω2, α2, *at)
        return mass * (ax + X), mass * (ay + Y)

    def sliding(mass, at):
        X, Y = force(mass, at)
        along, across = mass * qdd[2], mass * 2 * qd[2] * ω2
        return X + along * c2 - across * s2, Y + along * s2 + across * c2

    X, Y = acceleration(c1, s1, ω1, α1, *at1)
    f1 = (one.mass * X, one.mass * (Y + crane.g))
    f2 = force(two.mass, at2)
    f3 = sliding(three.mass, at3)
    f4 = sliding(crane.load, (ℓ, crane.h))
    at4 = (ℓ, crane.h)
    push = (f3[0] + f4[0]) * c2 + (f3[1] + f4[1]) * s2
    T2 = (two.inertia + three.inertia) * α2 + sum(
        moment(c2, s2, *at, f) for at, f in ((at2, f2), (at3, f3), (at4, f4))
    )
    outer = (f2[0] + f3[0] + f4[0], f2[1] + f3[1] + f4[1])
    T1 = one.inertia * α1 + moment(c1, s1, *at1, f1) + T2 + moment(c1, s1, crane.L_1, 0.0, outer)
    return [T1 / crane.lift.lever(q[0]), T2 / crane.tilt.lever(q[1]), push]
