"""Loops closed: Φ(z) = 0 of cut joints, its Jacobian Φ_z and Φ̇_z ż.

A cut between places a and b with points r, unit axes u and normals n across them; n_1, n_2, u_a are orthonormal:

    spherical   n_1·(r_b − r_a) = n_2·(r_b − r_a) = u_a·(r_b − r_a) = 0
    revolute    the same and n_1·u_b = n_2·u_b = 0
    prismatic   n_1·(r_b − r_a) = n_2·(r_b − r_a) = 0,  n_1·u_b = n_2·u_b = 0,  n_2·n_b = 0

Directions are fixed in a's body, so that the rows a planar loop needs stay the same ones however its plane turns. The force that
holds a row is a wrench on b and its opposite on a; its power with the columns b_j is the row of Φ_z, so the Jacobian needs no
derivative of its own.

Source: [Jaiswal21] eqs (9)–(12); the rows as in [Haug89, chapter 9].
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.scalars import plain_sum
from plants.components.spatial import ZERO3, add, cross, dot, power, scale, sub
from plants.multibody.parts import unit
from plants.multibody.tree import (
    Motion,
    Tree,
    apart,
    direction,
    point,
)

ROWS = {"spherical": 3, "revolute": 5, "prismatic": 5}
# Rows that keep points together, the first ones.
MEETS = {
    "spherical": 3,
    "revolute": 3,
    "prismatic": 2,
}


def loop_of_row(loops) -> list[int]:
    """Which loop every row belongs to."""
    return [n for n, loop in enumerate(loops) for _ in range(ROWS[loop.joint])]


class Row(NamedTuple):
    """One scalar constraint: Φ, Φ̇, the part Φ̇_z ż of Φ̈; the wrench of a unit force of it on b, its opposite acts on a."""

    value: object
    rate: object
    bias: object
    wrench: tuple
    a: int
    b: int


def _product(P, Q):
    """P·Q with two derivatives."""
    return (
        dot(P[0], Q[0]),
        dot(P[1], Q[0]) + dot(P[0], Q[1]),
        dot(P[2], Q[0]) + 2 * dot(P[1], Q[1]) + dot(P[0], Q[2]),
    )


def _across(place):
    """u, n_1, n_2 of a place in its body's frame: orthonormal, from axis and normal."""
    u = unit(place.axis)
    n = unit(sub(place.normal, scale(dot(place.normal, u), u)))
    return u, n, cross(u, n)


def _pairs(loop, place, way, a: int, b: int) -> list[tuple]:
    """(P, Q) of every row of a cut: its Φ is P·Q. place, way: points and directions of a body, with derivatives."""
    between = apart(place(a, loop.a.point), place(b, loop.b.point))
    u_a, n1, n2 = (way(a, d) for d in _across(loop.a))
    meet = [(n1, between), (n2, between), (u_a, between)]
    if loop.joint == "spherical":
        return meet
    u_b, n_b = (way(b, d) for d in _across(loop.b)[:2])
    aligned = [(n1, u_b), (n2, u_b)]
    if loop.joint == "revolute":
        return meet + aligned
    return [*meet[:2], *aligned, (n2, n_b)]


def rows(loop, motion: Motion, a: int, b: int) -> list[Row]:
    """The constraints of one cut between bodies number a and b (−1: the ground)."""
    place = lambda j, at: point(motion, j, at)
    way = lambda j, d: direction(motion, j, d)
    at_b = place(b, loop.b.point)[0]
    meets = MEETS[loop.joint]
    found = []
    for i, (n, d) in enumerate(_pairs(loop, place, way, a, b)):
        pull = (n[0], cross(at_b, n[0])) if i < meets else (ZERO3, cross(d[0], n[0]))
        found.append(Row(*_product(n, d), pull, a, b))
    return found


def all_rows(loops, cuts, motion: Motion) -> list[Row]:
    """The constraints of all loops; cuts: numbers of the two bodies of each."""
    return [row for loop, (a, b) in zip(loops, cuts) for row in rows(loop, motion, a, b)]


def turning(loop, motion: Motion, a: int, b: int) -> list[tuple]:
    """Rates of the wrenches of `rows`, in their order."""
    place = lambda j, at: point(motion, j, at)
    way = lambda j, d: direction(motion, j, d)
    at_b, speed, _ = place(b, loop.b.point)
    meets = MEETS[loop.joint]
    found = []
    for i, (n, d) in enumerate(_pairs(loop, place, way, a, b)):
        if i < meets:
            found.append((n[1], add(cross(speed, n[0]), cross(at_b, n[1]))))
        else:
            found.append((ZERO3, add(cross(d[1], n[0]), cross(d[0], n[1]))))
    return found


def opposite(F):
    """−F of a wrench."""
    return scale(-1.0, F[0]), scale(-1.0, F[1])


def jacobian(T: Tree, found: list[Row], columns) -> list[list]:
    """Φ_z as rows."""
    table = []
    for row in found:
        line = [0.0] * T.n_v
        for body, wrench in ((row.a, opposite(row.wrench)), (row.b, row.wrench)):
            for i in T.above[body] if body >= 0 else ():
                line[i] = plain_sum(line[i], power(columns[i], wrench))
        table.append(line)
    return table


def facing(loop, motion: Motion, a: int, b: int):
    """Products that must be positive for a loop to close the right way round: u_a·u_b, and n_a·n_b of a prismatic cut."""
    if loop.joint == "spherical":
        return []
    A, B = (
        [direction(motion, j, d)[0] for d in _across(place)[:2]]
        for j, place in ((a, loop.a), (b, loop.b))
    )
    return [dot(p, q) for p, q in zip(A, B)][: 2 if loop.joint == "prismatic" else 1]


def line_of(motion: Motion, a: int, pin_a, b: int, pin_b):
    """(s, ṡ, wrench) of the line between two pins: the wrench is that of a unit force along it on b; a takes its opposite."""
    P = point(motion, a, pin_a.point)
    Q = point(motion, b, pin_b.point)
    d, speed, _ = apart(P, Q)
    s = dot(d, d) ** 0.5
    n = [e / s for e in d]
    return s, dot(n, speed), (n, cross(Q[0], n))


def loaded(wrenches: list, j: int, F) -> None:
    """Add a wrench to the list of those on the bodies; none on the ground."""
    if j >= 0:
        wrenches[j] = (
            F if wrenches[j] is None else (add(wrenches[j][0], F[0]), add(wrenches[j][1], F[1]))
        )
