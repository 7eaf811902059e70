"""Matrices known to within a radius, rounded outwards: midpoint ± radius, entry by entry.

Every operation adds its own rounding error to the radius, so the result holds every exact result. Definiteness is
decided by a Cholesky factorisation from which more than its own rounding error was taken beforehand.
Sources: [Rump06] (Cholesky), [Moore09] (outward rounding).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.verification.linear.stability import positive_definite
from workbench.verification.linear.systems import EPS
from workbench.verification.rigorous.exact import Dyadic

TINY = 1e-290  # covers everything lost to underflow in a product


@final
@dataclass(frozen=True, eq=False)
class Ball:
    """All matrices within `rad` (entry by entry) of `mid`."""

    mid: np.ndarray
    rad: np.ndarray

    @staticmethod
    def of(M, rad=0.0) -> Ball:
        """The stored matrix, ± rad."""
        if isinstance(M, Ball):
            return M
        M = np.atleast_2d(np.asarray(M, dtype=float))
        return Ball(M, np.broadcast_to(np.abs(np.asarray(rad, dtype=float)), M.shape).copy())

    @staticmethod
    def between(low, high) -> Ball:
        """The ball that holds every matrix between the two bounds."""
        low = np.asarray(low, float)
        high = np.asarray(high, float)
        mid = low + (high - low) / 2
        return Ball(mid, np.nextafter(np.maximum(high - mid, mid - low), np.inf))

    @property
    def T(self) -> Ball:
        return Ball(self.mid.T, self.rad.T)

    @property
    def size(self) -> np.ndarray:
        """Upper bound of |entries|."""
        return up(np.abs(self.mid) + self.rad)

    def __matmul__(self, other) -> Ball:
        other = Ball.of(other)
        k = self.mid.shape[1]
        a = np.abs(self.mid)
        b = np.abs(other.mid)
        # What is not finite stays so, and is refused where it is judged.
        with np.errstate(all="ignore"):
            own = (k + 2) * EPS * (a @ b) + TINY
            return Ball(
                self.mid @ other.mid, up(a @ other.rad + self.rad @ (b + other.rad) + own, k)
            )

    def __rmatmul__(self, other) -> Ball:
        return Ball.of(other) @ self

    def __add__(self, other) -> Ball:
        other = Ball.of(other)
        mid = self.mid + other.mid
        return Ball(mid, up(self.rad + other.rad + EPS * np.abs(mid)))

    __radd__ = __add__

    def __sub__(self, other) -> Ball:
        other = Ball.of(other)
        return self + Ball(-other.mid, other.rad)

    def scaled(self, low: float, high: float | None = None) -> Ball:
        """Times any number between low and high."""
        high = low if high is None else high
        s = low + (high - low) / 2
        r = 0.0 if high == low else float(up(np.float64((high - low) / 2)))
        mid = self.mid * s
        return Ball(
            mid, up(self.rad * (abs(s) + r) + np.abs(self.mid) * r + EPS * np.abs(mid) + TINY)
        )

    def part(self, n: int) -> Ball:
        """The block of the first n rows and the columns from n on."""
        return Ball(self.mid[:n, n:], self.rad[:n, n:])

    def holds(self, M) -> bool:
        """Whether the stored matrix is inside, exactly."""
        inside = [
            [abs(v) <= r for v, r in zip(row, bound)]
            for row, bound in zip(
                (Dyadic.of(M) - self.mid).fractions(), Dyadic.of(self.rad).fractions()
            )
        ]
        return all(all(row) for row in inside)


Ball.__array_ufunc__ = None


def blocks(rows) -> Ball:
    """Block matrix of balls."""
    return Ball(
        np.block([[b.mid for b in row] for row in rows]),
        np.block([[b.rad for b in row] for row in rows]),
    )


def up(x: np.ndarray, k: int = 0) -> np.ndarray:
    """A sum of nonnegative products of length k, enlarged by more than its rounding."""
    return x * (1 + (2 * k + 8) * EPS)


def definite_ball(M: Ball) -> bool:
    """True only if every matrix in the ball has a symmetric part ≻ 0."""
    d = np.diag(M.mid)
    if not (np.isfinite(M.mid).all() and np.isfinite(M.rad).all() and (d > 0).all()):
        return False
    s = 2.0 ** -np.round(np.log2(d) / 2)
    scale = s * s[:, None]
    return positive_definite(M.mid * scale, up((M.rad + M.rad.T) / 2 * scale, 2))


def exponential(X: Ball, terms: int = 12) -> Ball:
    """e^X for every X in the ball: balanced, scaled by 2^−s to norm ≤ ¼, Taylor with its remainder, squared s times."""
    from scipy.linalg import matrix_balance

    X = Ball.of(X)
    n = len(X.mid)
    if not (np.isfinite(X.mid).all() and np.isfinite(X.rad).all()):
        return Ball(np.zeros((n, n)), np.full((n, n), np.inf))
    # Powers of two: scaling by them is exact.
    _, (d, _) = matrix_balance(X.mid, permute=False, separate=True)
    swap = d[None, :] / d[:, None]
    mid = X.mid * swap
    rad = X.rad * swap
    norm = float(up(np.abs(mid) + rad, n).sum(axis=1).max(initial=0.0)) * (1 + n * EPS)
    s = max(0, int(np.ceil(np.log2(norm))) + 2) if norm > 0 else 0
    Y = Ball(mid / 2.0**s, rad / 2.0**s)
    norm = norm / 2.0**s
    one = np.eye(n)
    E = Ball.of(one)
    for k in range(terms, 0, -1):
        E = Ball.of(one) + (Y @ E).scaled(*_inverse(k))
    rest = norm ** (terms + 1)
    for k in range(2, terms + 2):
        rest /= k
    E = Ball(E.mid, E.rad + 2 * rest + TINY)
    for _ in range(s):
        E = E @ E
    return Ball(E.mid / swap, E.rad / swap)


def _inverse(k: int) -> tuple[float, float]:
    """Floats on both sides of 1/k."""
    return (1 / k, 1 / k) if k & (k - 1) == 0 else (np.nextafter(1 / k, 0), np.nextafter(1 / k, 1))
