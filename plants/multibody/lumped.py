"""Bodies that are fixed to each other as one: what equations of motion need of them, and no more.

    m = m_1 + m_2,   m c = m_1 c_1 + m_2 c_2,   J = J_1 + J_2 + m_1 m_2/m (d·d 1 − d dᵀ),  d = c_1 − c_2
    I = I_1 + I_2 + m_1 m_2/m d·d

The skew-symmetric C_A of two bodies is not that of one: of required motion, ω × (J ω_r) counts the distance of their centres as
− (ω × d)(d·ω_r) where it is two bodies, so that I ω × ω_r is too much where they are one.

Numbers of a machine do not change in a run, so a body fixed to another costs a run nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.components.spatial import ZERO3, add, dot, scale, sub
from plants.multibody.branching import Tree


class Lump(NamedTuple):
    """A body with what is fixed to it: mass, centre of mass, tensor about that; spread: I of the module, 0 for one body alone."""

    mass: object
    com: tuple
    inertia: tuple
    spread: object = 0.0


NOTHING = Lump(0.0, ZERO3, (0.0,) * 6)
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def lumped(bodies, T: Tree) -> list[Lump]:
    """For every body, itself with all that is fixed to it, in its own frame; nothing for those that are fixed."""
    found = [Lump(body.mass, body.com, body.inertia) for body in bodies]
    for j in reversed(T.order):
        if bodies[j].joint != "fixed":
            continue
        if T.parent[j] >= 0:
            found[T.parent[j]] = joined(found[T.parent[j]], found[j], bodies[j].point)
        found[j] = NOTHING
    return found


def joined(a: Lump, b: Lump, point) -> Lump:
    """Two bodies as one, in the frame of a; the origin of b's, with the same axes, is at a point there."""
    m = a.mass + b.mass
    whole = np.where(m == 0, 1.0, m)
    c_b = add(point, b.com)
    com = scale(1.0 / whole, add(scale(a.mass, a.com), scale(b.mass, c_b)))
    d = sub(a.com, c_b)
    pair = a.mass * b.mass / whole
    round_ = dot(d, d)
    apart = [pair * ((round_ if i == k else 0.0) - d[i] * d[k]) for i, k in ENTRIES]
    inertia = tuple(p + q + r for p, q, r in zip(a.inertia, b.inertia, apart))
    return Lump(m, tuple(com), inertia, a.spread + b.spread + pair * round_)
