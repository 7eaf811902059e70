"""Quadratic certificates P ≻ 0, AᵀP + PA ≺ 0 (sampled: AᵀPA − P ≺ 0): found in floats, decided in exact arithmetic.

A certificate says nothing beyond the matrices it was checked on: the stored floats ("proof for the stored matrix"), or,
with a radius, every matrix within it. For the loop itself the matrix exponential is enclosed (`balls.exponential`,
`robust`), or the slack of the certificate must exceed what the difference δ = ‖ΔA‖ can spend:

    (A + Δ)ᵀP(A + Δ) − P ⪯ −εI + (2δ‖A‖‖P‖ + δ²‖P‖) I,     AᵀP + PA: −εI + 2δ‖P‖ I
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.balls import Ball, definite_ball, up
from workbench.verification.data_margin import (
    NEUTRAL,
    borne,
    definite_around,
    largest_change,
    sizes,
)
from workbench.verification.exact import Dyadic, definite, fall, lyapunov_exactly
from workbench.verification.stability import stability
from workbench.verification.verdict import Verdict

EXACT_UP_TO = 40  # states; beyond, Cholesky with outward rounding decides
SDP_STATES = 24  # beyond, a semidefinite program takes minutes (its time grows with the sixth power): none is posed
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
    AX, PX = A @ X, Ball.of(P) @ X
    own = Ball.of(X.T) @ PX
    if not definite_ball(own):
        return False
    if T is None:
        half = PX.T @ AX
        return definite_ball(Ball.of(0 * P) - half - half.T - own.scaled(2 * rate))
    ρ = np.nextafter(
        1 - rate, 0
    )  # below 1 − rate, and its square below (1 − rate)², whatever was rounded
    return definite_ball(own.scaled(float(np.nextafter(ρ * ρ, 0))) - AX.T @ (Ball.of(P) @ AX))


def falls_around(A, radius: np.ndarray, P: np.ndarray, T: float | None = None) -> bool:
    """The same at rate 0 without rounding but in what the radius can do: slower, and sharper for stiff loops."""
    try:
        X = np.linalg.inv(np.linalg.cholesky(P).T)
    except np.linalg.LinAlgError:
        return False
    size, k = np.abs(X), 4 * len(P)
    PX = (Dyadic.of(P) @ X).floats()
    if T is None:
        spread = 2 * np.abs(PX).T @ radius @ size
    else:
        PAX = (Dyadic.of(P) @ A @ X).floats()
        spread = 2 * np.abs(PAX).T @ radius @ size + size.T @ radius.T @ np.abs(P) @ radius @ size
    return definite(P) and definite_around(Dyadic.of(X).T @ fall(A, P, T) @ X, up(spread, k))


def lyapunov_matrix(A, T: float | None = None, rate: float = 0.0) -> np.ndarray | None:
    """P of the Lyapunov equation of A with the rate taken off, right side I in balanced coordinates; None: none found."""
    from scipy.linalg import matrix_balance, solve_continuous_lyapunov, solve_discrete_lyapunov

    A, (d, _) = matrix_balance(np.asarray(A, float), permute=False, separate=True)
    n = len(A)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a nearly singular equation gives a P that fails its check
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
    P, margin = cp.Variable((n, n), symmetric=True), cp.Variable()
    limits = [P >> np.eye(n), cp.trace(P) <= 1e6 * n, margin <= 1]
    for A in (W @ A @ back for A in matrices):
        down = -(A.T @ P + P @ A + 2 * rate * P) if T is None else (1 - rate) ** 2 * P - A.T @ P @ A
        limits.append((down + down.T) / 2 >> margin * np.eye(n))
    if (
        solve_sdp(cp.Problem(cp.Maximize(margin - 1e-6 * cp.trace(P) / n), limits))
        and P.value is not None
    ):
        found = W.T @ P.value @ W
        return (found + found.T) / 2
    return None


def coordinates(A, T) -> np.ndarray:
    """W with z = W x such that |z|² falls along A where A is stable; rows and columns balanced otherwise."""
    from scipy.linalg import matrix_balance

    P = lyapunov_matrix(A, T)
    if P is not None:
        w, V = np.linalg.eigh(P)
        if w[0] > 1e-13 * w[-1] > 0:
            return (V * np.sqrt(w)).T
    _, (d, _) = matrix_balance(A, permute=False, separate=True)
    return np.diag(1 / d)


def too_many(n: int) -> str:
    """Why no semidefinite program is posed for n states; "" where one is."""
    if n <= SDP_STATES:
        return ""
    return f"{n} states (a delay counts a sample as one) are more than the {SDP_STATES} for which this is sought"


def solve_sdp(problem) -> bool:
    """Solve; True when a solver returned numbers. What they are worth is for the exact check to say."""
    import cvxpy as cp

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # "inaccurate" is no matter here: nothing rests on the solver's word
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
    low, high = 0.0, top
    for _ in range(ROUNDS if len(A) <= 12 else 7):
        middle = (low + high) / 2
        found = attempt(middle)
        low, high, best = (middle, high, found) if found else (low, middle, best)
    return best


def quadratic_certificate(
    A, T: float | None = None, what: str = "x⁺ = A x", radius=None, P: np.ndarray | None = None
) -> Verdict:
    """Verdict on "`what` is exponentially stable": `proof` for the stored matrix, or for all within `radius` of it.

    P given: that matrix alone is judged. holds: checked exactly, with the decay rate found by bisection (data["rate"],
    1/s, or 1 − ρ a sample) and the certificate for export (data["certificate"]); the margin is the relative change of the
    data that stays proven. violated: an eigenvalue outside, confirmed (`numerical`). Otherwise undecided: a certificate
    that the last digits of the data break says nothing, and that none was found proves nothing.
    """
    A = np.atleast_2d(np.asarray(A, float))
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.isfinite(A).all():
        raise InputError(
            f"a quadratic certificate needs a square matrix of numbers, not {A.shape}",
            key="A",
            mend="give the state matrix of the closed loop",
        )
    given = (
        None
        if P is None
        else Certificate((A,), np.atleast_2d(np.asarray(P, float)), T, 0.0, radius)
    )
    found = certify(A, T, radius) if P is None else (given if given.check() else None)
    scope = "for the stored matrix" if radius is None else "for every matrix within the radius"
    how = "exact LDLᵀ" if radius is None and len(A) <= EXACT_UP_TO else "outward-rounded Cholesky"
    claim, unit = f"{what} is exponentially stable, {scope}", "1/s" if T is None else "1"
    if found is not None:
        falls = (
            f"xᵀPx falls at rate {found.rate:.6g} {unit}{'' if T is None else ' a sample (1 − ρ)'}"
        )
        change = _bearable(found, P is None)
        data = {"rate": found.rate, "change": change, "certificate": found.document()}
        source = f"Lyapunov matrix checked by {how}"
        if change < NEUTRAL:
            worst = f"neutral to rounding: {falls}, which a relative change of the data of {NEUTRAL:g} destroys"
            return Verdict(
                "quadratic-certificate", claim, None, worst=worst, source=source, data=data
            )
        return Verdict(
            "quadratic-certificate",
            claim,
            True,
            "proof",
            change,
            "1",
            NEUTRAL,
            f"{falls}; {borne(change)}",
            source=source,
            data=data,
        )
    s = stability(A, T)
    if s.holds is False:
        return Verdict(
            "quadratic-certificate",
            claim,
            False,
            "numerical",
            s.spectrum.margin,
            unit,
            worst=s.why,
            source="eigenvalues and σ_min(A − λI)",
        )
    why = "the matrix given is no certificate" if P is not None else "no certificate found"
    return Verdict(
        "quadratic-certificate",
        claim,
        None,
        worst=f"{why}; {s.why}",
        source=f"Lyapunov matrix, {how}",
    )


def _bearable(found: Certificate, free: bool) -> float:
    """The largest relative change of the data that this certificate bears, or, `free`, one with another P of the loop."""
    tried = [found]
    for share in (0.0, 0.3, 0.7) if free else ():
        P = lyapunov_matrix(found.matrices[0], found.T, share * found.rate)
        if P is not None:
            tried.append(replace(found, P=P, rate=0.0))
    return max(largest_change(c.bears) for c in tried)


def slack(A, P, T: float | None = None) -> float:
    """A proven ε with −(AᵀP + PA) ⪰ εI (sampled: P − AᵀPA ⪰ εI), P ≻ 0; 0 when there is none."""
    A, P = np.asarray(A, float), np.asarray(P, float)
    if not lyapunov_exactly(A, P, T):
        return 0.0
    ε = float(np.linalg.eigvalsh(fall(A, P, T).floats())[0])
    for _ in range(60):
        if ε > 0 and definite(fall(A, P, T) - ε * np.eye(len(A)), strict=False):
            return ε
        ε = ε * (1 - 1e-9) if ε > 0 else 0.0
    return 0.0


def tolerates(A, P, δ: float, T: float | None = None) -> bool:
    """True only if the certificate's slack proves stability of every matrix within δ (spectral norm) of A."""
    size = lambda M: float(
        up(np.linalg.norm(M), M.size)
    )  # Frobenius: never below the spectral norm
    A, P = np.asarray(A, float), np.asarray(P, float)
    spent = 2 * δ * size(P) if T is None else 2 * δ * size(A) * size(P) + δ**2 * size(P)
    return slack(A, P, T) > spent * (1 + 1e-12)
