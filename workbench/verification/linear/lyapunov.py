"""Quadratic certificates P ≻ 0, AᵀP + PA ≺ 0 (sampled: AᵀPA − P ≺ 0): found in floats, decided in exact arithmetic.

A certificate says nothing beyond the matrices it was checked on: the stored floats ("proof for the stored matrix"), or,
with a radius, every matrix within it. For the loop itself the matrix exponential is enclosed (`balls.exponential`,
`robust`), or the slack of the certificate must exceed what the difference δ = ‖ΔA‖ can spend:

    (A + Δ)ᵀP(A + Δ) − P ⪯ −εI + (2δ‖A‖‖P‖ + δ²‖P‖) I,     AᵀP + PA: −εI + 2δ‖P‖ I
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from workbench.verification.linear.data_margin import NEUTRAL, definite_around, sizes
from workbench.verification.rigorous.balls import Ball, definite_ball, up
from workbench.verification.rigorous.exact import Dyadic, definite, fall, lyapunov_exactly

EXACT_UP_TO = 40  # states; beyond, Cholesky with outward rounding decides
SDP_STATES = 24  # beyond, a semidefinite program takes minutes (its time grows with the sixth power): none is posed
NEGLIGIBLE = 1e-40  # share of a matrix's largest entry
ROUNDS = 18  # halvings in the search for the largest rate


@final
@dataclass(frozen=True, eq=False)
class Certificate:
    """V = xᵀPx along ẋ = A x (T None) or x⁺ = A x, for every A within `radius` of each of `matrices`.

    rate: V̇ ≤ −2 rate V (1/s), or V⁺ ≤ (1 − rate)² V a sample. It proves what it says only after `check`.
    """

    matrices: tuple[np.ndarray, ...]
    P: np.ndarray
    T: float | None = None
    rate: float = 0.0
    radius: np.ndarray | None = None

    def check(self) -> bool:
        """Exact (or, with a radius or many states, outward-rounded) test of both inequalities for all matrices."""
        if self.radius is None and len(self.P) <= EXACT_UP_TO:
            return all(lyapunov_exactly(A, self.P, self.T, self.rate) for A in self.matrices)
        rad = 0.0 if self.radius is None else self.radius
        return all(falls_in_ball(Ball.of(A, rad), self.P, self.T, self.rate) for A in self.matrices)

    def bears(self, change: float) -> bool:
        """Whether V still falls after a relative change of the data by so much, see `data_margin`."""
        own = 0.0 if self.radius is None else self.radius
        radii = [up(own + change * sizes(A)) for A in self.matrices]
        if all(falls_in_ball(Ball.of(A, r), self.P, self.T) for A, r in zip(self.matrices, radii)):
            return True
        if change > NEUTRAL or self.radius is not None or len(self.P) > EXACT_UP_TO:
            return False
        return all(falls_around(A, r, self.P, self.T) for A, r in zip(self.matrices, radii))

    def document(self) -> dict:
        """Plain data for `recheck`: numbers as hexadecimal floats, so that nothing is lost. See recheck.py."""
        hexed = lambda M: [[float(v).hex() for v in row] for row in np.atleast_2d(M)]
        return {
            "format": "quadratic-certificate-1",
            "time": "continuous" if self.T is None else "sampled",
            "T": None if self.T is None else float(self.T).hex(),
            "rate": float(self.rate).hex(),
            "matrices": [hexed(A) for A in self.matrices],
            "P": hexed(self.P),
            "radius": None
            if self.radius is None
            else hexed(np.broadcast_to(self.radius, self.P.shape)),
            "X": None
            if self.radius is None
            else hexed(np.linalg.inv(np.linalg.cholesky(self.P).T)),
        }

    def save(self, path) -> None:
        """Write the document as JSON."""
        Path(path).write_text(json.dumps(self.document(), indent=1), encoding="utf-8")


def falls_in_ball(A: Ball, P: np.ndarray, T: float | None = None, rate: float = 0.0) -> bool:
    """P ≻ 0 and the fall of xᵀPx at `rate` for every matrix in the ball, outward-rounded.

    Looked at in coordinates x = X z in which XᵀPX is close to I, so that a radius weighs alike in all directions. X may
    be anything invertible (XᵀPX ≻ 0 says so): both conditions are then the same for z as for x.
    """
    if (
        not (0 <= rate < (np.inf if T is None else 1))
        or not np.array_equal(P, P.T)
        or not np.isfinite(A.mid).all()
    ):
        return False
    try:
        X = np.linalg.inv(np.linalg.cholesky(P).T)
    except np.linalg.LinAlgError:
        return False
    AX = A @ X
    PX = Ball.of(P) @ X
    own = Ball.of(X.T) @ PX
    if not definite_ball(own):
        return False
    if T is None:
        half = PX.T @ AX
        return definite_ball(Ball.of(0 * P) - half - half.T - own.scaled(2 * rate))
    # Below 1 − rate, and its square below (1 − rate)², whatever was rounded.
    ρ = np.nextafter(1 - rate, 0)
    return definite_ball(own.scaled(float(np.nextafter(ρ * ρ, 0))) - AX.T @ (Ball.of(P) @ AX))


def falls_around(A, radius: np.ndarray, P: np.ndarray, T: float | None = None) -> bool:
    """Whether xᵀPx falls, at any rate above 0, for every matrix within `radius` of A. Only what the radius can do is
    enclosed, so this test is slower than `falls_in_ball` and sharper for stiff loops.
    """
    try:
        X = np.linalg.inv(np.linalg.cholesky(P).T)
    except np.linalg.LinAlgError:
        return False
    size = np.abs(X)
    k = 4 * len(P)
    PX = (Dyadic.of(P) @ X).floats()
    if T is None:
        spread = 2 * np.abs(PX).T @ radius @ size
    else:
        PAX = (Dyadic.of(P) @ A @ X).floats()
        spread = 2 * np.abs(PAX).T @ radius @ size + size.T @ radius.T @ np.abs(P) @ radius @ size
    return definite(P) and definite_around(Dyadic.of(X).T @ fall(A, P, T) @ X, up(spread, k))


def lyapunov_matrix(A, T: float | None = None, rate: float = 0.0) -> np.ndarray | None:
    """P of the Lyapunov equation of A with the rate taken off, right side I in balanced coordinates; None: none found."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    A = np.asarray(A, float)
    d = balancing(A)
    A = A * d / d[:, None]
    n = len(A)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            # a nearly singular equation gives a P that fails its check.
            warnings.simplefilter("ignore")
            if T is None:
                P = solve_continuous_lyapunov((A + rate * np.eye(n)).T, -np.eye(n))
            else:
                P = solve_discrete_lyapunov(
                    A.T / (1 - rate), np.eye(n), method="direct" if n <= 6 else "bilinear"
                )
    except (np.linalg.LinAlgError, ValueError):
        return None
    P = (P + P.T) / 2 / d / d[:, None]
    return P if np.isfinite(P).all() else None


