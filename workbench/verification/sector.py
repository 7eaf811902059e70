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

from dataclasses import dataclass, replace
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
from workbench.verification.lyapunov import coordinates, solve_sdp, too_many
from workbench.verification.stability import stability
from workbench.verification.verdict import Assumption, Verdict

CRITERIA = ("circle", "popov", "jury-lee")


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
        n, m = self.A.shape[0], self.B.shape[1]
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
        s, D = self.loop, Dyadic.of
        A, B, C, P, T = D(s.A), D(s.B), D(s.C), D(self.P), D(np.diag(self.τ))
        low, high = D(np.diag(s.low)), D(np.diag(s.high))
        if self.criterion != "circle":  # w → w − low y: the sector starts at 0
            A, high, low = A - B @ low @ C, high - low, D(np.zeros((len(s.low), len(s.low))))
        none = D(np.zeros(s.B.shape))
        unit = np.eye(len(self.τ))
        y, w = Dyadic.block([[C, 0 * unit]]), Dyadic.block([[none.T, unit]])
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
                move, Λ = C @ (step - state), D(np.diag(self.λ))
                slope = D(np.diag(s.slope)) - D(np.diag(s.low))
                half = half + (w.T @ Λ @ move).times(2.0) + move.T @ Λ @ slope @ move
        return (half + half.T).times(0.5)

    def bears(self, change: float) -> bool:
        """Whether the inequality holds after a relative change of A, B and C by so much, see `data_margin`."""
        s = self.loop
        A, B, C = np.abs(s.A), np.abs(s.B), np.abs(s.C)
        spread = grown(self._largest, (A, B, C), (change * sizes(s.A), change * B, change * C))
        n, m = B.shape
        X = np.eye(n + m)
        with np.errstate(all="ignore"):
            X[:n, :n] = np.linalg.inv(np.linalg.cholesky(self.P).T)
        return around_in(-self.form(), spread, X)

    def _largest(self, A, B, C) -> np.ndarray:
        """Entries of the form are at most these where |A|, |B| and |C| are at most what is given."""
        s, τ, λ, P = self.loop, np.diag(self.τ), np.diag(self.λ), np.abs(self.P)
        n, m = B.shape
        low, high = np.diag(np.abs(s.low)), np.diag(np.abs(s.high))
        if self.criterion != "circle":
            A, low, high = A + B @ low @ C, 0 * low, low + high
        y, w = np.hstack([C, np.zeros((m, m))]), np.hstack([np.zeros((m, n)), np.eye(m)])
        step, state = np.hstack([A, B]), np.eye(n, n + m)
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


def search(loop: Sector, criterion: str = "circle") -> SectorCertificate | None:
    """A certificate that passed its check, or None."""
    import cvxpy as cp

    if too_many(len(loop.A)):
        return None
    W = coordinates(loop.A - loop.B @ np.diag((loop.low + loop.high) / 2) @ loop.C, loop.T)
    back = np.linalg.inv(W)
    A, B, C = W @ loop.A @ back, W @ loop.B, loop.C @ back
    low, high = loop.low, loop.high
    if criterion != "circle":
        A, low, high = A - B @ np.diag(low) @ C, 0 * low, high - low
    n, m = B.shape
    P, τ, λ, margin = (
        cp.Variable((n, n), symmetric=True),
        cp.Variable(m),
        cp.Variable(m),
        cp.Variable(),
    )
    y, w = np.hstack([C, np.zeros((m, m))]), np.hstack([np.zeros((m, n)), np.eye(m)])
    step, state = np.hstack([A, -B]), np.hstack([np.eye(n), np.zeros((n, m))])
    form = (w - np.diag(low) @ y).T @ cp.diag(τ) @ (np.diag(high) @ y - w)
    if loop.T is None:
        form += 2 * state.T @ P @ step + 2 * w.T @ cp.diag(λ) @ C @ step
    else:
        form += step.T @ P @ step - state.T @ P @ state
        if criterion == "jury-lee":
            move = C @ (step - state)
            form += (
                2 * w.T @ cp.diag(λ) @ move
                + move.T @ cp.diag(cp.multiply(λ, loop.slope - loop.low)) @ move
            )
    size = 1 / (1 + np.linalg.norm(y, axis=0))  # w counts in units of y
    limits = [
        P >> 1e-9 * np.eye(n),
        cp.trace(P) == n,
        τ >= 0,
        λ >= 0,
        λ <= 1e4 if criterion != "circle" else λ == 0,
        -(form + form.T) / 2 >> margin * np.diag(size**2),
        margin <= 1,
    ]
    if (
        not solve_sdp(cp.Problem(cp.Maximize(margin), limits))
        or P.value is None
        or not margin.value > 0
    ):
        return None
    found = W.T @ P.value @ W
    found = SectorCertificate(
        loop,
        criterion,
        (found + found.T) / 2,
        np.maximum(τ.value, 0.0),
        np.maximum(λ.value, 0.0) if criterion != "circle" else np.zeros(m),
    )
    return found if found.check() else None


