"""An inner estimate of the region of attraction of a linear plant whose linear controller saturates.

    ẋ = A x + B sat(K x)  or  x⁺ = A x + B sat(K x),   |sat_i| ≤ u_max,i

With the dead zone ψ = Kx − sat(Kx): wherever |(K − G)_i x| ≤ u_max,i, ψ_i (ψ_i − (Gx)_i) ≤ 0. So xᵀPx falls inside
{xᵀPx ≤ 1} if, for some G and τ > 0, the form of V̇ (ΔV) − 2ψᵀτ(ψ − Gx) is negative definite, and the ellipsoid lies
between the planes: [u_max,i², (K − G)_i; ·, P] ⪰ 0. Found as a semidefinite program, decided exactly.
Source: Hu and Lin, Control Systems with Actuator Saturation (2001); Gomes da Silva and Tarbouriech (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.errors import InputError
from workbench.verdict import Verdict
from workbench.verification.exact import Dyadic, definite
from workbench.verification.lyapunov import coordinates, solve_sdp
from workbench.verification.stability import stability


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
        if not np.array_equal(self.P, self.P.T) or not (self.τ > 0).all() or not (self.u_max > 0).all():
            return False
        B, P, t, G = D(self.B), D(self.P), D(np.diag(self.τ)), D(self.G)
        own = D(self.A) + B @ self.K
        if self.T is None:
            form = [[-(own.T @ P + P @ own), P @ B - G.T @ t], [B.T @ P - t @ G, t.times(2.0)]]
        else:
            form = [[P - own.T @ P @ own, own.T @ P @ B - G.T @ t], [B.T @ P @ own - t @ G, t.times(2.0) - B.T @ P @ B]]
        if not (definite(self.P) and definite(Dyadic.block(form))):
            return False
        rows = D(self.K) - G
        planes = [(Dyadic(rows.Z[i:i + 1], rows.e), D([[u]]) @ D([[u]])) for i, u in enumerate(self.u_max)]
        return all(definite(Dyadic.block([[square, row], [row.T, P]]), strict=False) for row, square in planes)

    def holds(self, x) -> bool:
        """Whether the stored state is inside, exactly."""
        x = Dyadic.of(np.asarray(x, float)[:, None])
        return (x.T @ self.P @ x).fractions()[0][0] <= 1


def attracted(A, B, K, u_max, T: float | None = None, shape=None) -> Region | None:
    """The largest ellipsoid found (in the metric `shape`, I by default) that passed its check, or None."""
    import cvxpy as cp

    A, B, K = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, K))
    n, m = B.shape
    u_max = np.broadcast_to(np.asarray(u_max, float), (m,)).copy()
    if A.shape != (n, n) or K.shape != (m, n) or not (u_max > 0).all():
        raise InputError(f"saturated loop: A {A.shape}, B {B.shape}, K {K.shape}, u_max {u_max}", key="K",
                         mend="A n×n, B n×m, K m×n with u = K x, u_max > 0")
    W = coordinates(A + B @ K, T)
    back = np.linalg.inv(W)
    a, b, k = W @ (A + B @ K) @ back, W @ B, K @ back
    Q, Y, s = cp.Variable((n, n), symmetric=True), cp.Variable((m, n)), cp.Variable(m)
    S = cp.diag(s)
    if T is None:
        fall = cp.bmat([[-(a @ Q + Q @ a.T), b @ S - Y.T], [S @ b.T - Y, 2 * S]])
    else:
        fall = cp.bmat([[Q, -Y.T, Q @ a.T], [-Y, 2 * S, -S @ b.T], [a @ Q, -b @ S, Q]])
    limits = [(fall + fall.T) / 2 >> 1e-7 * cp.trace(Q) / n * np.eye(fall.shape[0]), Q >> 0, s >= 0]
    for i in range(m):
        row = cp.reshape(k[i] @ Q - Y[i], (1, n), order="C")
        limits.append(cp.bmat([[np.array([[u_max[i] ** 2]]), row], [row.T, Q]]) >> 0)
    shape = np.eye(n) if shape is None else np.asarray(shape, float)
    metric = W @ np.linalg.inv(shape) @ W.T
    grown = cp.Variable()
    if not solve_sdp(cp.Problem(cp.Maximize(grown), [*limits, Q >> grown * (metric + metric.T) / 2])) or Q.value is None:
        return None
    for shrink in (1e-7, 1e-5, 1e-3):  # taken off the size, so that rounding leaves both conditions true
        try:
            P = W.T @ np.linalg.inv(Q.value) @ W * (1 + shrink)
            G = Y.value @ np.linalg.inv(Q.value) @ W
            τ = 1 / s.value
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return None
        if np.isfinite(P).all() and np.isfinite(G).all() and np.isfinite(τ).all():
            found = Region(A, B, K, u_max, T, (P + P.T) / 2, G, τ * (1 + shrink))
            if found.check():
                return found
    return None


def saturated_region(A, B, K, u_max, T: float | None = None, shape=None, inside=(), what: str = "the loop") -> Verdict:
    """Verdict on "every start with xᵀPx ≤ 1 goes to the origin although u = K x saturates", P in data.

    inside: states that must be in the region for the claim to hold. `proof` for the stored matrices; violated
    (`numerical`) when even the unsaturated loop is unstable; undecided otherwise.
    """
    region = attracted(A, B, K, u_max, T, shape)
    claim = f"{what}, |u| ≤ {np.array2string(np.atleast_1d(u_max), precision=4)}: every start in the ellipsoid is attracted"
    source = "saturation as a sector inside the ellipsoid, checked by exact LDLᵀ"
    if region is None:
        s = stability(np.atleast_2d(A) + np.atleast_2d(B) @ np.atleast_2d(K), T)
        if s.holds is False:
            return Verdict("saturated-region", claim, False, "numerical", s.spectrum.margin, "1/s" if T is None else "1",
                           worst=f"unstable without saturation: {s.why}", source="eigenvalues")
        return Verdict("saturated-region", claim, None, worst="no region found", source=source)
    out = [x for x in inside if not region.holds(x)]
    axes = 1 / np.sqrt(np.linalg.eigvalsh(region.P))
    return Verdict("saturated-region", claim, None if out else True, None if out else "proof", float(axes.min()), "1",
                   worst=f"not inside: {[float(v) for v in out[0]]}" if out else
                   f"half axes {axes.min():.4g} to {axes.max():.4g}", source=source, data={"P": region.P.tolist()})
