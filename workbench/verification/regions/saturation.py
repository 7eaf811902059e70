"""An inner estimate of the region of attraction of a linear plant under a linear controller that saturates.

    ẋ = A x + B sat(K x)  or  x⁺ = A x + B sat(K x),   |sat_i| ≤ u_max,i

With the dead zone ψ = Kx − sat(Kx): wherever |(K − G)_i x| ≤ u_max,i, ψ_i (ψ_i − (Gx)_i) ≤ 0. So xᵀPx falls inside
{xᵀPx ≤ 1} if, for some G and τ > 0, the form of V̇ (ΔV) − 2ψᵀτ(ψ − Gx) is negative definite, and the ellipsoid lies
between the planes: [u_max,i², (K − G)_i; ·, P] ⪰ 0. Found as a semidefinite program, decided exactly.
Sources: [HuLin01], [GomesTarbouriech05].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.verification.linear.data_margin import around_in, grown, sizes
from workbench.verification.linear.systems import EPS
from workbench.verification.rigorous.exact import Dyadic, definite


@final
@dataclass(frozen=True, eq=False)
class Region:
    """{xᵀPx ≤ 1} attracted to the origin; it proves what it says only after `check`."""

    A: np.ndarray
    B: np.ndarray
    K: np.ndarray
    u_max: np.ndarray
    T: float | None
    P: np.ndarray
    G: np.ndarray
    τ: np.ndarray

    def check(self) -> bool:
        """The exact test."""
        D = Dyadic.of
        if (
            not np.array_equal(self.P, self.P.T)
            or not (self.τ > 0).all()
            or not (self.u_max > 0).all()
        ):
            return False
        if not (definite(self.P) and definite(self._form())):
            return False
        rows = D(self.K) - D(self.G)
        P = D(self.P)
        planes = [
            (Dyadic(rows.Z[i : i + 1], rows.e), D([[u]]) @ D([[u]]))
            for i, u in enumerate(self.u_max)
        ]
        return all(
            definite(Dyadic.block([[square, row], [row.T, P]]), strict=False)
            for row, square in planes
        )

    def bears(self, change: float) -> bool:
        """Whether both inequalities hold after a relative change of A, B and K by so much, see `data_margin`."""
        A = np.abs(self.A)
        B = np.abs(self.B)
        K = np.abs(self.K)
        n, m = B.shape
        δ = change * sizes(self.A), change * B, change * K
        X = np.eye(n + m)
        X[:n, :n] = root = np.linalg.inv(np.linalg.cholesky(self.P).T)
        if not around_in(self._form(), grown(self._largest, (A, B, K), δ), X):
            return False
        for i, square in enumerate(self.u_max**2):
            spread = np.zeros((n + 1, n + 1))
            spread[0, 1:] = spread[1:, 0] = change * K[i]
            row = self.K[[i]] - self.G[[i]]
            own = np.block([[np.array([[square]]), row], [row.T, self.P]])
            spread += 4 * EPS * np.abs(own)  # of the difference and the square
            whole = np.eye(n + 1)
            whole[1:, 1:] = root
            if not around_in(own, spread, whole):
                return False
        return True

    def _largest(self, A, B, K) -> np.ndarray:
        """Entries of the form are at most these where |A|, |B| and |K| are at most what is given."""
        P = np.abs(self.P)
        t = np.diag(self.τ)
        G = np.abs(self.G)
        own = A + B @ K
        if self.T is None:
            corner = own.T @ P + P @ own
            side = P @ B + G.T @ t
            last = 2 * t
        else:
            corner = P + own.T @ P @ own
            side = own.T @ P @ B + G.T @ t
            last = 2 * t + B.T @ P @ B
        return np.block([[corner, side], [side.T, last]])

    def _form(self) -> Dyadic:
        """The form of the fall in (x, ψ) that must be ≻ 0, exactly."""
        D = Dyadic.of
        B = D(self.B)
        P = D(self.P)
        t = D(np.diag(self.τ))
        G = D(self.G)
        own = D(self.A) + B @ self.K
        if self.T is None:
            form = [[-(own.T @ P + P @ own), P @ B - G.T @ t], [B.T @ P - t @ G, t.times(2.0)]]
        else:
            form = [
                [P - own.T @ P @ own, own.T @ P @ B - G.T @ t],
                [B.T @ P @ own - t @ G, t.times(2.0) - B.T @ P @ B],
            ]
        return Dyadic.block(form)

    def holds(self, x) -> bool:
        """Whether the stored state is inside, exactly."""
        x = Dyadic.of(np.asarray(x, float)[:, None])
        return (x.T @ self.P @ x).fractions()[0][0] <= 1

    def reach(self, x) -> float:
        """How far x can be stretched and stay inside: a factor for which `holds` is certain."""
        size = float(np.asarray(x, float) @ self.P @ np.asarray(x, float))
        factor = 1 / np.sqrt(size) if size > 0 else np.inf
        while np.isfinite(factor) and factor > 0 and not self.holds(factor * np.asarray(x, float)):
            factor *= 1 - 1e-9
        return factor

    def document(self, inside=()) -> dict:
        """Plain data for `recheck`: numbers as hexadecimal floats. See recheck.py."""
        hexed = lambda M: [[float(v).hex() for v in row] for row in np.atleast_2d(M)]
        return {
            "format": "saturation-certificate-1",
            "time": "continuous" if self.T is None else "sampled",
            "T": None if self.T is None else float(self.T).hex(),
            "A": hexed(self.A),
            "B": hexed(self.B),
            "K": hexed(self.K),
            "limit": hexed(self.u_max),
            "P": hexed(self.P),
            "G": hexed(self.G),
            "tau": hexed(self.τ),
            "inside": [hexed(x)[0] for x in inside],
        }