def sector_stability(loop: Sector, criterion: str = "circle", what: str = "the loop") -> Verdict:
    """Verdict on "`what` is globally asymptotically stable for every nonlinearity in the sector".

    `proof` when the certificate passes; violated (`numerical`) when a linear gain of the sector destabilises; otherwise
    undecided. Raises InputError for popov on a sampled and jury-lee on a continuous loop.
    """
    if criterion not in CRITERIA:
        raise InputError(
            f"criterion {criterion!r}", key="criterion", mend=f"choose from {', '.join(CRITERIA)}"
        )
    if (criterion == "popov") != (loop.T is None) and criterion != "circle":
        raise InputError(
            f"{criterion} is for {'continuous' if criterion == 'popov' else 'sampled'} loops",
            key="criterion",
            mend="circle serves both; jury-lee is the sampled counterpart of popov",
        )
    if criterion == "jury-lee" and loop.slope is None:
        raise InputError(
            "jury-lee needs the largest slope of the nonlinearity",
            key="slope",
            mend="1 for a saturation",
        )
    text = ", ".join(f"[{a:.6g}, {b:.6g}]" for a, b in zip(loop.low, loop.high))
    claim = (
        f"{what} is globally asymptotically stable for every {'' if criterion == 'circle' else 'time-invariant '}"
        f"nonlinearity in the sector {text}"
    )
    notes = (
        ()
        if criterion == "circle"
        else (Assumption("the nonlinearity does not change with time", None),)
    )
    if criterion == "jury-lee":
        notes += (
            Assumption(f"its slope is at most {', '.join(f'{v:.6g}' for v in loop.slope)}", None),
        )
    key = f"sector-{criterion}"
    for share in (0.0, 0.5, 1.0):  # linear members of the family
        s = stability(
            loop.A - loop.B @ np.diag(loop.low + share * (loop.high - loop.low)) @ loop.C, loop.T
        )
        if s.holds is False:
            return Verdict(
                key,
                claim,
                False,
                "numerical",
                s.spectrum.margin,
                "1/s" if loop.T is None else "1",
                worst=f"the linear gain {share:g} of the way from low to high: {s.why}",
                assumptions=notes,
                source="eigenvalues of a linear member of the sector",
            )
    found = search(loop, criterion)
    if found is None:
        why = too_many(len(loop.A)) or "no certificate found"
        return Verdict(
            key, claim, None, worst=why, assumptions=notes, source=f"{criterion} criterion"
        )
    change = largest_change(found.bears)
    worst = f"for the stored matrices, {len(loop.A)} states; {borne(change)}"
    proven = Verdict(
        key,
        claim,
        True,
        "proof",
        change,
        "1",
        NEUTRAL,
        worst,
        notes,
        f"{criterion} criterion, certificate checked by exact LDLᵀ",
        data={"certificate": found.document(), "change": change},
    )
    return proven if change >= NEUTRAL else refused(proven)


def largest_sector(loop: Sector, criterion: str = "circle", rounds: int = 20, most: float = 1e6):
    """(largest factor k proven with sector low … low + k (high − low), slope alike, its certificate or None): bisection."""

    def at(k):
        slope = None if loop.slope is None else loop.low + k * (loop.slope - loop.low)
        return search(
            replace(loop, high=loop.low + k * (loop.high - loop.low), slope=slope), criterion
        )

    good, bad, k, best = 0.0, None, 1.0, None
    for _ in range(rounds):
        found = at(k)
        good, bad, best = (k, bad, found) if found else (good, k, best)
        if good >= most:
            break
        k = 2 * k if bad is None else (good + bad) / 2
    return good, best
