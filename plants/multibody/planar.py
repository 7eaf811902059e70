"""Planar loops in closed form: all joints of a loop but two are known, the two follow from two circles, or a circle and a line.

Seen along the common axis, bodies that turn together form a class; a loop whose two unknown joints are i and j reads

    c + R(θ_P) V_P + R(θ_Q) V_Q = 0          two revolute joints: |w| = |V_P|, |c + w| = |V_Q|, w = R(θ_P) V_P
    c + d D + R(θ_P) V_P = 0                 one slides on a known class: |c + d D| = |V_P|
    c + R(θ_P) (V_P + d D) = 0               one slides on the unknown class: |V_P + d D| = |c|

Which of the two intersections is the one the mechanism starts in, and stays in: at a dead centre they meet, and the
description ends there. Angles are continued up to 135° to both sides of the start.

Source: [Haug89, chapter 3] for loops in relative coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np

from plants.components.spatial import cross, dot, scale, sub
from plants.drives.laws import SpringDamper
from plants.multibody.parts import unit
from workbench.contract.errors import InputError

QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


@dataclass(frozen=True)
class Closing:
    """How one loop is closed: structure only, numbers stay with the mechanism.

    loop      its number;  base: the body all of it hangs on (−1: the ground)
    chains    bodies from there to place a, and to place b
    unknown   the two bodies whose joints follow; the revolute one first
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
    """w with |w|² = p and |c + w|² = q; and what is zero where the circles touch (negative: they do not meet)."""
    size = _square(c)
    along = (q - p - size) / (2 * size)
    room = p / size - along * along
    h = branch * np.sqrt(room)
    return [along * c[0] - h * c[1], along * c[1] + h * c[0]], room


def line_and_circle(c, D, p, branch: int):
    """d with |c + d D|² = p; and what is zero where the line touches the circle."""
    size = _square(D)
    middle = (c[0] * D[0] + c[1] * D[1]) / size
    room = middle * middle - (_square(c) - p) / size
    return branch * np.sqrt(room) - middle, room


