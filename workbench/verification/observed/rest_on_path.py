"""Rest on a path that never rests: what a loop under an endless reference does where it is held.

Play, a dead zone or dry friction under integral action hunt at rest, and a sine that moves on and on hides it. So the loop is held
where its path begins, from other starts, and its errors are looked at as at the end of a path that ends (`settled`). What hunts
there leaves the claim undecided: the scenario does not ask for rest. Dry friction lets a small swing die and leaves a larger one:
the loop is held from a start FURTHER times as far off, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.capabilities import Varies, ends
from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.observed.at_rest import pushed
from workbench.verification.observed.oscillation import pace
from workbench.verification.observed.response import driven
from workbench.verification.observed.tail import Rest, rests
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.practical.starts import SPREAD, drawn, scenario_from
from workbench.verification.run import Run, run_many

SHORTEST = 8.0  # s: how long it is held at least
FURTHER = 3.0  # times the spread of other starts
NEAR, FAR = 6, 2  # starts as far off as others, and further off
CALLED = 1  # starts of a loop whose law is called from Python, where a run takes seconds
MEND = "let the path rest, or say that it never does (`rest: false`)"


def hunts_at_rest(run: Run, floor: float) -> str:
    """In words, the limit cycle of this loop held where its path begins; "" for none, and of a path that rests by itself."""
    there = held_at(run, 0) if _moves_for_ever(run) else None
    if there is None or there.loop.plant.no_other_starts:
        return ""
    for spread, runs in ((SPREAD, NEAR), (FURTHER * SPREAD, FAR)):
        few = min(runs, CALLED) if run.loop.hosted else runs
        widest = hunting_from(run, there, spread, few, floor)
        if widest is not None:
            return _told(run, widest, spread)
    return ""


def _told(run: Run, widest: Rest, spread: float) -> str:
    unit = run.log.signal(widest.name).unit
    width = say(0.5 * widest.width, unit, 3)
    off = f" from a start {FURTHER:g} times as far off" if spread > SPREAD else ""
    swing = f"{widest.name} swings by {width}{pace(widest.frequency)}"
    return f"its path never rests; held where it begins{off}, {swing}: {MEND}"


def _moves_for_ever(run: Run) -> bool:
    """Whether the reference alone keeps the loop from coming to rest."""
    reference = run.demand.reference
    endless = isinstance(reference, Varies) and not np.isfinite(ends(reference))
    return endless and not pushed(run) and not driven(run)


def hunting_from(run: Run, there: Run, spread: float, runs: int, floor: float) -> Rest | None:
    """The error that hunts most of a run's loop, held `there` from some starts; None where none does, or it cannot be held."""
    length = max(run.scenario.length(), SHORTEST)
    long = replace(there.scenario, duration=2 * length)
    try:
        starts = drawn(there, runs, spread)
        jobs = [(run.loop, scenario_from(there, start, long)) for start in starts]
        found = run_many(jobs, lambda seen: _hunting(seen, length, floor))
    except InputError:
        return None
    return max((one for one in found if one is not None), key=lambda r: r.width, default=None)


def _hunting(seen: Run, begin: float, floor: float) -> Rest | None:
    """The error that hunts most from an instant on; None where none does, or the run came to a bad end."""
    hunts = [] if seen.end else [r for r in rests(seen, begin, floor) if r.word == "restless"]
    return max(hunts, key=lambda r: r.width, default=None)
