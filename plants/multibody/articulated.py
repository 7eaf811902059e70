"""M^Σ of a tree factored branch by branch: O(n) to factor, O(n) to solve with, in time and in the length of the text.

A body with all that hangs on it resists a motion Z of itself, its own joints free, by the wrench I Z. From the leaves inwards,
with b the column of a rate and I that of the body it moves,

    U = I b,   D = b·U,   I ← I − U Uᵀ/D,   I_parent ← I_parent + I

which is M^Σ = L D Lᵀ without its matrix. M^Σ x = Q then is

    inwards    u = Q − b·p,   p ← p + U u/D,   p_parent ← p_parent + p
    outwards   x = (u − U·Z)/D,   Z ← Z + b x

The columns of a spherical joint are three joints one after the other. All wrenches and motions are about the origin of the
inertial frame, as in `tree`, so that they add without being moved.

Source: [Featherstone08] articulated bodies, chapter 7, with the bias kept apart.
"""

from __future__ import annotations

from typing import NamedTuple

from plants.components.scalars import plain_difference, plain_product, plain_sum
from plants.components.spatial import ZERO3, add, dot, power, scale, sub
from plants.multibody.branching import Tree
from plants.multibody.tree import Inertia

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # entries of a symmetric block


class Resistance(NamedTuple):
    """I of f = A v + B ω, m = Bᵀ v + C ω: A and C symmetric (xx, yy, zz, xy, xz, yz), B by rows."""

    A: list
    B: list
    C: list

    def times(self, Z):
        """Wrench (f, m) for a motion (v, ω)."""
        v, ω = Z
        B = self.B
        columns = [[B[0][i], B[1][i], B[2][i]] for i in range(3)]
        return (
            add(_symmetric(self.A, v), [dot(row, ω) for row in B]),
            add([dot(column, v) for column in columns], _symmetric(self.C, ω)),
        )

    def plus(self, other: Resistance) -> Resistance:
        return Resistance(
            [plain_sum(a, b) for a, b in zip(self.A, other.A)],
            [add(a, b) for a, b in zip(self.B, other.B)],
            [plain_sum(a, b) for a, b in zip(self.C, other.C)],
        )

    def without(self, U, inverse) -> Resistance:
        """I − U Uᵀ/D."""
        f, m = U
        g = scale(inverse, f)
        n = scale(inverse, m)
        return Resistance(
            [plain_difference(a, plain_product(g[i], f[j])) for a, (i, j) in zip(self.A, _PAIRS)],
            [sub(row, scale(g[i], m)) for i, row in enumerate(self.B)],
            [plain_difference(c, plain_product(n[i], m[j])) for c, (i, j) in zip(self.C, _PAIRS)],
        )


def _symmetric(S, a) -> list:
    return [dot((S[0], S[3], S[4]), a), dot((S[3], S[1], S[5]), a), dot((S[4], S[5], S[2]), a)]


def resistance(own: Inertia) -> Resistance:
    """The resistance of one body alone, which carries no others."""
    m = own.m
    h = own.h
    minus = [plain_difference(0.0, e) for e in h]
    return Resistance(
        [m, m, m, 0.0, 0.0, 0.0],
        [[0.0, h[2], minus[1]], [minus[2], 0.0, h[0]], [h[1], minus[0], 0.0]],
        list(own.J),
    )


class Branches(NamedTuple):
    """M^Σ factored: tree, columns b, and for every rate U and 1/D."""

    tree: Tree
    b: list
    U: list
    inverse: list

    def solve(self, Q) -> list:
        """x with M^Σ x = Q."""
        T = self.tree
        p = [(ZERO3, ZERO3)] * len(self.tree.parent)
        u = [0.0] * self.tree.n_v
        for j in reversed(T.order):
            for k in reversed(_own(T, j)):
                u[k] = plain_difference(Q[k], power(self.b[k], p[j]))
                p[j] = _moved(p[j], plain_product(u[k], self.inverse[k]), self.U[k])
            if T.parent[j] >= 0:
                p[T.parent[j]] = _both(p[T.parent[j]], p[j])
        Z = [(ZERO3, ZERO3)] * len(T.parent)
        x = [0.0] * T.n_v
        for j in T.order:
            if T.parent[j] >= 0:
                Z[j] = Z[T.parent[j]]
            for k in _own(T, j):
                x[k] = plain_product(
                    plain_difference(u[k], power(Z[j], self.U[k])), self.inverse[k]
                )
                Z[j] = _moved(Z[j], x[k], self.b[k])
        return x


def _own(T: Tree, j: int) -> range:
    """Numbers of a body's rates."""
    first, count = T.v[j]
    return range(first, first + count)


def _both(P, Q):
    return add(P[0], Q[0]), add(P[1], Q[1])


def _moved(P, factor, Q):
    """P + factor Q."""
    return add(P[0], scale(factor, Q[0])), add(P[1], scale(factor, Q[1]))


def branches(T: Tree, own: list[Inertia], b) -> Branches:
    """M^Σ of bodies with inertias `own` and columns b, factored."""
    whole = [resistance(one) for one in own]
    U = [None] * T.n_v
    inverse = [0.0] * T.n_v
    for j in reversed(T.order):
        for k in reversed(_own(T, j)):
            U[k] = whole[j].times(b[k])
            inverse[k] = 1.0 / power(b[k], U[k])
            whole[j] = whole[j].without(U[k], inverse[k])
        if T.parent[j] >= 0:
            whole[T.parent[j]] = whole[T.parent[j]].plus(whole[j])
    return Branches(T, list(b), U, inverse)
