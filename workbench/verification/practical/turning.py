"""Where a path turns: the places of a run at which a loop is held to see what it does there.

The first is the one furthest from where the path ends (an endless one: begins), the next the one furthest from there. At a place
that shows nothing (the loop cannot stand there, or every start around it leaves a stroke) it is not held, and what is furthest
beyond is taken instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run

TURNS = 2  # places where the path turns, at most
TRIES = 6  # places that are tried for them, at most
SAME = 0.05**2  # how far from the end of the path another place is, in squares of what it covers


def at_turns(
    run: Run, rows: Sequence[int], asked: Callable[[int], str | None], here: int = -1
) -> str:
    """The first that is said of some of these rows where the path turns, in words; "" where nothing is.

    asked(row): what is said of the loop held there, "" for nothing, None where nothing is seen there.
    here: the row from which the first one is furthest.
    """
    left = np.array(rows, int)
    held = 0
    for _ in range(TRIES):
        far = apart(run, here)[left]
        left, far = left[far > SAME], far[far > SAME]
        if held == TURNS or not len(left):
            break
        place = int(left[far.argmax()])
        said = asked(place)
        if said:
            return said
        if said is None:
            left = left[apart(run, place)[left] > SAME]
        else:
            here, held = place, held + 1
    return ""


def apart(run: Run, row: int, later: bool = False) -> np.ndarray:
    """How far every row is from where the machine is at this one: Σ of squares, in ranges of what follows a reference.

    later: how far its reference is from there.
    """
    found = np.zeros(len(run.log.time))
    for name, error in joint_errors(run).items():
        place = run.log.array(name)
        size = max(float(np.ptp(place)), 1e-300)
        wanted = place + error if later else place
        found += ((wanted - place[row]) / size) ** 2
    return found


def nearest_wanted(run: Run, row: int) -> int:
    """The row at which the reference is nearest to where the machine is at this row: a loop that lags gets there later."""
    return int(np.argmin(apart(run, row, later=True)))
