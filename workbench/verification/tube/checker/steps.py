"""One sample of the loop from a whole set of states: bounds of its derivative, and of where its centre goes.

The set is {centre + e}; |e_i| ≤ E_i at the beginning of a step of length h. Along every run from it ė = J(s) e, J(s) slopes of
f from the centre's run (`centred`) in the box that holds all these runs (Picard). With A the middle and D the radius of these
slopes, N = h|A|:

    e(h) = Φ e(0) + r,   Φ = Σ_{j≤m} (Ah)^j/j!
    |r| ≤ h D P + N^{m+1}E/m! + h|J| η,   η ≥ h D P + N^{m+1}E/m! + h|J| η
    P   ≥ |Φ(s) e(0)|: max of both ends + N²Q/8, at most Q = Σ N^j E/j!

Where a split is looked at from either side J(s) is f_x(box) instead: then this is so of the derivative of the run by its start,
and of every mean of such derivatives (the mean value theorem, also across kinks).

The centre goes by an interval Taylor series whose last coefficient is taken over Picard's box.

Source: [Moore09] chapters 8 and 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import interval as iv
from . import series
from .affine import linearised
from .balls import UNIT, up
from .centred import gradient
from .interval import Interval
from .program import Program
from .runs import Runs, around
from .series import Series
from .spread import Spread

TERMS = 14
# The rounding of Φ is below this share of Q: 15 products of matrices of up to 40 rows.
ROUNDED = 1e-12
LEAST = 1e-270  # more than what `up` adds
TRIES = 12
ITERATIONS = 40
REFINED = 3
GUESS = 1.2  # times what is taken for granted at both ends: where a step is first looked for
REPEATED = 1


def jumped(program: Program, runs: Runs, given: Any, held: np.ndarray) -> None:
    """A jump of the state, smooth or with kinks; `given(states)` makes the program's inputs. held: what then stays."""
    n = len(runs.centre)
    box = around(runs.centre, runs.reach, runs.sides)
    if runs.apart:
        values, Φ, radius = gradient(program, given(box), 1, n, len(runs.reach))
        Φ = Φ[:, :n]
        added = up(np.einsum("rij,rj->ri", radius[:, :n], runs.reach))
    else:
        Φ, added, values = linearised(program, given(runs.centre), 1, box, runs.spread())
        Φ = Φ[:, :n]
        added = added[:, :n]

    def after() -> tuple[list, list]:
        return runs.centre, program.run(iv, given(runs.centre), lambda x: x)[:n]

    runs.take(runs.course(after)[1], Φ, added)
    runs.cut(values[:n], held)


def picard(program: Program, given: Any, start: list, h: float) -> list:
    """A box that holds every run from the box `start` over h; everything where none is found."""
    n = len(start)
    time = Interval(0.0, h * (1 + 4 * UNIT))

    def image(box: list) -> list:
        rates = program.run(iv, given(box), lambda x: x)[:n]
        return [s + time * f for s, f in zip(start, rates)]

    guess = image(image(start))
    best: list = [Interval(-np.inf, np.inf)] * n
    for attempt in range(TRIES):
        wider = [widened(s.hull(g), 0.05 * 2.0**attempt) for s, g in zip(start, guess)]
        found = image(wider)
        each = np.broadcast_arrays(*(f.inside(w) for f, w in zip(found, wider)))
        inside = np.logical_and.reduce(each)
        best = [within(b, f, inside) for b, f in zip(best, found)]
        if np.all(np.isfinite(best[0].lo)):
            break
        guess = found
    for _ in range(REFINED):
        best = [common(b, f) for b, f in zip(best, image(best))]
    return best


def within(box: Interval, found: Interval, proved: np.ndarray) -> Interval:
    """The box, or where that is everything and another one is proved, that one."""
    new = proved & ~np.isfinite(box.lo)
    return Interval(np.where(new, found.lo, box.lo), np.where(new, found.hi, box.hi))


def common(a: Interval, b: Interval) -> Interval:
    return Interval(np.maximum(a.lo, b.lo), np.minimum(a.hi, b.hi))


def widened(b: Interval, share: float) -> Interval:
    more = share * (b.hi - b.lo) + 1e-12 * b.size
    return Interval(b.lo - more, b.hi + more)


def flowed(program: Program, runs: Runs, given: Any, h: float, order: int) -> None:
    """A step of the flow over h; `given(states)` makes the program's inputs."""
    n = len(runs.centre)

    def passed() -> tuple[list, list]:
        alone = picard(program, given, runs.centre, h)
        return alone, advanced(program, runs.centre, alone, given, h, order)

    alone, after = runs.course(passed)
    if runs.apart:
        E = runs.reach
        box = picard(program, given, around(runs.centre, E, runs.sides), h)
        _, A, D = gradient(program, given(box), 1, n, len(E))
        A = A[:, :n]
        D = D[:, :n]
        Φ, Q, truncated = exponential(A, E, h)
        added = deviation(runs.beyond, A, D, Q, truncated, E, h)
    else:
        box, Φ, added = together(program, runs, given, h, alone)
    runs.seen(box)
    runs.take(after, Φ, added)


