"""Stability of a linear loop for every parameter in a box. Two claims, not one:

    varying   one P for all θ: also when θ changes (at every instant, or, sampled, from one sample to the next)
    frozen    a P for each sub-box: every constant θ, and nothing about changes

Matrices over a sub-box are enclosed (`family`), the certificate holds for all of them, and a box that fails is halved.
Where A is affine in θ the vertices suffice for a common P (checked at each, enclosed); not for a matrix exponential.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.data_margin import NEUTRAL, borne, sizes
from workbench.verification.linear.family import (
    Family,
    continuous,
    corners_of,
    sampled_loop,
    stepped,
)
from workbench.verification.linear.lyapunov import common_matrix, falls_in_ball, lyapunov_matrix
from workbench.verification.linear.stability import stability
from workbench.verification.rigorous.balls import Ball, up
from workbench.verification.verdict import Assumption, Verdict

CHANGES = (1e-9, 1e-6, 1e-3)  # relative changes of the data that are tried beside NEUTRAL

__all__ = ["Family", "continuous", "edge", "robust_stability", "sampled_loop", "stepped"]


def robust_stability(
    family: Family,
    limits: Sequence[tuple[float, float]],
    mode: str = "frozen",
    budget: int = 4000,
    progress: Callable[[float, str], None] | None = None,
    what: str = "the loop",
    changes: Sequence[float] = CHANGES,
) -> Verdict:
    """Is `what` stable for every θ in the box? mode "frozen" or "varying", see above; budget: sub-boxes looked at.

    changes: relative changes of the data that are tried beyond what a proof has to bear; the margin is the largest borne.

    `proof` when certificates cover the box; violated (`numerical`) when a θ in the box has an eigenvalue outside (for
    "varying" that is one constant course of θ); otherwise undecided with the first sub-box left.
    """
    limits = _limits(family, limits)
    if mode not in ("frozen", "varying"):
        raise InputError(
            f"mode {mode!r}, expected 'frozen' or 'varying'",
            key="mode",
            mend="constant parameters are 'frozen'",
        )
    key = f"robust-{mode}"
    claim = _claim(family, limits, mode, what)
    low, high = np.array(limits).T
    corners = [np.array(θ) for θ in itertools.product(*limits)] if len(limits) <= 10 else []
    for θ in [(low + high) / 2, *corners]:
        verdict = _refuted(family, θ, key, claim)
        if verdict:
            return verdict
    search = _frozen if mode == "frozen" else _varying
    done, used, left, P = search(family, low, high, corners, budget, progress, NEUTRAL)
    said = partial(Verdict, key, claim, assumptions=_constancy(mode))
    if done:
        again = lambda more: search(family, low, high, corners, 2 * used + 1, None, more)[0]
        return _proven(said, mode, limits, used, P, _borne(again, changes))
    if left is not None:
        verdict = _refuted(family, (left[0] + left[1]) / 2, key, claim)
        if verdict:
            return verdict
    where = "no common P found" if left is None else f"left: {_words(family, zip(*left))}"
    return said(
        None,
        worst=f"{where}; {used} sub-boxes tried",
        source="xᵀPx over enclosed sub-boxes",
        data={"box": [list(e) for e in limits]},
    )


def _proven(
    said: Callable[..., Verdict], mode: str, limits, used: int, P, change: float
) -> Verdict:
    """The proof together with `change`, the largest relative change of its data for which it stands."""
    looked = f"{used} sub-boxes" if used else f"{2 ** len(limits)} vertices"
    return said(
        True,
        "proof",
        change,
        "1",
        NEUTRAL,
        f"the whole box, {looked}; {borne(change)}",
        source=_source(mode, used),
        data={
            "boxes": used,
            "change": change,
            "P": None if P is None else P.tolist(),
            "box": [list(e) for e in limits],
        },
    )


def _words(family: Family, box) -> str:
    """A box of the parameters, in words."""
    return ", ".join(f"{n} ∈ [{a:.6g}, {b:.6g}]" for n, (a, b) in zip(family.names, box))


def _claim(family: Family, limits, mode: str, what: str) -> str:
    """What is asked, as a sentence."""
    moving = "varying at any rate" if family.T is None else "changing at the samples"
    when = "constant" if mode == "frozen" else moving
    return f"{what} is exponentially stable for every {_words(family, limits)}, {when}"


def _constancy(mode: str) -> tuple[Assumption, ...]:
    if mode != "frozen":
        return ()
    return (Assumption("parameters are constant", None, source="a P for each sub-box"),)


def _borne(proved: Callable[[float], bool], changes: Sequence[float]) -> float:
    """The largest of the relative changes of the data, tried in order, that the proof bears."""
    change = NEUTRAL
    for more in changes:
        if not proved(more):
            break
        change = more
    return change


def _source(mode: str, used: int) -> str:
    """What proves it: vertices of a family that is affine, or enclosed sub-boxes."""
    if used == 0:
        return "common xᵀPx checked at the vertices, which suffice: affine"
    kind = "a common xᵀPx" if mode == "varying" else "xᵀPx per sub-box"
    return f"{kind}, {used} enclosed sub-boxes"


def _limits(family, limits):
    limits = [(float(a), float(b)) for a, b in limits]
    if len(limits) != len(family.names) or not all(
        a <= b and np.isfinite([a, b]).all() for a, b in limits
    ):
        raise InputError(
            f"box of {len(limits)} ranges for parameters {', '.join(family.names)}",
            key="box",
            mend="one (low, high) with low ≤ high for each parameter, in order",
        )
    return limits


def _refuted(family, θ, key, claim) -> Verdict | None:
    """Violated, where a mode at θ is outside by far more than the enclosure of that one matrix leaves open."""
    M = family.at(θ)
    if not np.isfinite(M.rad).all():
        return None
    s = stability(M.mid, family.T)
    if s.holds is False and -s.spectrum.margin > 10 * np.linalg.norm(M.rad) * min(
        s.spectrum.conditions[0], 1e8
    ):
        at = ", ".join(f"{n} = {v:.9g}" for n, v in zip(family.names, θ))
        return Verdict(
            key,
            claim,
            False,
            "numerical",
            s.spectrum.margin,
            "1/s" if family.T is None else "1",
            worst=f"unstable at {at}: {s.why}",
            source="eigenvalues and σ_min(A − λI) at that point",
            data={"θ": [float(v) for v in θ]},
        )
    return None


def _falls(M: Ball, P, T, change: float) -> bool:
    """`falls_in_ball` after a relative change of the data by so much, see `data_margin`."""
    return falls_in_ball(Ball(M.mid, up(M.rad + change * sizes(M.mid))), P, T)


def _varying(family, low, high, corners, budget, progress, change):
    """One P from the corners and the centre, then checked on the box."""
    matrices = [family.at(θ).mid for θ in (*corners, (low + high) / 2)]
    P = common_matrix(matrices, family.T) if all(np.isfinite(M).all() for M in matrices) else None
    if P is None:
        return False, 0, None, None
    if family.affine and corners:
        return all(_falls(family.at(θ), P, family.T, change) for θ in corners), 0, None, P
    proved = lambda balls: all(_falls(M, P, family.T, change) for M in balls)
    return *_cover(family, low, high, proved, budget, progress), P


def _frozen(family, low, high, corners, budget, progress, change):
    """A Lyapunov matrix of each sub-box's own centre."""

    def proved(balls):
        centre = sum(M.mid for M in balls) / len(balls)
        if not np.isfinite(centre).all():
            return False
        λ = np.linalg.eigvals(centre)
        margin = -λ.real.max() if family.T is None else 1 - np.abs(λ).max()
        # The other half is for the radius.
        P = lyapunov_matrix(centre, family.T, margin / 2) if margin > 0 else None
        return P is not None and all(_falls(M, P, family.T, change) for M in balls)

    return *_cover(family, low, high, proved, budget, progress), None


