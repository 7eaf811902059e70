"""An inner estimate of the region of attraction of a linear plant whose linear controller saturates.

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

from workbench.contract.errors import InputError
from workbench.verification.data_margin import (
    NEUTRAL,
    around_in,
    borne,
    grown,
    largest_change,
    refused,
    sizes,
)
from workbench.verification.exact import Dyadic, definite
from workbench.verification.linear import EPS
from workbench.verification.lyapunov import coordinates, solve_sdp, too_many
from workbench.verification.stability import stability
from workbench.verification.verdict import Verdict

FAR = 100.0  # times what the limits leave untouched: a region is not made larger than that


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
        rows, P = D(self.K) - D(self.G), D(self.P)
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
        A, B, K, P = np.abs(self.A), np.abs(self.B), np.abs(self.K), np.abs(self.P)
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
        return bool((P > 0).any())

    def _largest(self, A, B, K) -> np.ndarray:
        """Entries of the form are at most these where |A|, |B| and |K| are at most what is given."""
        P, t, G = np.abs(self.P), np.diag(self.τ), np.abs(self.G)
        own = A + B @ K
        if self.T is None:
            corner, side, last = own.T @ P + P @ own, P @ B + G.T @ t, 2 * t
        else:
            corner, side, last = P + own.T @ P @ own, own.T @ P @ B + G.T @ t, 2 * t + B.T @ P @ B
        return np.block([[corner, side], [side.T, last]])

    def _form(self) -> Dyadic:
        """The form of the fall in (x, ψ) that must be ≻ 0, exactly."""
        D = Dyadic.of
        B, P, t, G = D(self.B), D(self.P), D(np.diag(self.τ)), D(self.G)
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


def attracted(A, B, K, u_max, T: float | None = None, shape=None, starts=()) -> Region | None:
    """The largest ellipsoid found that passed its check, or None.

    Largest: by the ball xᵀ shape x (I by default) it contains, or by the factor by which all of `starts` can be stretched; both up
    to FAR times what the limits leave untouched.
    """
    A, B, K = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, K))
    n, m = B.shape
    u_max = np.broadcast_to(np.asarray(u_max, float), (m,)).copy()
    if A.shape != (n, n) or K.shape != (m, n) or not (u_max > 0).all():
        raise InputError(
            f"saturated loop: A {A.shape}, B {B.shape}, K {K.shape}, u_max {u_max}",
            key="K",
            mend="A n×n, B n×m, K m×n with u = K x, u_max > 0",
        )
    if too_many(n):
        return None
    W = coordinates(A + B @ K, T)
    back = np.linalg.inv(W)
    touch = np.linalg.norm(
        K @ back / u_max[:, None], axis=1
    ).max()  # x so scaled that the limits touch the unit ball
    W, back = (W * touch, back / touch) if touch > 0 else (W, back)
    data = (
        W @ (A + B @ K) @ back,
        W @ B * u_max,
        K @ back / u_max[:, None],
        T,
        None
        if len(starts)
        else W @ np.linalg.inv(np.eye(n) if shape is None else np.asarray(shape, float)) @ W.T,
        [W @ np.asarray(x, float) for x in starts],
    )
    parts = best = _largest(*data)
    for share in (
        0.999,
        0.99,
        0.9,
        None,
    ):  # where rounding spoils the largest, a little less with room to spare
        found = None if parts is None else _checked(A, B, K, u_max, T, W, parts)
        if found or best is None or share is None:
            return found
        parts = _largest(*data, size=share * best[3])
    return None


def _checked(A, B, K, u_max, T, W, parts) -> Region | None:
    """The region of a solution (in the coordinates W x, limits 1) that passes its check, or None."""
    Q, Y, s, _ = parts
    for shrink in (
        1e-7,
        1e-5,
        1e-3,
    ):  # taken off the size, so that rounding leaves both conditions true
        with np.errstate(all="ignore"):
            try:
                P = W.T @ np.linalg.inv(Q) @ W * (1 + shrink)
                G = u_max[:, None] * (Y @ np.linalg.inv(Q) @ W)
            except np.linalg.LinAlgError:
                return None
            τ = 1 / (s * u_max**2)
        if np.isfinite(P).all() and np.isfinite(G).all() and np.isfinite(τ).all():
            found = Region(A, B, K, u_max, T, (P + P.T) / 2, G, τ * (1 + shrink))
            if found.check():
                return found
    return None


def _largest(a, b, k, T, metric, starts, size=None):
    """(Q, Y, s, size) of the semidefinite program for limits of 1; None: not solved.

    {xᵀQ⁻¹x ≤ 1} as large as it can be by the metric or the starts, or of that `size` and as far as possible from every edge.
    """
    import cvxpy as cp

    m, n = k.shape
    Q, Y, s, room = (
        cp.Variable((n, n), symmetric=True),
        cp.Variable((m, n)),
        cp.Variable(m),
        cp.Variable(),
    )
    S, grown = cp.diag(s), cp.Variable() if size is None else size
    if T is None:
        fall = cp.bmat([[-(a @ Q + Q @ a.T), b @ S - Y.T], [S @ b.T - Y, 2 * S]])
    else:
        fall = cp.bmat([[Q, -Y.T, Q @ a.T], [-Y, 2 * S, -S @ b.T], [a @ Q, -b @ S, Q]])
    limits = [
        (fall + fall.T) / 2
        >> 1e-7 * cp.trace(Q) / n * np.eye(fall.shape[0]) + room * np.eye(fall.shape[0]),
        Q >> room * np.eye(n),
        s >= 0,
        room >= 0,
        room <= (0 if size is None else 1),
    ]
    for i in range(m):
        row = cp.reshape(k[i] @ Q - Y[i], (1, n), order="C")
        limits.append(cp.bmat([[np.ones((1, 1)), row], [row.T, Q]]) >> 1e-2 * room * np.eye(n + 1))
    if metric is not None:
        metric = (metric + metric.T) / 2 / np.linalg.eigvalsh(metric)[-1]
        limits += [Q >> grown * metric, *([grown <= FAR**2] if size is None else [])]
    else:
        far = max(np.linalg.norm(x) for x in starts)
        for x in starts:
            row = cp.reshape(grown * (x[None, :] / far), (1, n), order="C")
            limits.append(cp.bmat([[np.ones((1, 1)), row], [row.T, Q]]) >> 0)
        limits += [grown <= FAR] if size is None else []
    solved = (
        solve_sdp(cp.Problem(cp.Maximize(grown if size is None else room), limits))
        and Q.value is not None
    )
    return (
        (Q.value, Y.value, s.value, float(grown.value) if size is None else size)
        if solved
        else None
    )


def saturated_region(
    A, B, K, u_max, T: float | None = None, shape=None, inside=(), what: str = "the loop"
) -> Verdict:
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
            return Verdict(
                "saturated-region",
                claim,
                False,
                "numerical",
                s.spectrum.margin,
                "1/s" if T is None else "1",
                worst=f"unstable without saturation: {s.why}",
                source="eigenvalues",
            )
        return Verdict(
            "saturated-region",
            claim,
            None,
            worst=too_many(len(np.atleast_2d(A))) or "no region found",
            source=source,
        )
    out = [x for x in inside if not region.holds(x)]
    axes = 1 / np.sqrt(np.linalg.eigvalsh(region.P))
    data = {"P": region.P.tolist()}
    if out:
        return Verdict(
            "saturated-region",
            claim,
            None,
            None,
            float(axes.min()),
            "1",
            worst=f"not inside: {[float(v) for v in out[0]]}",
            source=source,
            data=data,
        )
    change = largest_change(region.bears)
    proven = Verdict(
        "saturated-region",
        claim,
        True,
        "proof",
        float(axes.min()),
        "1",
        worst=f"half axes {axes.min():.4g} to {axes.max():.4g}; {borne(change)}",
        source=source,
        data={**data, "change": change},
    )
    return proven if change >= NEUTRAL else refused(proven)
