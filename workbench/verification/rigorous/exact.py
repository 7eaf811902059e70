"""Exact linear algebra on stored floats: what a proof about matrices may rest on.

Every stored float is an integer times a power of two, and sums and products of such numbers stay so, without rounding.
Definiteness is decided by the signs of leading minors (fraction-free elimination). A linear bound on a polytope rests
on multipliers y ≥ 0 that any solver may have found: cᵀx = yᵀHx + (c − Hᵀy)ᵀx ≤ yᵀh + |c − Hᵀy|₁ max|x_i|.
Source: Bareiss, Mathematics of Computation 22 (1968) 565–578 (elimination). Where matrices are only known to within a
radius: `balls`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from workbench.contract.errors import InputError


@final
@dataclass(frozen=True, eq=False)
class Dyadic:
    """The matrix Z·2^−e: Z an array of Python integers."""

    Z: np.ndarray
    e: int

    @staticmethod
    def of(M) -> Dyadic:
        """The stored matrix, exactly. Raises InputError for an entry that is not finite."""
        if isinstance(M, Dyadic):
            return M
        M = np.atleast_2d(np.asarray(M, dtype=float))
        if not np.isfinite(M).all():
            raise InputError(
                "exact arithmetic: an entry is not finite", mend="give finite matrices"
            )
        ratios = [v.as_integer_ratio() for v in M.ravel().tolist()]
        e = max((d.bit_length() - 1 for _, d in ratios), default=0)
        Z = np.empty(len(ratios), dtype=object)
        Z[:] = [n << (e - d.bit_length() + 1) for n, d in ratios]
        return Dyadic(Z.reshape(M.shape), e)

    @staticmethod
    def block(rows) -> Dyadic:
        """Block matrix of matrices (arrays or Dyadic)."""
        parts = [[Dyadic.of(M) for M in row] for row in rows]
        e = max(M.e for row in parts for M in row)
        return Dyadic(np.block([[M._at(e) for M in row] for row in parts]), e)

    @property
    def T(self) -> Dyadic:
        return Dyadic(self.Z.T, self.e)

    @property
    def shape(self) -> tuple[int, int]:
        return self.Z.shape

    def _at(self, e: int) -> np.ndarray:
        return self.Z * (1 << (e - self.e))

    def __matmul__(self, other) -> Dyadic:
        other = Dyadic.of(other)
        if 0 in self.shape or 0 in other.shape:
            return Dyadic.of(np.zeros((self.shape[0], other.shape[1])))
        return Dyadic(self.Z.dot(other.Z), self.e + other.e)

    def __rmatmul__(self, other) -> Dyadic:
        return Dyadic.of(other) @ self

    def __add__(self, other) -> Dyadic:
        other = Dyadic.of(other)
        e = max(self.e, other.e)
        return Dyadic(self._at(e) + other._at(e), e)

    __radd__ = __add__

    def __neg__(self) -> Dyadic:
        return Dyadic(-self.Z, self.e)

    def __sub__(self, other) -> Dyadic:
        return self + (-Dyadic.of(other))

    def __rsub__(self, other) -> Dyadic:
        return Dyadic.of(other) - self

    def times(self, number: float) -> Dyadic:
        """number · M for a stored float."""
        s = Dyadic.of([[number]])
        return Dyadic(self.Z * s.Z[0, 0], self.e + s.e)

    def fractions(self) -> list[list[Fraction]]:
        """Entries as fractions."""
        return [[Fraction(int(v), 1 << self.e) for v in row] for row in self.Z]

    def floats(self) -> np.ndarray:
        """The nearest floats."""
        return np.array([[float(v) for v in row] for row in self.fractions()]).reshape(self.shape)


Dyadic.__array_ufunc__ = None  # so that array @ Dyadic asks Dyadic


# ---- definiteness


def definite(S, strict: bool = True) -> bool:
    """Is the symmetric part of the stored matrix S (array or Dyadic) ≻ 0 (`strict`), or ⪰ 0? Exact, no tolerance.

    The pivots of the elimination are the leading minors themselves; rows and columns are first scaled by powers of two
    (an exact congruence), which keeps the integers short: about n·60 bits for stored floats.
    """
    S = Dyadic.of(S)
    Z = S.Z + S.Z.T
    n = len(Z)
    diagonal = [int(Z[i, i]) for i in range(n)]
    if any(d < 0 or (strict and d == 0) for d in diagonal):
        return False
    if any(d == 0 and any(Z[i]) for i, d in enumerate(diagonal)):
        return False
    keep = [i for i in range(n) if diagonal[i] > 0]
    half = [diagonal[i].bit_length() // 2 for i in keep]
    top = max(half, default=0)
    A = [
        [int(Z[i, j]) << (2 * top - half[a] - half[b]) for b, j in enumerate(keep[: a + 1])]
        for a, i in enumerate(keep)
    ]
    together = 0
    for row in A:
        for v in row:
            together |= v
    spare = (together & -together).bit_length() - 1 if together else 0
    return _eliminate([[v >> spare for v in row] for row in A], strict)


def _eliminate(A: list[list[int]], strict: bool) -> bool:
    """Fraction-free elimination of a symmetric integer matrix (lower triangle); pivots are its leading minors."""
    previous = 1
    for k in range(len(A)):
        p = A[k][k]
        if p < 0 or (strict and p == 0):
            return False
        if p == 0:
            if any(A[i][k] for i in range(k + 1, len(A))):
                return False
            continue  # an empty row: the rest is as if it were not there
        for i in range(k + 1, len(A)):
            row = A[i]
            f = A[i][k]
            for j in range(k + 1, i + 1):
                row[j] = (row[j] * p - f * A[j][k]) // previous
        previous = p
    return True


def definite_exactly(S) -> bool:
    """S ⪰ 0 for the stored matrix (its symmetric part), exactly."""
    return definite(S, strict=False)


def fall(A, P, T: float | None = None, rate: float = 0.0) -> Dyadic:
    """What must be ≻ 0 along with P: −AᵀP − PA − 2αP (T None, rate α in 1/s), or ρ²P − AᵀPA (sampled, ρ = 1 − rate)."""
    A = Dyadic.of(A)
    P = Dyadic.of(P)
    if T is None:
        PA = P @ A
        return -(PA + PA.T + P.times(rate).times(2.0))
    ρ = Dyadic.of([[1.0]]) - Dyadic.of([[rate]])
    return Dyadic(P.Z * (ρ.Z[0, 0] ** 2), P.e + 2 * ρ.e) - A.T @ P @ A


def lyapunov_exactly(A, P, T: float | None = None, rate: float = 0.0) -> bool:
    """P = Pᵀ ≻ 0 and `fall(A, P, T, rate)` ≻ 0 for the stored matrices, exactly."""
    P = np.asarray(P, dtype=float)
    if not (0 <= rate < (np.inf if T is None else 1)) or not np.array_equal(P, P.T):
        return False
    return definite(P) and definite(fall(A, P, T, rate))


# ---- linear bounds on polytopes


def dual_bound(c, H, h, y, radius: Fraction | float) -> Fraction:
    """Exact upper bound of cᵀx on {H x ≤ h}, |x_i| ≤ radius, from multipliers y (negative ones count as 0)."""
    c = Dyadic.of(c)
    y = np.maximum(np.asarray(y, dtype=float).ravel(), 0.0)
    used = np.flatnonzero(y)
    if not len(used):
        return sum((abs(v) for v in c.fractions()[0]), Fraction(0)) * Fraction(radius)
    y = Dyadic.of(y[None, used])
    left = (c - y @ np.atleast_2d(H)[used]).fractions()[0]
    slack = sum((abs(v) for v in left), Fraction(0))
    return (y @ np.asarray(h, dtype=float)[used, None]).fractions()[0][0] + slack * Fraction(radius)


def multipliers(c, H, h) -> np.ndarray | None:
    """Multipliers y of max cᵀx over H x ≤ h by linear programming; None where the solver finds no bound."""
    from scipy.optimize import linprog

    c = np.asarray(c, float).ravel()
    r = linprog(-c, H, h, bounds=(None, None), method="highs")
    return _balanced(np.maximum(-r.ineqlin.marginals, 0.0), c, H) if r.status == 0 else None


def _balanced(y, c, H) -> np.ndarray:
    """The multipliers with Hᵀy = c to rounding, where those that are not zero can be so and stay positive.

    A solver balances them to its tolerance alone, and `dual_bound` takes what is left times the size of the set.
    """
    from scipy.optimize import nnls

    used = y > 0
    if not used.any():
        return y
    columns = np.atleast_2d(H)[used].T
    closer, _ = nnls(columns, c)
    left = [np.abs(columns @ own - c).sum() for own in (closer, y[used])]
    found = y.copy()
    found[used] = closer if left[0] < left[1] else y[used]
    return found


def radius_bound(H, h, duals) -> Fraction | None:
    """Exact bound of max|x_i| on {H x ≤ h} from multipliers of the directions e_1, −e_1, e_2, …; None: they give none.

    Each direction gives ±x_i ≤ a + b‖x‖_∞ with b its residual, so ‖x‖_∞ ≤ max a/(1 − max b) where max b < 1.
    """
    n = np.atleast_2d(H).shape[1]
    a = Fraction(0)
    b = Fraction(0)
    for k, y in enumerate(duals):
        e = np.zeros(n)
        e[k // 2] = 1.0 if k % 2 == 0 else -1.0
        if y is None:
            return None
        plain = dual_bound(e, H, h, y, 0)
        a = max(a, plain)
        b = max(b, dual_bound(e, H, h, y, 1) - plain)
    return a / (1 - b) if b < 1 else None


def polytope_radius(H, h) -> tuple[Fraction | None, list]:
    """(exact bound of max|x_i| on {H x ≤ h} or None, the multipliers it rests on)."""
    n = np.atleast_2d(H).shape[1]
    duals = [multipliers(s * np.eye(n)[i], H, h) for i in range(n) for s in (1.0, -1.0)]
    return radius_bound(H, h, duals), duals