class Closed(NamedTuple):
    """A loop that is closed: vectors V, W of the two classes (W None where one slides), where they point, the slide's position.

    room falls to zero at a dead centre; nested: the second unknown joint turns with the first.
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
    c, V = classes.get((), [0.0, 0.0]), classes[(i,)]
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
    signs, T, loop = dict(k.signs), mechanism.tree, mechanism.loops[k.loop]
    flat = plane(mechanism, k)
    found, slide = {}, None

    def put(name, c, s, v, way):
        found[name] = _plus(found.get(name, [0.0, 0.0]), rotated(c, s, [way * e for e in v]))

    for chain, place, way in zip(k.chains, (loop.a, loop.b), (1.0, -1.0)):
        name, c, s = (), 1.0, 0.0
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


# ---- which joints follow from which ---------------------------------------------------------------------------------
def closings_of(mechanism, z) -> tuple[Closing, ...]:
    """How all loops are closed one after the other from the start z; InputError for a loop that is not of this kind.

    Joints that are held are independent first, then those with a drive on them, then those nearest to the ground.
    """
    known = {j for j, b in enumerate(mechanism.bodies) if b.joint != "fixed"}
    chains = [_chains(mechanism, cut) for cut in mechanism.cuts]
    inside = [
        [j for chain in pair for j in chain if mechanism.bodies[j].joint != "fixed"]
        for _, pair in chains
    ]
    known -= {j for joints in inside for j in joints}
    driven = [mechanism.number(a.joint) for a in mechanism.actuators if a.joint]
    left, found = list(range(len(chains))), []
    while left:
        open_ = {n: [j for j in inside[n] if j not in known] for n in left}
        n = min(left, key=lambda n: (len(open_[n]) != 2, n))
        if len(open_[n]) < 2:
            raise _unfit(mechanism, n, "its joints are all determined by other loops")
        if len(open_[n]) > 2:
            known.add(
                min(
                    open_[n],
                    key=lambda j: (
                        not mechanism.bodies[j].hold,
                        j not in driven,
                        mechanism.tree.order.index(j),
                    ),
                )
            )
            continue
        found.append(_started(mechanism, _closing(mechanism, n, *chains[n], open_[n]), z))
        known |= set(open_[n])
        left.remove(n)
    _check_springs(mechanism, found)
    return tuple(found)


def _check_springs(mechanism, found) -> None:
    """A spring must not be on an angle that follows from others: that is known to full turns only."""
    follow = {
        mechanism.bodies[j].name
        for k in found
        for j in k.unknown
        if mechanism.bodies[j].joint == "revolute"
    }
    for a in mechanism.actuators:
        if a.joint in follow and isinstance(a.drive, SpringDamper):
            raise InputError(
                f"actuators.{a.name}: its spring is on the angle of {a.joint}, which method minimal knows but for "
                "full turns",
                mend=f"write 'hold: true' at {a.joint}, so that it is independent, or 'method: projected'",
            )


def _unfit(mechanism, n: int, why: str) -> InputError:
    return InputError(
        f"method: minimal cannot close {mechanism.loops[n].name}: {why}",
        mend="write 'method: projected', which takes any loop",
    )


def _chains(mechanism, cut) -> tuple[int, tuple]:
    """(base, bodies from it to either place)."""
    paths = []
    for j in cut:
        path = []
        while j >= 0:
            path.insert(0, j)
            j = mechanism.tree.parent[j]
        paths.append(path)
    shared = 0
    while shared < min(map(len, paths)) and paths[0][shared] == paths[1][shared]:
        shared += 1
    return (paths[0][shared - 1] if shared else -1), tuple(tuple(path[shared:]) for path in paths)


def _closing(mechanism, n: int, base: int, chains, unknown) -> Closing:
    joints = [j for chain in chains for j in chain]
    kinds = {j: mechanism.bodies[j].joint for j in joints}
    turns = [j for j in joints if kinds[j] == "revolute"]
    slides = [j for j in unknown if kinds[j] == "prismatic"]
    if mechanism.loops[n].joint == "prismatic" or "spherical" in kinds.values() or not turns:
        raise _unfit(
            mechanism, n, "it takes revolute and prismatic joints in the tree, and a cut that turns"
        )
    if len(slides) > 1:
        raise _unfit(
            mechanism, n, f"{mechanism.bodies[slides[1]].name} slides too; hold one of the two"
        )
    u = np.array(unit(mechanism.bodies[turns[0]].axis))
    along = {j: float(u @ unit(mechanism.bodies[j].axis)) for j in joints if kinds[j] != "fixed"}
    if any(
        abs(abs(along[j]) - 1) > 1e-9 if kinds[j] == "revolute" else abs(along[j]) > 1e-9
        for j in along
    ):
        raise _unfit(mechanism, n, "its joints are not in one plane")
    unknown = sorted(
        unknown, key=lambda j: (kinds[j] == "prismatic", mechanism.tree.order.index(j))
    )
    return Closing(
        n,
        base,
        chains,
        tuple(unknown),
        tuple((j, float(np.sign(along[j]))) for j in turns),
        int(np.argmin(abs(u))),
    )


def _started(mechanism, k: Closing, z) -> Closing:
    """The closing with branch and turns of the start."""
    signs, T = dict(k.signs), mechanism.tree
    i, j = k.unknown
    want = [float(z[T.z[n][0]]) for n in k.unknown]
    first = signs[i] * want[0]
    second = signs.get(j, 0.0) * want[1] + (
        first if any(i in chain and j in chain for chain in k.chains) else 0.0
    )
    turns = (round(2 * first / pi), round(2 * second / pi))
    tried = []
    for branch in (1, -1):
        made = Closing(k.loop, k.base, k.chains, k.unknown, k.signs, k.across, branch, turns)
        with np.errstate(invalid="ignore"):
            values, room = closed(mechanism, made, z)
        tried.append(
            (np.nan_to_num(np.abs(np.subtract(values, want)).max(), nan=np.inf), float(room), made)
        )
    error, room, made = min(tried, key=lambda t: t[0])
    if not room > 1e-6 or error > 1e-6:
        a, b = (mechanism.bodies[n].name for n in k.unknown)
        raise _unfit(
            mechanism,
            k.loop,
            f"it starts at a dead centre of {a} and {b}; hold another of its joints",
        )
    return made
