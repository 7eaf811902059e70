"""How far the data of a proof may change: a proof that a change in the last digits breaks is none.

Stored numbers are known to a few digits at best. A certificate for A is asked to hold for every
A + Δ with

    |Δ| ≤ ε S(A),   S(A) = |A| + diag √diag(|A||A|)

entry by entry: every entry by a share ε of itself, and every entry on the diagonal by a share ε of
the frequency at which its state swings with the others (of an oscillator without damping the
diagonal is zero, and that is still not known to be so). This does not depend on states' units.
Below NEUTRAL a certificate is neutral to rounding, and its claim undecided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from workbench.verification.rigorous.exact import Dyadic, definite
from workbench.verification.verdict import Verdict

NEUTRAL = 1e-12  # relative change of the data that a proof has to bear
MOST = 1.0  # no larger change is looked for
STEPS = 12  # halvings of its logarithm


def sizes(A) -> np.ndarray:
    """S(A), see the module's docstring."""
    size = np.abs(np.asarray(A, float))
    return size + np.diag(np.sqrt(np.diag(size @ size)))


def largest_change(bears: Callable[[float], bool]) -> float:
    """The largest relative change found under which the certificate holds; 0 where it does not even hold under NEUTRAL."""
    if not bears(NEUTRAL):
        return 0.0
    if bears(MOST):
        return MOST
    low, high = np.log10([NEUTRAL, MOST])
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if bears(10.0**middle) else (low, middle)
    return float(10.0**low)


def definite_around(S, spread) -> bool:
    """True only if every symmetric S + E with |E| ≤ spread, entry by entry, is ≻ 0.

    Exact but for the row sums of the spread, which are rounded upwards:
    |vᵀEv| ≤ Σ_i v_i² (spread w)_i/w_i for any w > 0; w_i = 1/√S_ii.
    """
    S = Dyadic.of(S)
    d = np.diag(S.floats())
    if not ((d > 0).all() and np.isfinite(d).all() and np.isfinite(spread).all()):
        return False
    w = 1 / np.sqrt(d)
    even = (spread + spread.T) / 2
    return definite(S - np.diag((even @ w) / w * (1 + 1e-9)))


def around_in(S, spread, X) -> bool:
    """`definite_around` in the coordinates given or in x = X z, whichever shows it."""
    S = Dyadic.of(S)
    if definite_around(S, spread):
        return True
    size = np.abs(X)
    return definite_around(Dyadic.of(X).T @ S @ X, size.T @ spread @ size)


def grown(bound: Callable[..., np.ndarray], sizes_: tuple, changes: tuple) -> np.ndarray:
    """bound(sizes + changes) − bound(sizes), rounded upwards, for a bound that increases in all."""
    high = bound(*(a + d for a, d in zip(sizes_, changes)))
    return (high - bound(*sizes_)) * (1 + 1e-9) + 1e-14 * high


def refused(verdict: Verdict) -> Verdict:
    """The verdict of a certificate that does not bear NEUTRAL: undecided."""
    worst = f"neutral to rounding: a relative change of the data of {NEUTRAL:g} destroys it"
    worst += f"; {verdict.worst}" if verdict.worst else ""
    return replace(verdict, holds=None, strength=None, margin=None, worst=worst)


def borne(change: float) -> str:
    """The margin of the data, in a sentence."""
    if change >= MOST:
        return "it bears changes of the data as large as the data"
    return f"it bears a relative change of the data of {change:.2g}"
