"""Instants after a run at which a comparison with time changes its side.

A law or a plant that turns for some seconds after an hour does so between most instants that are drawn at random. Its
comparisons say when. The margin m(t) of one, everything else held, is looked at along a grid; between instants of it that lie on
two sides, and beside those at which |m| is least, it is looked for the place where the other side begins.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.verification.practical.later.stray import until

GRID = 400  # instants
FIRST = 16  # every so many of them are looked at first: margins that know no time do not change
FEW = 4  # changes of one margin, the first ones
ROUNDS = 7  # rounds of looking between two instants, at PARTS points each
PARTS = 16

# Instants (N,) → margins (k, N); NaN where a comparison is not come to.
Margins = Callable[[np.ndarray], np.ndarray]


def crossings(margins: Margins, length: float) -> list[float]:
    """Instants (s) just behind the first changes of side of every margin, after a run of this length."""
    times = np.geomspace(length, until(length), GRID)
    coarse = _seen(margins, times[::FIRST])
    if not coarse.size or (coarse == coarse[:, :1]).all():
        return []
    found = []
    for k, values in enumerate(_seen(margins, times)):
        one = lambda at, k=k: _seen(margins, at)[k]
        places = (_behind(one, times[i - 1], times[i + 1]) for i in _places(values)[:FEW])
        found += [t for t in places if t is not None]
    return found


def _seen(margins: Margins, times: np.ndarray) -> np.ndarray:
    """The margins; one that is not come to is as far off as can be."""
    return np.nan_to_num(margins(times), nan=np.inf)


def _places(values: np.ndarray) -> list[int]:
    """Inner places beside which a margin changes its side, or is nearest to its edge."""
    sides = np.sign(values)
    size = np.abs(values)
    changes = (sides[1:-1] != sides[:-2]) | (sides[1:-1] != sides[2:])
    nearest = (size[1:-1] < size[:-2]) & (size[1:-1] < size[2:])
    return (1 + np.flatnonzero(changes | nearest)).tolist()


def _behind(margin: Callable[[np.ndarray], np.ndarray], begin: float, end: float) -> float | None:
    """The first instant between these that lies on the other side than `begin`; None for none."""
    crossed = False
    first, last = margin(np.array([begin, end]))
    side = np.sign(first) or -np.sign(last)
    for _ in range(ROUNDS):
        times = np.linspace(begin, end, PARTS + 1)
        values = margin(times)
        beyond = side * values < 0
        crossed = bool(beyond.any())
        place = int(np.argmax(beyond)) if crossed else int(np.argmin(np.abs(values)))
        begin = float(times[max(place - 1, 0)])
        end = float(times[place if crossed else min(place + 1, PARTS)])
    return end if crossed else None
