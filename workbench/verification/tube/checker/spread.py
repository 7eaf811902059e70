"""Deviations of many runs over a stage, rows first: in a box, and in the hull of some sets of segments and balls.

    |e| ≤ box,   e in the hull of {Γ_j ζ + B_j u : |ζ_i| ≤ 1, |u| ≤ 1} over the ends j, widened by `more`

so that |a·e| ≤ min( |a| box,  max_j (Σ|a Γ_j| + |a B_j|) + |a| more ). The coefficients a of a linear form are kept together with
their products with all Γ_j and B_j, which are linear in a as well (`lines`: those of the states themselves), so that sums of forms
need no products of matrices.
"""

from __future__ import annotations

import numpy as np

from .balls import UNIT, up


class Spread:
    """See the module. ends: pairs (Γ, B) of arrays (rows, n, ·); none: the box alone."""

    def __init__(self, box: np.ndarray, ends: list, more: np.ndarray | None = None):
        self.rows, n = box.shape
        self.box = box
        self.more = more
        unit = np.broadcast_to(np.eye(n), (self.rows, n, n))
        parts = [unit]
        at = n
        self.places = []
        for Γ, B in ends:
            self.places.append(
                (slice(at, at + Γ.shape[2]), slice(at + Γ.shape[2], at + Γ.shape[2] + B.shape[2]))
            )
            parts += [Γ, B]
            at += Γ.shape[2] + B.shape[2]
        self.n = n
        self.columns = at
        self.lines = np.concatenate(parts, axis=2)
        sizes = box
        for Γ, B in ends:
            sizes = np.maximum(sizes, np.abs(Γ).sum(axis=2) + np.sqrt((B**2).sum(axis=2)) + more)
        self.sizes = up(sizes)

    def along(self, line: np.ndarray) -> np.ndarray:
        """|a·e + Σ b_k κ_k| at most, (rows,); later columns are the b_k. What the rounding of the line adds is not in it."""
        size = np.abs(line)
        a = size[:, : self.n]
        found = np.einsum("ri,ri->r", a, self.box)
        if self.places:
            each = [self.one(size[:, Γ], line[:, B]) for Γ, B in self.places]
            other = np.max(each, axis=0) + np.einsum("ri,ri->r", a, self.more)
            found = np.minimum(found, other)
        return found + size[:, self.columns :].sum(axis=1)

    @staticmethod
    def one(segments: np.ndarray, ball: np.ndarray) -> np.ndarray:
        straight = segments.sum(axis=1)
        return straight + np.sqrt(np.einsum("ri,ri->r", ball, ball)) if ball.shape[1] else straight

    def over(self, L: np.ndarray) -> np.ndarray:
        """|L e| at most, (rows, k), of matrices (rows, k, n)."""
        size = np.abs(L)
        found = np.einsum("rki,ri->rk", size, self.box)
        lines = L @ self.lines
        for Γ, B in self.places[:1]:
            other = np.abs(lines[..., Γ]).sum(axis=-1) + np.sqrt((lines[..., B] ** 2).sum(axis=-1))
            found = np.minimum(found, other + np.einsum("rki,ri->rk", size, self.more))
        rounded = (self.columns + 2) * UNIT * np.einsum("rki,ri->rk", size, self.sizes)
        return up(found + rounded)
