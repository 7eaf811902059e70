"""The largest sector that a certificate covers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import NEUTRAL, borne, largest_change, refused
from workbench.verification.linear.lyapunov import coordinates, solve_sdp, too_many
from workbench.verification.linear.stability import stability
from workbench.verification.regions.sector import Sector, SectorCertificate
from workbench.verification.verdict import Assumption, Verdict

CRITERIA = ("circle", "popov", "jury-lee")


def search(loop: Sector, criterion: str = "circle") -> SectorCertificate | None:
    """A certificate that passed its check, or None."""
    import cvxpy as cp

    if too_many(len(loop.A)):
        return None
    W = coordinates(loop.A - loop.B @ np.diag((loop.low + loop.high) / 2) @ loop.C, loop.T)
    back = np.linalg.inv(W)
    A = W @ loop.A @ back
    B = W @ loop.B
    C = loop.C @ back
    low = loop.low
    high = loop.high
    if criterion != "circle":
        A, low, high = A - B @ np.diag(low) @ C, 0 * low, high - low
    n, m = B.shape
    P = cp.Variable((n, n), symmetric=True)
    τ = cp.Variable(m)
    λ = cp.Variable(m)
    margin = cp.Variable()
    slope = None if loop.slope is None else loop.slope - loop.low
    form, y = _fall(A, B, C, low, high, slope, P, τ, λ, criterion, loop.T)
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
    _check_criterion(loop, criterion)
    key = f"sector-{criterion}"
    claim = _claim(loop, criterion, what)
    notes = _notes(loop, criterion)
    said = partial(Verdict, key, claim, assumptions=notes)
    for share in (0.0, 0.5, 1.0):  # linear members of the family
        s = stability(
            loop.A - loop.B @ np.diag(loop.low + share * (loop.high - loop.low)) @ loop.C, loop.T
        )
        if s.holds is False:
            return said(
                False,
                "numerical",
                s.spectrum.margin,
                "1/s" if loop.T is None else "1",
                worst=f"the linear gain {share:g} of the way from low to high: {s.why}",
                source="eigenvalues of a linear member of the sector",
            )
    found = search(loop, criterion)
    if found is None:
        why = too_many(len(loop.A)) or "no certificate found"
        return said(None, worst=why, source=f"{criterion} criterion")
    change = largest_change(found.bears)
    proven = said(
        True,
        "proof",
        change,
        "1",
        NEUTRAL,
        f"for the stored matrices, {len(loop.A)} states; {borne(change)}",
        source=f"{criterion} criterion, certificate checked by exact LDLᵀ",
        data={"certificate": found.document(), "change": change},
    )
    return proven if change >= NEUTRAL else refused(proven)


def _fall(A, B, C, low, high, slope, P, τ, λ, criterion: str, T: float | None):
    """(V̇ or ΔV with the multipliers, as a form over (x, w), y = C x over (x, w)): see `sector`."""
    import cvxpy as cp

    n, m = B.shape
    y = np.hstack([C, np.zeros((m, m))])
    w = np.hstack([np.zeros((m, n)), np.eye(m)])
    step = np.hstack([A, -B])
    state = np.hstack([np.eye(n), np.zeros((n, m))])
    form = (w - np.diag(low) @ y).T @ cp.diag(τ) @ (np.diag(high) @ y - w)
    if T is None:
        form += 2 * state.T @ P @ step + 2 * w.T @ cp.diag(λ) @ C @ step
        return form, y
    form += step.T @ P @ step - state.T @ P @ state
    if criterion == "jury-lee":
        move = C @ (step - state)
        form += 2 * w.T @ cp.diag(λ) @ move + move.T @ cp.diag(cp.multiply(λ, slope)) @ move
    return form, y


def _check_criterion(loop: Sector, criterion: str) -> None:
    """Raise InputError for an unknown criterion, and for one that does not apply to this kind of loop."""
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


def _claim(loop: Sector, criterion: str, what: str) -> str:
    """What is asked, as a sentence."""
    text = ", ".join(f"[{a:.6g}, {b:.6g}]" for a, b in zip(loop.low, loop.high))
    kind = "" if criterion == "circle" else "time-invariant "
    return f"{what} is globally asymptotically stable for every {kind}nonlinearity in the sector {text}"


def _notes(loop: Sector, criterion: str) -> tuple[Assumption, ...]:
    """What the criterion takes for granted of the nonlinearity."""
    if criterion == "circle":
        return ()
    still = Assumption("the nonlinearity does not change with time", None)
    if criterion != "jury-lee":
        return (still,)
    slopes = ", ".join(f"{v:.6g}" for v in loop.slope)
    return still, Assumption(f"its slope is at most {slopes}", None)


def largest_sector(loop: Sector, criterion: str = "circle", rounds: int = 20, most: float = 1e6):
    """(largest factor k proven with sector low … low + k (high − low), slope alike, its certificate or None): bisection."""

    def at(k):
        slope = None if loop.slope is None else loop.low + k * (loop.slope - loop.low)
        return search(
            replace(loop, high=loop.low + k * (loop.high - loop.low), slope=slope), criterion
        )

    good = 0.0
    bad = None
    k = 1.0
    best = None
    for _ in range(rounds):
        found = at(k)
        good, bad, best = (k, bad, found) if found else (good, k, best)
        if good >= most:
            break
        k = 2 * k if bad is None else (good + bad) / 2
    return good, best
