"""Stability of a linear system, decided twice before it is claimed.

Stability is first read from the eigenvalues and then re-checked by a second calculation: a Lyapunov matrix whose two
definiteness conditions are tested by Cholesky with every rounding error of the test put on the side of caution, or, for
instability, the smallest singular value of A − λI. An eigenvalue closer to the edge than rounding can move it is a
neutral mode, and the verdict is undecided.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.verification.linear.systems import EPS, LinearSystem, balanced_matrix
from workbench.verification.verdict import Verdict


@final
@dataclass(frozen=True, eq=False)
class Spectrum:
    """Modes, the least stable first. All arrays have one entry a mode.

    eigenvalues    λ (1/s, or z when sampled)
    margins        −Re λ in 1/s, or 1 − |z|
    bounds         how far rounding may have moved λ: min of 4nε‖A‖κ(λ) and Elsner's (2‖A‖)^{1−1/n}(4nε‖A‖)^{1/n}
    damping        ζ = −Re s/|s|, s = λ or ln(z)/T; NaN at s = 0
    frequency      ω_n = |s|, rad/s
    participation  modes × states: |y_k x_k| of left and right eigenvectors, rows sum to 1
    conditions     κ(λ) = |y||x|/|yᴴx|, ∞ where defective
    """

    eigenvalues: np.ndarray
    margins: np.ndarray
    bounds: np.ndarray
    damping: np.ndarray
    frequency: np.ndarray
    participation: np.ndarray
    conditions: np.ndarray

    @property
    def margin(self) -> float:
        """−max Re λ (continuous) or 1 − ρ (sampled); ∞ with no states."""
        return float(self.margins[0]) if len(self.margins) else np.inf

    def describe(self, i: int, states: Sequence[str] = ()) -> str:
        """Mode i in words: eigenvalue, and the states that take part most."""
        λ = self.eigenvalues[i]
        part = self.participation[i]
        number = f"{λ.real:.6g}" if λ.imag == 0 else f"{λ.real:.6g} ± {abs(λ.imag):.6g}j"
        top = [k for k in np.argsort(-part, kind="stable")[:3] if part[k] > 0.15]
        return (
            f"λ = {number} ({', '.join(states[k] if k < len(states) else f'x[{k}]' for k in top)})"
        )


def spectral(A, T: float | None = None) -> Spectrum:
    """Eigenvalues of A with margins, damping, frequencies and rounding bounds; T None = continuous.

    Sources: [GolubVanLoan13] section 7.2 (condition of an eigenvalue), [Elsner85] (defective eigenvalues).
    """
    from scipy.linalg import eig

    A = balanced_matrix(A)
    n = len(A)
    if n == 0:
        empty = np.zeros(0)
        return Spectrum(empty.astype(complex), empty, empty, empty, empty, np.zeros((0, 0)), empty)
    λ, Y, X = eig(A, left=True, right=True)
    products = Y.conj() * X
    with np.errstate(divide="ignore", invalid="ignore"):
        κ = 1.0 / np.abs(products.sum(axis=0))
        s = λ if T is None else np.where(λ == 0, -np.inf, np.log(np.where(λ == 0, 1, λ)) / T)
        ω_n = np.abs(s)
        ζ = np.where(np.isinf(ω_n), 1.0, -s.real / ω_n)
    size = float(np.linalg.norm(A))
    noise = 4 * n * EPS * size
    bounds = np.minimum(noise * κ, (2 * size) ** (1 - 1 / n) * noise ** (1 / n))
    part = np.abs(products).T
    part = np.where(part.sum(axis=1, keepdims=True) > 0, part, np.abs(X.T))
    margins = -λ.real if T is None else 1 - np.abs(λ)
    o = np.lexsort((λ.imag, margins))
    return Spectrum(
        λ[o], margins[o], bounds[o], ζ[o], ω_n[o], (part / part.sum(axis=1, keepdims=True))[o], κ[o]
    )


def positive_definite(M, error=0.0) -> bool:
    """True only if every symmetric matrix within ±error (entrywise) of M is positive definite, rounding included.

    The error is moved to the diagonal by its row sums, the matrix scaled by powers of two to a diagonal near 1, and
    Cholesky must succeed after subtracting more than its own rounding error, (n + 2)ε·trace. Source: [Rump06].
    """
    M = np.asarray(M, dtype=float)
    n = len(M)
    H = (M + M.T) / 2 - np.diag((np.broadcast_to(error, M.shape) + EPS * np.abs(M)).sum(axis=1))
    d = np.diag(H)
    if not np.all(np.isfinite(H)) or np.any(d <= 0):
        return False
    s = 2.0 ** -np.round(np.log2(d) / 2)
    H = H * s * s[:, None]
    try:
        np.linalg.cholesky(H - 1.1 * (n + 2) * EPS * np.trace(H) * np.eye(n))
    except np.linalg.LinAlgError:
        return False
    return True


def lyapunov_stable(A, T: float | None = None) -> bool:
    """True only if a computed P passes P ≻ 0, AᵀP + PA ≺ 0 (sampled: AᵀPA − P ≺ 0), rounding on the safe side."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    A = balanced_matrix(A)
    n = len(A)
    if n == 0:
        return True
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a nearly singular equation gives a P that fails below
            P = (
                solve_continuous_lyapunov(A.T, -np.eye(n))
                if T is None
                else solve_discrete_lyapunov(
                    A.T, np.eye(n), method="direct" if n <= 6 else "bilinear"
                )
            )
    except (np.linalg.LinAlgError, ValueError):
        return False
    if not np.all(np.isfinite(P)):
        return False
    P = (P + P.T) / 2
    a = np.abs(A)
    p = np.abs(P)
    γ = (2 * n + 4) * EPS
    fall, size = (
        (-(A.T @ P + P @ A), a.T @ p + p @ a) if T is None else (P - A.T @ P @ A, p + a.T @ p @ a)
    )
    return positive_definite(P) and positive_definite(fall, γ * size)


