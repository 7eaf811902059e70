"""The turns of a path: places of a run, far from each other, at which a loop is held at rest to see what it does there.

The first is the place furthest from the end of the path (of an endless one: from its beginning), the second the one furthest from
the first. Then come places far from all of these, since a path of several joints turns at more than two places, and oil is softest
in the middle of a stroke. A place that shows nothing, because the loop cannot stand there or every start around it leaves a stroke,
is replaced by the next furthest one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run

TURNS = 4  # places where the path turns, at most
ENDS = 2  # of them are sought from each other
TRIES = 8  # places that are tried for them, at most
SAME = 0.05**2  # how far from the end of the path another place is, in squares of what it covers
OTHER = 0.2  # how far from all others a further one is: the middle of a straight path is 0.25 from both ends


def at_turns(
    run: Run, rows: Sequence[int], asked: Callable[[int], str | None], here: int = -1
) -> str:
    """The first that is said of some of these rows where the path turns, in words; "" where nothing is.

    asked(row): what is said of the loop held there, "" for nothing, None where nothing is seen there.
    here: the row from which the first one is furthest.
    """
    left = np.array(rows, int)
    far = near = apart(run, here)
    held = 0
    for _ in range(TRIES):
        ends = held < ENDS
        left = left[near[left] > (SAME if ends else OTHER)]
        if held == TURNS or not len(left):
            break
        place = int(left[(far if ends else near)[left].argmax()])
        said = asked(place)
        if said:
            return said
        around = apart(run, place)
        if said is None:
            left = left[around[left] > SAME]
            continue
        far = around
        near = np.minimum(near, around)
        held += 1
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
