"""Matrices known to within a radius, many at once: every real matrix meant is within `rad` of `mid`, entry by entry.

    |fl(AB) − AB| ≤ γ |A||B|,  γ = (n + 2) 2⁻⁵²          for sums of n products in any order

Bounds that are sums and products of numbers ≥ 0 are made in plain floats and enlarged once by 1e-12 (`up`), far more than
their few hundred roundings can lose.

Sources: [Rump10] sections 2 and 10 (products, eigenvalues); Weinstein–Gershgorin for the norm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .interval import UNIT

ENLARGED = 1 + 1e-12
LEAST = 1e-290


def up(x):
    """A bound ≥ 0 from above whatever was rounded on the way."""
    return np.where(np.isnan(x), np.inf, x * ENLARGED + LEAST)


@dataclass(frozen=True, eq=False)
class Balls:
    """Matrices (…, m, n) and their radii."""

    mid: np.ndarray
    rad: np.ndarray

    @staticmethod
    def exact(mid) -> Balls:
        mid = np.asarray(mid, float)
        return Balls(mid, np.zeros_like(mid))

    def __matmul__(self, other: Balls) -> Balls:
        mid = self.mid @ other.mid
        a = np.abs(self.mid)
        b = np.abs(other.mid)
        γ = (self.mid.shape[-1] + 2) * UNIT
        rad = a @ other.rad + self.rad @ (b + other.rad) + γ * (a @ b)
        return Balls(mid, up(rad))

    @property
    def T(self) -> Balls:
        return Balls(np.swapaxes(self.mid, -1, -2), np.swapaxes(self.rad, -1, -2))

    @property
    def size(self):
        """max |entry|."""
        return up(np.abs(self.mid) + self.rad)

    def rows(self):
        """Bounds of the Euclidean norms of the rows."""
        return up(np.sqrt(np.sum(self.size**2, axis=-1)))

    def columns(self):
        """Bounds of the Euclidean norms of the columns."""
        return up(np.sqrt(np.sum(self.size**2, axis=-2)))


def above_identity(V: np.ndarray) -> np.ndarray:
    """Bounds of ‖VᵀV − 1‖ (row sums), (…)."""
    G = Balls.exact(V).T @ Balls.exact(V)
    off = less_identity(G)
    return up(off.size.sum(axis=-1).max(axis=-1))


def less_identity(M: Balls) -> Balls:
    """M − 1, of square matrices."""
    mid = M.mid - np.eye(M.mid.shape[-1])
    lost = UNIT * (np.abs(M.mid) + 1)
    return Balls(mid, up(M.rad + lost))


def frobenius(M: Balls) -> np.ndarray:
    """Bounds of the Frobenius norms."""
    squares = np.sum(M.size**2, axis=(-1, -2))
    return up(np.sqrt(squares))


def norm(M: Balls) -> np.ndarray:
    """Bounds of the spectral norms ‖M‖.

    G = MᵀM ≼ λ 1 whenever VᵀGV ≼ g 1 and ‖VᵀV − 1‖ ≤ η < 1, with λ = g/(1 − η); any V will do, g by row sums.
    """
    finite = np.isfinite(M.mid).all(axis=(-1, -2)) & np.isfinite(M.rad).all(axis=(-1, -2))
    safe = np.where(finite[..., None, None], M.mid, 0.0)
    centre = Balls.exact(safe)
    G = centre.T @ centre
    V = np.linalg.eigh((G.mid + np.swapaxes(G.mid, -1, -2)) / 2)[1]
    turned = Balls.exact(V).T @ G @ Balls.exact(V)
    g = turned.size.sum(axis=-1).max(axis=-1)
    η = above_identity(V)
    λ = up(g) / (1 - np.minimum(η, 0.5))
    spread = up(np.sqrt(np.sum(np.where(finite[..., None, None], M.rad, 0.0) ** 2, axis=(-1, -2))))
    bound = up(np.sqrt(up(λ)) + spread)
    return np.where(finite & (η < 0.5), bound, np.inf)


def inverse(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(X, η) with X nearly R⁻¹ and ‖XR − 1‖ ≤ η: |R⁻¹v| ≤ |Xv|/(1 − η); η ≥ 1 proves nothing."""
    with np.errstate(all="ignore"):
        try:
            X = np.linalg.inv(R)
        except np.linalg.LinAlgError:
            X = np.full_like(R, np.nan)
    product = Balls.exact(X) @ Balls.exact(R)
    η = frobenius(less_identity(product))
    return X, np.where(np.isfinite(η), η, np.inf)