def common_matrix(matrices, T: float | None = None, rate: float = 0.0) -> np.ndarray | None:
    """A P common to all matrices by a linear matrix inequality (Clarabel), or None; to be checked, never trusted.

    Searched in coordinates where the mean matrix has a Lyapunov matrix I, with P ⪰ I and the largest margin.
    """
    import cvxpy as cp

    matrices = [np.asarray(A, float) for A in matrices]
    n = len(matrices[0])
    if n > SDP_STATES:
        return None
    W = coordinates(sum(matrices) / len(matrices), T)
    back = np.linalg.inv(W)
    P = cp.Variable((n, n), symmetric=True)
    margin = cp.Variable()
    limits = [P >> np.eye(n), cp.trace(P) <= 1e6 * n, margin <= 1]
    for A in (W @ A @ back for A in matrices):
        down = -(A.T @ P + P @ A + 2 * rate * P) if T is None else (1 - rate) ** 2 * P - A.T @ P @ A
        limits.append((down + down.T) / 2 >> margin * np.eye(n))
    if (
        solve_sdp(cp.Problem(cp.Maximize(margin - 1e-6 * cp.trace(P) / n), limits))
        and P.value is not None
    ):
        with np.errstate(over="ignore", invalid="ignore"):
            found = W.T @ P.value @ W
        return (found + found.T) / 2 if np.isfinite(found).all() else None
    return None


def coordinates(A, T) -> np.ndarray:
    """W with z = W x such that |z|² falls along A where A is stable; rows and columns balanced otherwise."""
    P = lyapunov_matrix(A, T)
    if P is not None:
        w, V = np.linalg.eigh(P)
        if w[0] > 1e-13 * w[-1] > 0:
            return (V * np.sqrt(w)).T
    return np.diag(1 / balancing(A))


def balancing(A: np.ndarray) -> np.ndarray:
    """Powers of two d, such that rows and columns of D⁻¹AD are of like size; entries that are NEGLIGIBLE do not count.

    Of a mode that is much faster than a sample the stored matrix has e⁻⁷⁰⁰: to scale by that would leave the range of floats.
    """
    from scipy.linalg import matrix_balance

    size = np.abs(A)
    seen = np.where(size > NEGLIGIBLE * size.max(initial=0.0), A, 0.0)
    _, (d, _) = matrix_balance(seen, permute=False, separate=True)
    return d


def too_many(n: int) -> str:
    """Why no semidefinite program is posed for n states; "" where one is."""
    if n <= SDP_STATES:
        return ""
    return f"{n} states (a delay counts a sample as one) are more than the {SDP_STATES} for which this is sought"


def solve_sdp(problem) -> bool:
    """Solve; True when a solver returned numbers. What they are worth is for the exact check to say."""
    import cvxpy as cp

    with warnings.catch_warnings():
        # "inaccurate" is no matter here: nothing rests on the solver's word.
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=cp.CLARABEL)
        except (cp.error.SolverError, ValueError, ArithmeticError):
            return False
    return problem.status in ("optimal", "optimal_inaccurate")


def certify(A, T: float | None = None, radius=None) -> Certificate | None:
    """The certificate with the largest rate that passes its check (bisection), or None."""
    A = np.atleast_2d(np.asarray(A, float))
    radius = (
        None
        if radius is None
        else np.broadcast_to(np.abs(np.asarray(radius, float)), A.shape).copy()
    )
    λ = np.linalg.eigvals(A)
    top = float(-λ.real.max() if T is None else 1 - np.abs(λ).max())
    if not top > 0:
        return None

    def attempt(rate):
        P = lyapunov_matrix(A, T, rate * (1 - 1e-9))
        found = None if P is None else Certificate((A,), P, T, float(rate), radius)
        return found if found is not None and found.check() else None

    best = attempt(0.0)
    if best is None:
        P = common_matrix([A], T)
        best = Certificate((A,), P, T, 0.0, radius) if P is not None else None
        return best if best is not None and best.check() else None
    low = 0.0
    high = top
    for _ in range(ROUNDS if len(A) <= 12 else 7):
        middle = (low + high) / 2
        found = attempt(middle)
        low, high, best = (middle, high, found) if found else (low, middle, best)
    return best
