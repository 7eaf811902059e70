"""A linear loop with nonlinearities in a sector: circle, Popov and Jury–Lee criteria.

    ẋ = A x − B φ(y)  or  x⁺ = A x − B φ(y),   y = C x,   low_i y_i² ≤ φ_i(y_i) y_i ≤ high_i y_i²

Each criterion is one inequality on (x, w = φ(y)): the fall of a Lyapunov function plus τ_i (w_i − low_i y_i)(high_i y_i −
w_i) ≥ 0 is negative. It is searched for by a semidefinite program in floats and decided by exact arithmetic.

    circle     V = xᵀPx                      φ may change with time                     continuous and sampled
    popov      V = xᵀPx + 2Σλ_i ∫₀^{y_i} φ_i     φ_i(y) the same at all times               continuous only
    jury-lee   the same V                    and a slope of at most `slope_i`            sampled only

popov and jury-lee: low is moved to 0 first, by A − B·low·C. With w = φ(y) and Δy = y⁺ − y the step of the integral is at
most wΔy + ½ slope Δy². Sources: [Khalil02] section 7.1; [JuryLee64]. A saturation that holds only near the origin:
`saturation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import around_in, grown, sizes
from workbench.verification.rigorous.exact import Dyadic, definite


@final
@dataclass(frozen=True, eq=False)
class Sector:
    """The loop and its sector; T None = continuous. low, high, slope: one number a channel. Raises InputError."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    low: np.ndarray
    high: np.ndarray
    T: float | None = None
    slope: np.ndarray | None = None

    def __post_init__(self):
        for name in "ABC":
            object.__setattr__(self, name, np.atleast_2d(np.asarray(getattr(self, name), float)))
        n = self.A.shape[0]
        m = self.B.shape[1]
        for name in ("low", "high", "slope"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(
                    self, name, np.broadcast_to(np.asarray(value, float), (m,)).copy()
                )
        if self.A.shape != (n, n) or self.B.shape != (n, m) or self.C.shape != (m, n):
            raise InputError(
                f"sector: A {self.A.shape}, B {self.B.shape}, C {self.C.shape} do not fit",
                key="C",
                mend="A n×n, B n×m, C m×n, one nonlinearity a channel, no direct feedthrough",
            )
        numbers = [
            self.A,
            self.B,
            self.C,
            self.low,
            self.high,
            *([] if self.slope is None else [self.slope]),
        ]
        if not all(np.isfinite(M).all() for M in numbers) or not (self.low < self.high).all():
            raise InputError(
                "sector: expected numbers with low < high in every channel",
                key="high",
                mend="saturation of unit gain is in [0, 1], with slope at most 1",
            )


@final
@dataclass(frozen=True, eq=False)
class SectorCertificate:
    """P ≻ 0, τ > 0 and λ ≥ 0 for one criterion; it proves what it says only after `check`."""

    loop: Sector
    criterion: str
    P: np.ndarray
    τ: np.ndarray
    λ: np.ndarray

    def check(self) -> bool:
        """The exact test."""
        s = self.loop
        fits = {
            "circle": True,
            "popov": s.T is None,
            "jury-lee": s.T is not None and s.slope is not None,
        }
        if not fits.get(self.criterion, False) or not np.array_equal(self.P, self.P.T):
            return False
        if not ((self.τ > 0).all() and (self.λ >= 0).all()) or (
            self.criterion == "circle" and self.λ.any()
        ):
            return False
        return definite(self.P) and definite(-self.form())

    def form(self) -> Dyadic:
        """The quadratic form in (x, w) that must be ≺ 0, exactly."""
        s = self.loop
        D = Dyadic.of
        A = D(s.A)
        B = D(s.B)
        C = D(s.C)
        P = D(self.P)
        T = D(np.diag(self.τ))
        low = D(np.diag(s.low))
        high = D(np.diag(s.high))
        if self.criterion != "circle":  # w → w − low y: the sector starts at 0
            A = A - B @ low @ C
            high = high - low
            low = D(np.zeros((len(s.low), len(s.low))))
        none = D(np.zeros(s.B.shape))
        unit = np.eye(len(self.τ))
        y = Dyadic.block([[C, 0 * unit]])
        w = Dyadic.block([[none.T, unit]])
        step = Dyadic.block([[A, -B]])
        state = Dyadic.block([[np.eye(len(s.A)), none]])
        half = (w - low @ y).T @ T @ (high @ y - w)
        if s.T is None:
            half = half + state.T @ P @ step + step.T @ P @ state
            if self.λ.any():
                half = half + (w.T @ D(np.diag(self.λ)) @ C @ step).times(2.0)
        else:
            half = half + step.T @ P @ step - state.T @ P @ state
            if self.λ.any():
                move = C @ (step - state)
                Λ = D(np.diag(self.λ))
                slope = D(np.diag(s.slope)) - D(np.diag(s.low))
                half = half + (w.T @ Λ @ move).times(2.0) + move.T @ Λ @ slope @ move
        return (half + half.T).times(0.5)

    def bears(self, change: float) -> bool:
        """Whether the inequality holds after a relative change of A, B and C by so much, see `data_margin`."""
        s = self.loop
        A = np.abs(s.A)
        B = np.abs(s.B)
        C = np.abs(s.C)
        spread = grown(self._largest, (A, B, C), (change * sizes(s.A), change * B, change * C))
        n, m = B.shape
        X = np.eye(n + m)
        with np.errstate(all="ignore"):
            X[:n, :n] = np.linalg.inv(np.linalg.cholesky(self.P).T)
        return around_in(-self.form(), spread, X)

    def _largest(self, A, B, C) -> np.ndarray:
        """Entries of the form are at most these where |A|, |B| and |C| are at most what is given."""
        s = self.loop
        τ = np.diag(self.τ)
        λ = np.diag(self.λ)
        P = np.abs(self.P)
        n, m = B.shape
        low = np.diag(np.abs(s.low))
        high = np.diag(np.abs(s.high))
        if self.criterion != "circle":
            A, low, high = A + B @ low @ C, 0 * low, low + high
        y = np.hstack([C, np.zeros((m, m))])
        w = np.hstack([np.zeros((m, n)), np.eye(m)])
        step = np.hstack([A, B])
        state = np.eye(n, n + m)
        half = (w + low @ y).T @ τ @ (high @ y + w)
        if s.T is None:
            half = half + 2 * state.T @ P @ step + 2 * w.T @ λ @ C @ step
        else:
            half = half + step.T @ P @ step + state.T @ P @ state
            if self.λ.any():
                move = C @ (step + state)
                slope = np.diag(np.abs(s.slope) + np.abs(s.low))
                half = half + 2 * w.T @ λ @ move + move.T @ λ @ slope @ move
        return (half + half.T) / 2

    def document(self) -> dict:
        """Plain data for `recheck`: numbers as hexadecimal floats. See recheck.py."""
        hexed = lambda M: [[float(v).hex() for v in row] for row in np.atleast_2d(M)]
        s = self.loop
        return {
            "format": "sector-certificate-1",
            "criterion": self.criterion,
            "time": "continuous" if s.T is None else "sampled",
            "T": None if s.T is None else float(s.T).hex(),
            "A": hexed(s.A),
            "B": hexed(s.B),
            "C": hexed(s.C),
            "low": hexed(s.low),
            "high": hexed(s.high),
            "slope": None if s.slope is None else hexed(s.slope),
            "P": hexed(self.P),
            "tau": hexed(self.τ),
            "lambda": hexed(self.λ),
        }
