"""Where to look next: corners and an even spread first, then down the slope and CMA-ES from the nearest run, and anew.

Places are vectors in [−1, 1]ⁿ. A generation is as many runs as go side by side in the lanes of one core. Where the score has a
slope, a generation lies down that slope, at distances from FARTHEST halved each time, and again where it gained much; then CMA-ES
goes on from the nearest. A restart begins at the nearest of FIRST places drawn at random.

Source: [Hansen16] for CMA-ES, by the library cma; Sobol's sequence by SciPy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

Slope = Callable[[np.ndarray], np.ndarray | None]

CORNERS = 8  # corners of the box that are tried, drawn at random where it has more
SPREAD = 0.25  # first standard deviation of CMA-ES, half a range being 1
FIRST = 16  # places before CMA-ES
GENERATION = 8  # places of CMA-ES at once
PATIENCE = 6  # generations
# A step from a place down its slope, in half sides of the box: what leaves the box stops at its sides.
FARTHEST = 8.0
# Share of a score: a generation down the slope that leaves no more of it is worth another.
MUCH = 0.5
PROGRESS = 0.05  # share of the best score that so many generations have to gain


def minimise(
    dimensions: int,
    values: Callable[[np.ndarray], np.ndarray],
    budget: int,
    seed: int,
    enough: Callable[[np.ndarray], bool],
    slope: Slope | None = None,
) -> None:
    """Call `values` (places (k, n) → scores (k,)) on generation after generation.

    It ends when `budget` places were asked for, or `enough` (given the latest scores) says so. slope: of the score at a place
    (n,), None where it has none; it is no place.
    """
    rng = np.random.default_rng(seed)
    places = _first(dimensions, min(FIRST, budget), rng)
    left = budget
    while len(places):
        scores = values(places)
        left -= len(places)
        if left <= 0 or enough(scores):
            return
        begin = places[int(np.argmin(scores))]
        if slope is not None:
            begin, used, scores = _down(begin, float(np.min(scores)), values, slope, left, enough)
            left -= used
            if left <= 0 or enough(scores):
                return
        used, scores = _evolved(begin, values, left, int(rng.integers(1, 2**31)), enough)
        left -= used
        if enough(scores):
            return
        places = rng.uniform(-1.0, 1.0, (min(FIRST, left), dimensions))


def _first(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Corners, then an even spread."""
    from scipy.stats import qmc

    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * min(n, 12))).reshape(min(n, 12), -1).T
    if n > 12:
        signs = rng.choice([-1.0, 1.0], (CORNERS, n))
    corners = rng.permutation(signs)[: min(CORNERS, count)]
    rest = count - len(corners)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the number of points is no power of two
        even = 2 * qmc.Sobol(n, seed=rng).random(rest) - 1 if rest else np.zeros((0, n))
    return np.vstack([corners, even])


def _down(
    begin: np.ndarray,
    low: float,
    values: Callable[[np.ndarray], np.ndarray],
    slope: Slope,
    most: int,
    enough: Callable[[np.ndarray], bool],
) -> tuple[np.ndarray, int, np.ndarray]:
    """(nearest place, places asked for, latest scores) down the slope from `begin`, whose score is `low`."""
    used = 0
    scores = np.array([low])
    reaches = FARTHEST / 2.0 ** np.arange(GENERATION)
    while used < most:
        steep = slope(begin)
        if steep is None:
            break
        places = steepest(begin, steep, reaches)[: most - used]
        scores = values(places)
        used += len(places)
        best = int(np.argmin(scores))
        if enough(scores) or not scores[best] < low:
            break
        gained = scores[best] < MUCH * low
        begin = places[best]
        low = float(scores[best])
        if not gained:
            break
    return begin, used, scores


def steepest(place: np.ndarray, slope: np.ndarray, reaches: np.ndarray) -> np.ndarray:
    """Places down a slope: the direction that matters most goes so far, what would leave the box stops at its side."""
    way = -slope / np.abs(slope).max()
    return np.clip(place + np.outer(reaches, way), -1.0, 1.0)


def _evolved(
    begin: np.ndarray,
    values: Callable[[np.ndarray], np.ndarray],
    most: int,
    seed: int,
    enough: Callable[[np.ndarray], bool],
) -> tuple[int, np.ndarray]:
    """(places asked for, latest scores) of CMA-ES from `begin` until it gains no more."""
    import cma

    n = len(begin)
    whole = max(n, 2)  # the library wants two dimensions: a second one that does nothing
    options = {
        "bounds": [-1.0, 1.0],
        "popsize": GENERATION,
        "seed": seed,
        "verbose": -9,
        "tolx": 1e-3,
        "tolfun": 1e-6,
    }
    start = np.zeros(whole)
    start[:n] = 0.98 * begin
    search = cma.CMAEvolutionStrategy(start, SPREAD, options)
    used = 0
    scores = np.array([np.inf])
    best = np.inf
    since = 0
    while used < most and not search.stop():
        asked = search.ask()
        scores = values(np.array([place[:n] for place in asked[: most - used]]))
        used += len(scores)
        if enough(scores) or len(scores) < len(asked):
            break
        low = min(float(np.min(scores)), 1e6)
        gained = low < best - PROGRESS * abs(best) if np.isfinite(best) else True
        since = 0 if gained else since + 1
        best = min(best, low)
        if since >= PATIENCE:
            break
        search.tell(asked, [float(min(s, 1e6)) for s in scores])
    return used, scores
