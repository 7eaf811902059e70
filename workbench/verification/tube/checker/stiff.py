"""One step of a flow with fast modes: no bound on h|λ|. The centre's run is near a polynomial c(s) that is given.

What is away from it, e, obeys ė = J(s)e + r(s): r = f(c) − c', J in f_x of a box that holds all runs of the step. In the
coordinates w = X e (`frame`), with w = e^{Λs}w(0) + ζ,

    ζ' = Λζ + (XJ − ΛX) e + X r,    |XJ − ΛX| ≤ F = |XA − ΛX| + |X|D
    |ζ_i(s)| ≤ φ_i sup (|Λ_ij||ζ_j| + F(P + |X⁻¹||ζ|) + |Xr|)_i,   φ = ∫_0^h e^{μτ}dτ ≤ min(h, 1/|μ|) where μ < 0

P ≥ |X⁻¹e^{Λs}w(0)| over the step, from what the certificate says of both its ends.
A bound η of |ζ| that reproduces itself with a smaller one is a bound: |ζ| begins at 0 and
is continuous. So is a box round c that the bounds it gives lie inside.

Sources: [Soderlind06]; docs/theory/tube.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from . import series
from .balls import UNIT, Balls, up
from .centred import gradient
from .frame import Frame, framed
from .interval import Interval
from .program import Program
from .series import Series
from .steps import (
    ITERATIONS,
    LEAST,
    ROUNDED,
    Runs,
    around,
    as_series,
    exponential,
)

TRIES = 9
FIRST = 1.05  # by which the first guess of a box is wider than without remainder
WIDER = 1.3


@dataclass(frozen=True, eq=False)
class Nominal:
    """Where w = e^{Λs}w(0) takes what is away from the path: P over the step, the matrix's rounding, its truncation/h."""

    P: np.ndarray
    lost: np.ndarray
    truncated: np.ndarray


def stiffly(
    program: Program,
    runs: Runs,
    given: Any,
    h: float,
    path: np.ndarray,
    beside: np.ndarray,
    least: Any = 0.0,
) -> None:
    """A step over h near the polynomial Σ path_j s^j, (rows, order + 1, states). beside: rows of one node have one number.

    least: sizes below which no state scales the coordinates; they are a choice, which nothing is proved by.
    """
    n = len(runs.centre)
    rows = len(path)
    here = along(path, h)
    away = [c - Interval(path[:, 0, i]) for i, c in enumerate(runs.centre)]
    start = Balls(
        np.stack([np.broadcast_to(a.mid, (rows,)) for a in away], axis=-1)[..., None],
        np.stack([np.broadcast_to(a.rad, (rows,)) for a in away], axis=-1)[..., None],
    )
    off = start.size[..., 0]
    _, A, D = gradient(program, given(around(here, off)), 1, n, rows)
    sizes = np.maximum(np.maximum(runs.reach, runs.beyond) + off, least)
    frame = framed(A[:, :n], sizes, h)
    missed = residual(program, given, path, frame, h)
    nothing = np.zeros_like(off)
    own = known_start(frame, start, h)
    alone = np.arange(rows)
    near, lost, _ = enclosed(program, given, frame, own, missed, h, here, nothing, alone, None)
    Φ = propagator(frame, h)
    end = Φ @ start
    wide = up(end.rad[..., 0] + lost)
    centre = [
        value(path[:, :, i], about(h))
        + Interval(end.mid[:, i, 0])
        + Interval(-wide[:, i], wide[:, i])
        for i in range(n)
    ]
    spread = reaching(frame, runs.reach, up(runs.beyond + times(Φ.rad, runs.reach)), h)
    _, added, box = enclosed(
        program, given, frame, spread, nothing, h, here, near, beside, runs.sides
    )
    runs.seen(box)
    added = up(added + times(Φ.rad, runs.reach))
    runs.take(centre, Φ.mid, added)


def along(path: np.ndarray, h: float, nth: int = 0) -> list:
    """Bounds of the path's nth Taylor coefficient over the step, one Interval a state."""
    time = Interval(0.0, about(h).hi)
    found = []
    for i in range(path.shape[-1]):
        terms = [Interval(path[:, j, i]) * float(comb(j, nth)) for j in range(nth, path.shape[1])]
        total = terms[-1]
        for term in reversed(terms[:-1]):
            total = term + total * time
        found.append(total)
    return found


def about(h: float) -> Interval:
    """The length of a step, known to rounding."""
    return Interval(h * (1 - 4 * UNIT), h * (1 + 4 * UNIT))


