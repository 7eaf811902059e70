"""Symmetric positive definite systems of scalars, factored once and solved often: plain text, floats or expressions."""

from __future__ import annotations

from typing import NamedTuple

from plants.components.scalars import plain_difference, plain_product, plain_sum
from plants.multibody.articulated import Branches

REFINED = 3  # times


class Factors(NamedTuple):
    """L (unit lower triangle, rows) and 1/D of H = L D Lᵀ."""

    L: list
    inverse: list


def factors(H) -> Factors:
    """LDLᵀ of H given as rows, without pivoting."""
    n = len(H)
    L = [[0.0] * n for _ in range(n)]
    D = [0.0] * n
    inverse = [0.0] * n
    for j in range(n):
        D[j] = H[j][j]
        scaled = [plain_product(L[j][k], D[k]) for k in range(j)]
        for k in range(j):
            D[j] = plain_difference(D[j], plain_product(L[j][k], scaled[k]))
        inverse[j] = 1.0 / D[j]
        for i in range(j + 1, n):
            value = H[i][j]
            for k in range(j):
                value = plain_difference(value, plain_product(L[i][k], scaled[k]))
            L[i][j] = plain_product(value, inverse[j])
    return Factors(L, inverse)


def solve(F: Factors, b) -> list:
    """x with L D Lᵀ x = b."""
    n = len(b)
    y = list(b)
    for i in range(n):
        for k in range(i):
            y[i] = plain_difference(y[i], plain_product(F.L[i][k], y[k]))
    x = [plain_product(v, d) for v, d in zip(y, F.inverse)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = plain_difference(x[i], plain_product(F.L[k][i], x[k]))
    return x


def times(A, x) -> list:
    """A x for rows A."""
    return [_sum(plain_product(a, v) for a, v in zip(row, x)) for row in A]


def transposed_times(A, y, n: int) -> list:
    """Aᵀ y for rows A with n entries each."""
    return [_sum(plain_product(row[i], v) for row, v in zip(A, y)) for i in range(n)]


def _sum(values):
    total = 0.0
    for v in values:
        total = plain_sum(total, v)
    return total


class Held(NamedTuple):
    """Constraints G of a motion: M factored (`articulated`), G, the columns of M⁻¹Gᵀ; S: G M⁻¹Gᵀ factored, and its rows.

    damped: whether the diagonal of S was enlarged before it was factored, because rows of G depend on each other.
    """

    M: Branches
    G: list
    columns: list
    S: Factors
    rows: list
    damped: bool

    def multipliers(self, b) -> list:
        """μ with G M⁻¹Gᵀ μ = b; where S is damped, by REFINED steps of iterative refinement.

        Each step multiplies the error of μ by about the damping. A part of b outside the range of G M⁻¹Gᵀ, which there is off
        the loops within an integrator's step, is amplified by no more than REFINED/damping.
        """
        μ = solve(self.S, b)
        for _ in range(REFINED if self.damped else 0):
            left = [a - c for a, c in zip(b, times(self.rows, μ))]
            μ = [a + c for a, c in zip(μ, solve(self.S, left))]
        return μ

    def along(self, μ) -> list:
        """M⁻¹ Gᵀ μ."""
        return transposed_times(self.columns, μ, len(self.M.b))


def held(M: Branches, G, damping: float = 0.0) -> Held:
    """The Schur complement G M⁻¹Gᵀ of [M Gᵀ; G 0]; damping: share by which its diagonal is enlarged where rows are dependent."""
    columns = [M.solve(row) for row in G]
    S = [[0.0] * len(G) for _ in G]
    for i, row in enumerate(G):
        for j in range(i + 1):
            S[i][j] = S[j][i] = times([row], columns[j])[0]
    whole = S
    if damping:
        whole = [
            [v * (1.0 + damping) if i == j else v for j, v in enumerate(row)]
            for i, row in enumerate(S)
        ]
    return Held(M, G, columns, factors(whole), S, bool(damping))


def constrained(H: Held, Q, γ) -> tuple[list, list]:
    """(z̈, λ) with M z̈ + Gᵀ λ = Q and G z̈ + γ = 0."""
    free = H.M.solve(Q)
    λ = H.multipliers([g + c for g, c in zip(times(H.G, free), γ)])
    return [a - b for a, b in zip(free, H.along(λ))] if H.G else free, λ
