"""Rates and accelerations around a planar loop, in its own plane.

With places a and b at the ends of the loop's two chains, p_k where joint k is, D_k along it where it slides, ⊥ a quarter turn,
all in the axes of the body that carries both chains:

    Φ = b − a,   Φ_z: a column ± ⊥(b − p_k), or ± D_k, of every joint in the loop
    (Φ_z)˙:      ± ⊥(ḃ − ṗ_k),  ± ω ⊥D_k                            along the true motion, relative to what carries both

Φ knows nothing of how the carrier itself moves, so neither do they.

Source: [Haug89, chapter 3] for loops in relative coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.spatial import add, cross, turn
from plants.multibody import planar
from plants.multibody.parts import unit
from plants.multibody.planar import Closing, rotated
from plants.multibody.tree import Motion
from workbench.contract.once import once


class Link(NamedTuple):
    """One joint of a chain: number of its rate; ±1 for a turn at `at`, or None for a slide along `at`."""

    rate: int
    sense: float | None
    at: list


class Chain(NamedTuple):
    """A chain of a loop: its joints from the carrier outwards, its end, and how its end enters Φ."""

    links: list[Link]
    end: list
    way: float


def across(a) -> list:
    """⊥a: a turned by a quarter."""
    return [-a[1], a[0]]


def _less(a, b) -> list:
    return [a[0] - b[0], a[1] - b[1]]


def _more(a, factor, b) -> list:
    return [a[0] + factor * b[0], a[1] + factor * b[1]]


def chains(mechanism, k: Closing, z) -> list[Chain]:
    """The two chains that a loop joins, at positions z of all joints."""
    loop = mechanism.loops[k.loop]
    known = planar.turned(mechanism, k, z)
    ends = zip(k.chains, (loop.a, loop.b), (-1.0, 1.0))
    return [_chain(mechanism, k, z, known, *end) for end in ends]


def _chain(mechanism, k: Closing, z, known, bodies, place, way: float) -> Chain:
    """From the first joint of the bodies to `place` on the last of them. known: directions of joints that follow."""
    T = mechanism.tree
    flat = planar.plane(mechanism, k)
    signs = dict(k.signs)
    p = [0.0, 0.0]
    heading = (1.0, 0.0)
    links = []
    for j in bodies:
        body = mechanism.bodies[j]
        p = _more(p, 1.0, rotated(*heading, flat(body.point)))
        if body.joint == "revolute":
            links.append(Link(T.v[j][0], signs[j], p))
            c, s = known[j] if j in known else planar.direction(z[T.z[j][0]])
            heading = rotated(c, signs[j] * s, heading)
        elif body.joint == "prismatic":
            D = rotated(*heading, flat(unit(body.axis)))
            links.append(Link(T.v[j][0], None, D))
            p = _more(p, z[T.z[j][0]], D)
    return Chain(links, _more(p, 1.0, rotated(*heading, flat(place.point))), way)


def columns(chain: Chain) -> list[list]:
    """∂Φ/∂z of every joint of a chain."""
    found = []
    for link in chain.links:
        if link.sense is None:
            found.append([chain.way * e for e in link.at])
        else:
            arm = across(_less(chain.end, link.at))
            found.append([chain.way * link.sense * e for e in arm])
    return found


def turning_columns(chain: Chain, rates) -> list[list]:
    """Rates of `columns` along the true rates of all joints."""
    found = []
    speed = _velocity(chain, chain.end, len(chain.links), rates)
    for i, link in enumerate(chain.links):
        if link.sense is None:
            turn_rate = sum(l.sense * rates[l.rate] for l in chain.links[:i] if l.sense is not None)
            found.append([chain.way * turn_rate * e for e in across(link.at)])
        else:
            apart = _less(speed, _velocity(chain, link.at, i, rates))
            found.append([chain.way * link.sense * e for e in across(apart)])
    return found


def _velocity(chain: Chain, point, many: int, rates) -> list:
    """Velocity of a point that the first `many` joints of a chain move."""
    v = [0.0, 0.0]
    for link in chain.links[:many]:
        if link.sense is None:
            v = _more(v, rates[link.rate], link.at)
        else:
            v = _more(v, link.sense * rates[link.rate], across(_less(point, link.at)))
    return v


@once
def jacobian(mechanism, z) -> list[list]:
    """Φ_z of all closings, two rows each."""
    table = []
    for k in mechanism.closings:
        rows = [[0.0] * mechanism.tree.n_v for _ in range(2)]
        for chain in chains(mechanism, k, z):
            for link, column in zip(chain.links, columns(chain)):
                rows[0][link.rate], rows[1][link.rate] = column
        table += rows
    return table


@once
def biases(mechanism, z, rates, required) -> list:
    """(Φ_z)˙ ż_r along the true rates, of all closings, two numbers each."""
    found = []
    for k in mechanism.closings:
        total = [0.0, 0.0]
        for chain in chains(mechanism, k, z):
            for link, column in zip(chain.links, turning_columns(chain, rates)):
                total = _more(total, required[link.rate], column)
        found += total
    return found


def wrenches(mechanism, k: Closing, motion: Motion) -> list[tuple]:
    """Wrenches on place b, about the origin, of unit forces of both rows of a closing; their opposites act on place a."""
    j = mechanism.cuts[k.loop][1]
    at_b = list(mechanism.loops[k.loop].b.point)
    if j >= 0:
        at_b = add(motion.r[j], turn(motion.R[j], at_b))
    ways = planar.plane_axes(mechanism, k)
    if k.base >= 0:
        ways = [turn(motion.R[k.base], way) for way in ways]
    return [(way, cross(at_b, way)) for way in ways]
