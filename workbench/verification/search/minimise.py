"""Where to look next: corners and an even spread first, then CMA-ES from the nearest run, restarted where it gains no more.

Places are vectors in [−1, 1]ⁿ. A generation is as many runs as go side by side in the lanes of one core. A restart begins at the
nearest of FIRST places drawn at random.

Source: [Hansen16] for CMA-ES, by the library cma; Sobol's sequence by SciPy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

CORNERS = 8  # of the box, at most, drawn at random in a box of more
SPREAD = 0.25  # first standard deviation of CMA-ES, half a range being 1
FIRST = 16  # places before CMA-ES
GENERATION = 8  # places of CMA-ES at once
PATIENCE = 6  # generations
PROGRESS = 0.05  # of the best score that so many generations have to gain


def minimise(
    dimensions: int,
    values: Callable[[np.ndarray], np.ndarray],
    budget: int,
    seed: int,
    enough: Callable[[np.ndarray], bool],
) -> None:
    """Call `values` (places (k, n) → scores (k,)) on generation after generation.

    It ends when `budget` places were asked for, or `enough` (given the latest scores) says so.
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
    used, scores = 0, np.array([np.inf])
    best, since = np.inf, 0
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