def value(coefficients: np.ndarray, h: Interval) -> Interval:
    """Σ coefficients_j h^j."""
    total = Interval(coefficients[:, -1])
    for j in range(coefficients.shape[1] - 2, -1, -1):
        total = Interval(coefficients[:, j]) + total * h
    return total


def residual(program: Program, given: Any, path: np.ndarray, frame: Frame, h: float) -> np.ndarray:
    """Bounds of |X r(s)|, r = f(c) − c', over the step: by Taylor's formula of the path's order, or of the first."""
    n = path.shape[-1]
    p = path.shape[1] - 1
    at = [Series([Interval(path[:, j, i]) for j in range(p + 1)]) for i in range(n)]
    over = list(zip(*(along(path, h, j) for j in range(p + 1))))
    points = program.run(series, given(at), as_series)[:n]
    boxes = program.run(series, given([Series(parts) for parts in over]), as_series)[:n]
    rows = len(path)
    high = np.zeros((rows, n))
    low = np.zeros((rows, n))
    for j in range(p):
        wanted = [Interval(path[:, j + 1, i]) * float(j + 1) for i in range(n)]
        each = turned(frame, [nth(points[i], j) - wanted[i] for i in range(n)])
        high += up(each * h**j)
        low += up(each) if j == 0 else 0.0
    high += up(turned(frame, [nth(boxes[i], p) for i in range(n)]) * h**p)
    low += up(turned(frame, [nth(boxes[i], 1) - over[i][2] * 2.0 for i in range(n)]) * h)
    return up(np.fmin(high, low))


def nth(x: Series, j: int) -> Interval:
    return x.parts[j] if j < len(x.parts) else Interval(0.0)


def turned(frame: Frame, vector: list) -> np.ndarray:
    """Bounds of |X v|."""
    rows = len(frame.X)
    mid = np.stack([np.broadcast_to(v.mid, (rows,)) for v in vector], axis=-1)
    rad = np.stack([np.broadcast_to(v.rad, (rows,)) for v in vector], axis=-1)
    known = np.isfinite(mid) & np.isfinite(rad)
    held = Balls(np.where(known, mid, 0.0)[..., None], np.where(known, rad, 0.0)[..., None])
    found = (Balls.exact(frame.X) @ held).size[..., 0]
    return np.where(known.all(axis=-1)[:, None], found, np.inf)


def known_start(frame: Frame, start: Balls, h: float) -> Nominal:
    """Of one e(0), known to within the radius of `start`, (rows, n, 1)."""
    W = (Balls.exact(frame.X) @ start).size[..., 0]
    first, last = slow_part(frame, h)
    ends = np.maximum((first @ start).size, (last @ start).size)[..., 0]
    return between(frame, W, ends, seen_fast(frame, W, h), h)


def reaching(frame: Frame, E: np.ndarray, beyond: np.ndarray, h: float) -> Nominal:
    """Of all e(0) with |e(0)| ≤ E and |X⁻¹e^{Λh}X e(0)| ≤ beyond, of which the slow part is what is not fast."""
    W = up(times(np.abs(frame.X), E))
    first, last = slow_part(frame, h)
    fast = seen_fast(frame, W, h)
    begin = np.minimum(times(first.size, E), E + fast)
    end = np.minimum(times(last.size, E), beyond + fast)
    return between(frame, W, up(np.maximum(begin, end)), fast, h)


def slow_part(frame: Frame, h: float) -> tuple[Balls, Balls]:
    """What the slow coordinates make of e(0), at first and after h."""
    s = frame.slow
    Φ, _, _ = exponential(frame.Λ[:, :s, :s], np.zeros((len(frame.X), s)), h)
    T = Balls(frame.T.mid[..., :s], frame.T.rad[..., :s])
    X = Balls.exact(frame.X[:, :s])
    return T @ X, T @ Balls.exact(Φ) @ X


def seen_fast(frame: Frame, W: np.ndarray, h: float) -> np.ndarray:
    """Bounds of what fast coordinates that begin below W are seen as in the states, over the step."""
    return up(times(fast_columns(frame), frame.joined(W)[:, frame.slow :] * grown(frame, h)))


def between(frame: Frame, W: np.ndarray, ends: np.ndarray, fast: np.ndarray, h: float) -> Nominal:
    """Of all |X e(0)| ≤ W whose slow part is below `ends` at both ends of the step and whose fast one is below `fast`."""
    s = frame.slow
    _, Q, truncated = exponential(frame.Λ[:, :s, :s], W[:, :s], h)
    N = up(h * np.abs(frame.Λ[:, :s, :s]))
    bent = times(frame.T.size[..., :s], up(times(N, times(N, Q)) / 8 + ROUNDED * Q))
    lost = np.zeros_like(W)
    lost[:, :s] = ROUNDED * Q
    late = np.zeros_like(W)
    late[:, :s] = truncated / h
    return Nominal(up(ends + bent + fast), up(lost), up(late))