@final
@dataclass(frozen=True, eq=False)
class Stability:
    """holds True (asymptotically stable), False (a mode grows) or None (not decided), the spectrum, and why."""

    holds: bool | None
    spectrum: Spectrum
    why: str


def stability(A, T: float | None = None, states: Sequence[str] = ()) -> Stability:
    """Is every mode of A inside the left half-plane (T None) or the unit circle?

    holds      every well-conditioned mode clears its rounding bound and a Lyapunov matrix passes `lyapunov_stable`
    violated   a mode is outside by more than its bound and σ_min(A − λI) confirms that it is an eigenvalue
    undecided  otherwise; the modes within their bounds of the edge are named
    """
    s = spectral(A, T)
    sharp = s.conditions < EPS**-0.5
    if s.margin > 0 and np.all(s.margins[sharp] > s.bounds[sharp]) and lyapunov_stable(A, T):
        return Stability(True, s, s.describe(0, states) if len(s.margins) else "no states")
    if s.margin < -s.bounds[0]:
        M = balanced_matrix(A)
        n = len(M)
        if np.linalg.svd(M - s.eigenvalues[0] * np.eye(n), compute_uv=False)[
            -1
        ] <= 10 * n * EPS * np.linalg.norm(M):
            return Stability(False, s, "unstable mode " + s.describe(0, states))
    near = [
        i
        for i in range(len(s.margins))
        if abs(s.margins[i]) <= s.bounds[i] and s.eigenvalues[i].imag >= 0
    ]
    if near:
        return Stability(
            None,
            s,
            "neutral within rounding: "
            + "; ".join(s.describe(i, states) for i in near[:3])
            + (f" and {len(near) - 3} more" if len(near) > 3 else ""),
        )
    return Stability(
        None,
        s,
        "eigenvalues and Lyapunov matrix do not confirm each other; closest is "
        + s.describe(0, states),
    )


def stable_verdict(
    sys: LinearSystem, what: str, states: Sequence[str] = (), key: str = "linear-stability"
) -> Verdict:
    """Verdict on "`what` is asymptotically stable": margin −max Re λ in 1/s, or 1 − ρ; `states` names the modes."""
    s = stability(sys.A, sys.T, states)
    spectrum = s.spectrum
    margin = spectrum.margin + 0.0 if np.isfinite(spectrum.margin) else None
    return Verdict(
        key,
        f"{what} is asymptotically stable",
        s.holds,
        None if s.holds is None else "numerical",
        margin,
        "1/s" if sys.T is None else "1",
        worst=s.why,
        source=f"eigenvalues and {'σ_min(A − λI)' if s.holds is False else 'a Lyapunov matrix checked by Cholesky'}",
        data={
            "eigenvalues": [[float(λ.real), float(λ.imag)] for λ in spectrum.eigenvalues],
            "T": sys.T,
            "rounding_bounds": [float(b) for b in spectrum.bounds],
        },
    )
