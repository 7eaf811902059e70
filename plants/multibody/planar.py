"""Planar loops in closed form: all joints of a loop but two are known, the two follow from two circles, or a circle and a line.

Seen along the common axis, bodies that turn together form a class; a loop whose two unknown joints are i and j reads

    c + R(θ_P) V_P + R(θ_Q) V_Q = 0          two revolute joints: |w| = |V_P|, |c + w| = |V_Q|, w = R(θ_P) V_P
    c + d D + R(θ_P) V_P = 0                 one slides on a known class: |c + d D| = |V_P|
    c + R(θ_P) (V_P + d D) = 0               one slides on the unknown class: |V_P + d D| = |c|

Of the two intersections the one in which the mechanism starts is taken, for the whole motion. At a dead centre the two meet:
beyond it this description does not hold. Angles are continued up to 135° to both sides of the start.

Source: [Haug89, chapter 3] for loops in relative coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np

from plants.components.spatial import cross, dot, scale, sub
from plants.multibody.parts import unit

QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


@dataclass(frozen=True)
class Closing:
    """How one loop is closed: indices of bodies and a choice of intersection; lengths and masses are in the mechanism.

    loop      its number;  base: the last body that both chains share (−1: the ground)
    chains    bodies from base to place a, and from base to place b
    unknown   the two bodies whose joints follow from the loop; the revolute one first
    signs     body → ±1: its axis along the loop's, or against it
    across    which coordinate axis is farthest from the loop's axis
    branch    ±1: which intersection;  turns: quarter turns the unknown angles start near
    """

    loop: int
    base: int
    chains: tuple[tuple[int, ...], tuple[int, ...]]
    unknown: tuple[int, int]
    signs: tuple[tuple[int, float], ...]
    across: int
    branch: int = 1
    turns: tuple[int, int] = (0, 0)


def rotated(c, s, a):
    """a turned by the angle with cosine c and sine s."""
    return [c * a[0] - s * a[1], s * a[0] + c * a[1]]


def turning(a, b, quarter: int):
    """θ with R(θ) a ∥ b, within half a turn of `quarter` quarter turns."""
    c, s = QUARTERS[quarter % 4]
    b = rotated(c, -s, b)
    return quarter * pi / 2 + np.arctan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


def _plus(a, b):
    return [a[0] + b[0], a[1] + b[1]]


def _square(a):
    return a[0] * a[0] + a[1] * a[1]


def two_circles(c, p, q, branch: int):
    """(w, room): |w|² = p and |c + w|² = q; room is zero where the circles touch, negative where they do not meet."""
    size = _square(c)
    along = (q - p - size) / (2 * size)
    room = p / size - along * along
    h = branch * np.sqrt(room)
    return [along * c[0] - h * c[1], along * c[1] + h * c[0]], room


def line_and_circle(c, D, p, branch: int):
    """(d, room): |c + d D|² = p; room is zero where the line touches the circle, negative where it misses it."""
    size = _square(D)
    middle = (c[0] * D[0] + c[1] * D[1]) / size
    room = middle * middle - (_square(c) - p) / size
    return branch * np.sqrt(room) - middle, room


class Closed(NamedTuple):
    """A loop that is closed, in the notation of the module.

    V, W     vectors of the two unknown classes in their own axes (W None where one joint slides)
    w, x     where V and W point: w = R(θ_P) V, x = R(θ_Q) W
    slide    position d of the sliding joint (None where both turn)
    room     falls to zero at a dead centre
    nested   the second unknown joint turns with the first
    """

    V: list
    w: list
    W: list | None
    x: list | None
    slide: object
    room: object
    nested: bool


def solved(mechanism, k: Closing, z) -> Closed:
    """The loop at positions z, unknown ones ignored."""
    classes, slide = _classes(mechanism, k, z)
    i, j = k.unknown
    c = classes.get((), [0.0, 0.0])
    V = classes[(i,)]
    if slide is None:
        nested = (i, j) in classes
        W = classes[(i, j) if nested else (j,)]
        w, room = two_circles(c, _square(V), _square(W), k.branch)
        return Closed(V, w, W, [-(a + b) for a, b in zip(c, w)], None, room, nested)
    where, D = slide
    if where == ():
        d, room = line_and_circle(c, D, _square(V), k.branch)
        c = [a + d * b for a, b in zip(c, D)]
    else:
        d, room = line_and_circle(V, D, _square(c), k.branch)
        V = [a + d * b for a, b in zip(V, D)]
    return Closed(V, [-a for a in c], None, None, d, room, False)


def closed(mechanism, k: Closing, z) -> tuple[list, object]:
    """(values of the two unknown joints, room): room falls to zero at a dead centre; z: positions, unknown ones ignored."""
    found, signs, (i, j) = solved(mechanism, k, z), dict(k.signs), k.unknown
    first = turning(found.V, found.w, k.turns[0])
    if found.W is None:
        return [signs[i] * first, found.slide], found.room
    second = turning(found.W, found.x, k.turns[1])
    return [
        signs[i] * first,
        signs[j] * (second - first if found.nested else second),
    ], found.room


def direction(angle) -> tuple:
    """(cosine, sine)."""
    return np.cos(angle), np.sin(angle)


def turned(mechanism, k: Closing, z) -> dict[int, tuple]:
    """(cosine, sine) of the unknown joints that turn, by number of the body: without any angle, so without its functions."""
    found, signs, (i, j) = solved(mechanism, k, z), dict(k.signs), k.unknown
    c, s = _between(found.V, found.w)
    directions = {i: (c, signs[i] * s)}
    if found.W is not None:
        C, S = _between(found.W, found.x)
        if found.nested:
            C, S = C * c + S * s, S * c - C * s
        directions[j] = C, signs[j] * S
    return directions


def _between(a, b) -> tuple:
    """(cosine, sine) of the angle from a to b, two vectors of one length."""
    size = _square(a)
    return (a[0] * b[0] + a[1] * b[1]) / size, (a[0] * b[1] - a[1] * b[0]) / size


def _classes(mechanism, k: Closing, z):
    """({unknown joints that turn it: vector}, (class an unknown slide is in, its direction) or None) in the base's axes."""
    signs = dict(k.signs)
    T = mechanism.tree
    loop = mechanism.loops[k.loop]
    flat = plane(mechanism, k)
    found = {}
    slide = None

    def put(name, c, s, v, way):
        found[name] = _plus(found.get(name, [0.0, 0.0]), rotated(c, s, [way * e for e in v]))

    for chain, place, way in zip(k.chains, (loop.a, loop.b), (1.0, -1.0)):
        name = ()
        c = 1.0
        s = 0.0
        for j in chain:
            body = mechanism.bodies[j]
            put(name, c, s, flat(body.point), way)
            if body.joint == "fixed":
                continue
            value = None if j in k.unknown else z[T.z[j][0]]
            if body.joint == "prismatic" and value is None:
                slide = name, rotated(c, s, [way * e for e in flat(unit(body.axis))])
            elif body.joint == "prismatic":
                put(name, c, s, [value * e for e in flat(unit(body.axis))], way)
            elif value is None:
                name = (*name, j)
            else:
                c, s = rotated(np.cos(value), signs[j] * np.sin(value), (c, s))
        put(name, c, s, flat(place.point), way)
    return found, slide


def plane_axes(mechanism, k: Closing) -> tuple[list, list]:
    """Two directions across the loop's axis, in the axes of its base."""
    lead = next(j for j, _ in k.signs)
    u = unit(mechanism.bodies[lead].axis)
    e = unit(sub([1.0 if n == k.across else 0.0 for n in range(3)], scale(u[k.across], u)))
    return e, cross(u, e)


def plane(mechanism, k: Closing):
    """Function 3-vector → its two components across the loop's axis."""
    e, f = plane_axes(mechanism, k)
    return lambda a: [dot(e, a), dot(f, a)]