def grown(frame: Frame, h: float) -> np.ndarray:
    """Bounds of e^{as} over the step."""
    return up(np.exp(np.maximum(frame.a, 0.0) * h))


def fast_columns(frame: Frame) -> np.ndarray:
    """How far a fast mode of size one is seen in every state; each of two mates has half of their pair's."""
    size = frame.T.size[..., frame.slow :]
    other = np.take_along_axis(size, np.broadcast_to(frame.mate[:, None, :], size.shape), axis=-1)
    alone = frame.mate == np.arange(frame.mate.shape[-1])
    return up(np.where(alone[:, None, :], size, 0.5 * np.hypot(size, other)))


def propagator(frame: Frame, h: float) -> Balls:
    """X⁻¹ e^{Λh} X, its slow part truncated."""
    n = frame.X.shape[-1]
    s = frame.slow
    Φ, _, _ = exponential(frame.Λ[:, :s, :s], np.zeros((len(frame.X), s)), h)
    mid = np.zeros_like(frame.X)
    rad = np.zeros_like(frame.X)
    mid[:, :s, :s] = Φ
    cosine, sine = frame.exponential(h)
    at = np.arange(len(mid))[:, None]
    place = np.arange(n - s)
    mid[at, s + place, s + frame.mate] = sine.mid
    rad[at, s + place, s + frame.mate] = sine.rad
    mid[at, s + place, s + place] = cosine.mid
    rad[at, s + place, s + place] = cosine.rad
    return frame.T @ Balls(mid, rad) @ Balls.exact(frame.X)


def enclosed(program, given, frame, set_, forced, h, here, near, beside, sides) -> tuple:
    """(bounds of |e| over the step, of what its end is off by, the box): a box round the path that holds all its runs.

    near: how far the centre's run may be from the path; beside: rows whose runs are means of each other's; sides: where the
    box is cut.
    """
    n = len(here)
    rows = len(near)
    guess = gathered(FIRST * set_.P + LEAST, beside)
    done = np.zeros(rows, bool)
    for _ in range(TRIES):
        box = around(here, up(near + guess), sides)
        _, A, D = gradient(program, given(box), 1, n, rows)
        ζ = remainder(frame, frame.defect(A[:, :n], D[:, :n]), set_, forced, h)
        reach = gathered(up(set_.P + times(frame.T.size, ζ)), beside)
        done = (reach < guess).all(axis=-1)
        if done.all():
            break
        wider = np.where(np.isfinite(reach), WIDER * reach, guess)
        guess = np.where(done[:, None], guess, np.maximum(guess, wider))
    held = done[:, None]
    reach = np.where(held, reach, np.inf)
    end = np.where(held, up(times(frame.T.size, up(ζ + set_.lost))), np.inf)
    return reach, end, around(here, up(near + reach), sides)


def gathered(bounds: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Every row's bounds replaced by the largest ones among the rows of its node."""
    found = np.zeros_like(bounds)
    np.maximum.at(found, beside, bounds)
    return found[beside]


def remainder(
    frame: Frame, F: np.ndarray, set_: Nominal, forced: np.ndarray, h: float
) -> np.ndarray:
    """Bounds of |ζ| over the step; ∞ where none is found."""
    φ = frame.stays(h)
    s = frame.slow
    K = F @ frame.T.size
    K[:, :s, :s] += np.abs(frame.Λ[:, :s, :s]) * (1 - np.eye(s))
    K = up(φ[..., None] * K)
    base = up(φ * up(times(F, set_.P) + set_.truncated + forced))
    known = np.isfinite(K).all(axis=(1, 2)) & np.isfinite(base).all(axis=1)
    K = np.where(known[:, None, None], K, 0.0)
    base = np.where(known[:, None], base, 0.0)
    η = frame.joined(base)
    for _ in range(ITERATIONS):
        η = 1.001 * frame.joined(base + times(K, η)) + LEAST
    back = up(frame.joined(up(base + times(K, η))))
    sound = known & (back < η).all(axis=1)
    return np.where(sound[:, None], back, np.inf)


def times(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A v of numbers ≥ 0."""
    return np.einsum("rij,rj->ri", A, v)