def _cover(family, low, high, proved, budget, progress):
    """Halve until every sub-box is proved: (all proved, sub-boxes looked at, a sub-box left or None)."""
    width = np.where(high > low, high - low, 1.0)
    pending = [(low, high, 1.0)]
    used = 0
    covered = 0.0
    while pending:
        a, b, share = pending.pop()
        if used >= budget:
            return False, used, (a, b)
        used += 1
        found = family.cover(a, b)
        if proved(corners_of(*found)):
            covered += share
            if progress:
                progress(covered, f"{used} sub-boxes")
            continue
        k = _direction(*found, a, b, width)
        middle = a[k] + (b[k] - a[k]) / 2
        if (
            not a[k] < middle < b[k]
            or b[k] - a[k] < 1e-7 * width[k]
            or _refuted(family, a + (b - a) / 2, "", "")
        ):
            return False, used, (a, b)
        below = b.copy()
        above = a.copy()
        below[k] = above[k] = middle
        pending += [(above, b, share / 2), (a, below, share / 2)]
    return True, used, None


def _direction(M, D, r, a, b, width) -> int:
    """The parameter whose halving narrows the matrix most (in balanced coordinates); else the relatively widest."""
    from scipy.linalg import matrix_balance

    if D and np.isfinite(M.mid).all() and all(np.isfinite(Δ.rad).all() for Δ in D):
        _, (d, _) = matrix_balance(M.mid, permute=False, separate=True)
        moves = [h * np.linalg.norm(Δ.size * d / d[:, None]) for Δ, h in zip(D, r)]
        return int(np.flatnonzero(b > a)[np.argmax(moves)])
    return int(np.argmax((b - a) / width))


def edge(
    family: Family,
    centre: Sequence[float],
    half: Sequence[float],
    mode: str = "frozen",
    budget: int = 1000,
    rounds: int = 12,
    most: float = 1024.0,
    what: str = "the loop",
) -> tuple[float, float | None, Verdict]:
    """(largest s found proven, smallest tried that was not, verdict at the former): boxes centre ± s·half, s ≤ `most`.

    The second number is None where none tried failed. What lies between, and anything not proven, may be stable.
    """
    centre = np.asarray(centre, float)
    half = np.abs(np.asarray(half, float))
    judge = lambda s: robust_stability(
        family, list(zip(centre - s * half, centre + s * half)), mode, budget, None, what, ()
    )
    good = 0.0
    best = judge(0.0)
    if best.holds is not True:
        return 0.0, 0.0, best
    bad = None
    s = 1.0
    for _ in range(rounds):
        verdict = judge(s)
        if verdict.holds:
            good = s
            best = verdict
        else:
            bad = s
        if bad is None and good >= most:
            return good, None, best
        s = min(2 * s, most) if bad is None else (good + bad) / 2
    return good, bad, best
