"""Instants after a run at which a comparison with time changes its side.

Instants drawn at random would miss a law or plant that changes for some seconds after an hour; its comparisons tell when. The
margin m(t) of each, with everything else held, is evaluated on a grid of times. Where its sign changes between neighbours, and
where |m| has a minimum, the first instant on the other side is bracketed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.verification.practical.later.stray import until

GRID = 400  # instants
FIRST = (
    16  # every 16th of them is evaluated first: margins that do not depend on time are equal there
)
FEW = 4  # changes of one margin that are returned, the first ones
ROUNDS = 7  # times that a change is bracketed, by PARTS points each time
PARTS = 16

# Instants (N,) → margins (k, N); NaN where a comparison is not come to.
Margins = Callable[[np.ndarray], np.ndarray]


def crossings(margins: Margins, length: float) -> list[float]:
    """Instants [s] just after the first changes of sign of every margin, later than a run of this length [s]."""
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
    """The margins; ∞ for a comparison that is not reached."""
    return np.nan_to_num(margins(times), nan=np.inf)


def _places(values: np.ndarray) -> list[int]:
    """Inner places of the grid next to which a margin changes its sign, or has a minimum of its size."""
    sides = np.sign(values)
    size = np.abs(values)
    changes = (sides[1:-1] != sides[:-2]) | (sides[1:-1] != sides[2:])
    nearest = (size[1:-1] < size[:-2]) & (size[1:-1] < size[2:])
    return (1 + np.flatnonzero(changes | nearest)).tolist()


def _behind(margin: Callable[[np.ndarray], np.ndarray], begin: float, end: float) -> float | None:
    """The first instant between begin and end on the other side than `begin`; None where there is none."""
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
