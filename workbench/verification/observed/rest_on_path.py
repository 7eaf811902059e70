"""Rest on a path that never rests: what a loop under an endless reference does where it is held.

Play, a dead zone or dry friction under integral action hunt at rest, and a sine that moves on and on hides it. So the loop is held
where its path begins, from another start, and its errors are looked at as at the end of a path that ends (`settled`). What hunts
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
from workbench.verification.run import Run
from workbench.verification.run import run as simulated

SHORTEST = 8.0  # s: how long it is held at least
FURTHER = 3.0  # times the spread of other starts
MEND = "let the path rest, or say that it never does (`rest: false`)"


def hunts_at_rest(run: Run, floor: float) -> str:
    """In words, the limit cycle of this loop held where its path begins; "" for none, and of a path that rests by itself."""
    there = held_at(run, 0) if _moves_for_ever(run) else None
    if there is None or there.loop.plant.no_other_starts:
        return ""
    for spread in (SPREAD, FURTHER * SPREAD):
        widest = _widest(run, there, spread, floor)
        if widest is not None and widest.word == "restless":
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


def _widest(run: Run, there: Run, spread: float, floor: float) -> Rest | None:
    """The error that moves most of a run's loop, held `there`; None where the loop cannot be held there."""
    length = max(run.scenario.length(), SHORTEST)
    try:
        (start,) = drawn(there, 1, spread)
        long = replace(there.scenario, duration=2 * length)
        seen = simulated(there.loop, scenario_from(there, start, long))
    except InputError:
        return None
    if seen.end:
        return None
    return max(rests(seen, length, floor), key=lambda r: r.width, default=None)
