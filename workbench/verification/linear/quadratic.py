"""A quadratic certificate of a linear loop, as a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import NEUTRAL, borne, largest_change
from workbench.verification.linear.lyapunov import (
    EXACT_UP_TO,
    Certificate,
    certify,
    lyapunov_matrix,
)
from workbench.verification.linear.stability import stability
from workbench.verification.rigorous.balls import up
from workbench.verification.rigorous.exact import definite, fall, lyapunov_exactly
from workbench.verification.verdict import Verdict


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
    found = certify(A, T, radius) if P is None else _checked(A, P, T, radius)
    scope = "for the stored matrix" if radius is None else "for every matrix within the radius"
    how = "exact LDLᵀ" if radius is None and len(A) <= EXACT_UP_TO else "outward-rounded Cholesky"
    claim = f"{what} is exponentially stable, {scope}"
    unit = "1/s" if T is None else "1"
    said = partial(Verdict, "quadratic-certificate", claim)
    if found is not None:
        source = f"Lyapunov matrix checked by {how}"
        return _of_certificate(said, found, _bearable(found, P is None), unit, source)
    s = stability(A, T)
    if s.holds is False:
        source = "eigenvalues and σ_min(A − λI)"
        return said(False, "numerical", s.spectrum.margin, unit, worst=s.why, source=source)
    why = "the matrix given is no certificate" if P is not None else "no certificate found"
    return said(None, worst=f"{why}; {s.why}", source=f"Lyapunov matrix, {how}")


def _of_certificate(
    said: Callable[..., Verdict], found: Certificate, change: float, unit: str, source: str
) -> Verdict:
    """The verdict on a certificate that passed its check and bears a relative change `change` of the data."""
    a_sample = "" if found.T is None else " a sample (1 − ρ)"
    falls = f"xᵀPx falls at rate {found.rate:.6g} {unit}{a_sample}"
    data = {"rate": found.rate, "change": change, "certificate": found.document()}
    if change < NEUTRAL:
        worst = f"neutral to rounding: {falls}, which a relative change of the data of {NEUTRAL:g} destroys"
        return said(None, worst=worst, source=source, data=data)
    worst = f"{falls}; {borne(change)}"
    return said(True, "proof", change, "1", NEUTRAL, worst, source=source, data=data)


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
    A = np.asarray(A, float)
    P = np.asarray(P, float)
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
    # Frobenius: never below the spectral norm.
    size = lambda M: float(up(np.linalg.norm(M), M.size))
    A = np.asarray(A, float)
    P = np.asarray(P, float)
    spent = 2 * δ * size(P) if T is None else 2 * δ * size(A) * size(P) + δ**2 * size(P)
    return slack(A, P, T) > spent * (1 + 1e-12)


def _checked(A: np.ndarray, P, T: float | None, radius) -> Certificate | None:
    """The certificate of a matrix that was given, where it is one."""
    given = Certificate((A,), np.atleast_2d(np.asarray(P, float)), T, 0.0, radius)
    return given if given.check() else None