def together(program: Program, runs: Runs, given: Any, h: float, alone: list) -> tuple:
    """(box, Φ, what is added) of a step, of all runs: from forms over a box of deviations, then over the spread that follows.

    While deviations are in the box the forms hold, hence the bounds that come of them; these are smaller than the box, so that
    no run ever reaches its border.
    """
    n = len(alone)
    before = runs.spread()

    def form(spread: Spread) -> tuple:
        A, ρ, _ = linearised(program, given(alone), 1, around(alone, spread.box), spread)
        Φ, Q, truncated = exponential(A[:, :n], runs.reach, h)
        return A[:, :n], Φ, Q, left(A[:, :n], ρ[:, :n], Q, truncated, h)

    guess = GUESS * np.maximum(runs.reach, runs.beyond) + LEAST
    for _ in range(TRIES):
        found = form(Spread(guess, []))
        after = during(runs, before, *found, h)
        inside = (after.box < guess).all(axis=1)
        if inside.all():
            break
        wider = np.where(np.isfinite(after.box), GUESS * after.box, guess)
        guess = np.where(inside[:, None], guess, np.maximum(guess, wider))
    for _ in range(REPEATED):
        found = form(after)
        after = during(runs, before, *found, h)
    held = inside[:, None]
    return (
        around(alone, np.where(held, after.box, np.inf)),
        found[1],
        np.where(held, found[3], np.inf),
    )


def during(runs: Runs, before: Spread, A, Φ, Q, η, h: float) -> Spread:
    """Where deviations are at any time of a step at whose end they are Φ e(0) + η."""
    N = up(h * np.abs(A))
    third = np.einsum("rij,rj->ri", N, Q)
    third = np.einsum("rij,rj->ri", N, third)
    bent = up(third) / 8
    third = np.einsum("rij,rj->ri", N, third)
    rounded = ROUNDED * np.einsum("rij,rj->ri", N, np.einsum("rij,rj->ri", N, Q)) + ROUNDED * Q
    bent = np.minimum(bent, up(before.over(A @ A) * (h * h / 8) + third / 8))
    away = up(bent + rounded + η)
    box = up(np.maximum(before.box, before.over(Φ)) + away)
    if not runs.ends:
        return Spread(box, [])
    Γ, B, more = runs.led(Φ)
    return Spread(box, [*runs.ends, (Γ, B)], up(np.maximum(runs.more, more) + away))


def exponential(A: np.ndarray, E: np.ndarray, h: float) -> tuple:
    """(Φ, Q, N^{m+1}E/m!): the truncated exponential of Ah, and what bounds it on |e| ≤ E."""
    Φ = np.broadcast_to(np.eye(A.shape[-1]), A.shape).copy()
    power = Φ
    N = up(h * np.abs(A))
    v = E
    Q = E
    for j in range(1, TERMS + 1):
        power = power @ A * (h / j)
        Φ = Φ + power
        v = np.einsum("rij,rj->ri", N, v) / j
        Q = Q + v
    return Φ, up(Q), up(np.einsum("rij,rj->ri", N, v))


def deviation(end, A, D, Q, truncated, E, h) -> np.ndarray:
    """Bounds of |e(h) − Φ e(0)|, see the module; |Φ e(0)| ≤ end."""
    N = up(h * np.abs(A))
    bent = np.einsum("rij,rj->ri", N, np.einsum("rij,rj->ri", N, Q)) / 8
    P = np.minimum(Q, up(np.maximum(E, end) + bent + ROUNDED * Q))
    direct = up(h * np.einsum("rij,rj->ri", D, P) + truncated)
    H = up(h * (np.abs(A) + D))
    known = np.isfinite(H).all(axis=(1, 2)) & np.isfinite(direct).all(axis=1)
    return held(np.where(known[:, None, None], H, 0.0), direct, known, Q)


def held(H, direct, known, Q) -> np.ndarray:
    """A bound η with direct + H η ≤ η, with the rounding of Φ; ∞ where none is found."""
    safe = np.where(known[:, None], direct, 0.0)
    η = safe
    for _ in range(ITERATIONS):
        η = 1.001 * (safe + np.einsum("rij,rj->ri", H, η)) + LEAST
    back = up(np.einsum("rij,rj->ri", H, η))
    sound = known & (up(safe + back) <= η).all(axis=1)
    return np.where(sound[:, None], up(safe + back + ROUNDED * Q), np.inf)


def left(A, ρ, Q, truncated, h) -> np.ndarray:
    """Bounds η of |e(s) − Φ(s) e(0)| over a step in which ė = A e + δ, |δ| ≤ ρ."""
    direct = up(h * ρ + truncated)
    H = up(h * np.abs(A))
    known = np.isfinite(H).all(axis=(1, 2)) & np.isfinite(direct).all(axis=1)
    return held(np.where(known[:, None, None], H, 0.0), direct, known, Q)


def advanced(program: Program, centre: list, box: list, given: Any, h: float, order: int) -> list:
    """Bounds of the centre's run after h, which stays in the box: Σ_{j<p} c_j h^j + c_p(box) h^p, and the same of order two."""
    n = len(centre)
    points = coefficients(program, centre, given, order)
    boxes = coefficients(program, box, given, order + 1)
    found = []
    for i in range(n):
        high = polynomial(points[i] + [boxes[i][order]], h)
        low = polynomial([points[i][0], points[i][1], boxes[i][2]], h)
        found.append(Interval(np.maximum(high.lo, low.lo), np.minimum(high.hi, low.hi)))
    return found


def coefficients(program: Program, state: list, given: Any, many: int) -> list:
    """The first coefficients of the Taylor series of every state, from ẋ = f: x_{j+1} = f_j/(j + 1)."""
    n = len(state)
    found = [[b] for b in state]
    for j in range(many - 1):
        rates = program.run(series, given([Series(parts) for parts in found]), as_series)[:n]
        for parts, rate in zip(found, rates):
            nth = rate.parts[j] if j < len(rate.parts) else Interval(0.0)
            parts.append(nth / float(j + 1))
    return found


def as_series(x: Interval) -> Series:
    return Series([x])


def polynomial(parts: list, h: float) -> Interval:
    """Σ parts_j h^j, h known to rounding."""
    step = Interval(h * (1 - 4 * UNIT), h * (1 + 4 * UNIT))
    found = parts[-1]
    for part in reversed(parts[:-1]):
        found = part + found * step
    return found
