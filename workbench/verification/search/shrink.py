"""Shrinking of a counter-example: the fewest and smallest deviations from the nominal case that still violate the requirement.

A deviation is a place in [−1, 1]ⁿ, 0 where nothing deviates. First each direction is put back on its nominal value, the smallest
deviation first; then all that are left shrink together, then each by itself, by bisection.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

HALVINGS = 6  # halvings of the distance to the nominal value


def shrunk(place: np.ndarray, violates: Callable[[np.ndarray], bool]) -> np.ndarray:
    """A place nearer to 0 that violates; `violates` runs the loop there."""
    found = np.array(place, dtype=float)
    for i in np.argsort(np.abs(found)):
        without = found.copy()
        without[i] = 0.0
        if without.any() and violates(without):
            found = without
    found = _nearer(found, np.flatnonzero(found), violates)
    for i in np.flatnonzero(found):
        found = _nearer(found, [i], violates)
    return found


def _nearer(place: np.ndarray, which, violates: Callable[[np.ndarray], bool]) -> np.ndarray:
    """The entries `which` scaled down together, as far as bisection finds that it still violates."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = place.copy()
        tried[which] *= middle
        if violates(tried):
            high = middle
        else:
            low = middle
    found = place.copy()
    found[which] *= high
    return found
