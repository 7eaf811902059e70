"""Held where its path passes: a loop that is stable at both ends of its path need not be so on the way.

A gain that is too high at one place alone (one part of a curve, one lever arm, one end of the stroke) shows nothing in a run that
passes there: what other starts were off by has died before, and time is too short for it to grow anew. So the loop is held at
rest where a mode grows most on the way, beside PAIR other starts around that place. Where it does not come back it is undecided:
nothing says that it will never be stopped there. What grows in motion alone comes to rest. Dry friction holds small swings, and
what grows in motion is asked from further off, too (`hardly_damped`). So is what hardly decays, where the path turns: the pose
decides how large a push has to be that never dies. A loop without a derivative (a predictive law that linearises anew at every
sample) says nothing of any place, and is held where its path turns whatever its modes are.

Machines and laws of this library change little from one of ROWS rows to the next; what is the user's own may have a narrow curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.linear.modes import Mode
from workbench.verification.linear.passed import growing, seen
from workbench.verification.observed.rest_on_path import CALLED as CALLED_STARTS
from workbench.verification.observed.rest_on_path import FURTHER
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.practical.hardly_damped import (
    hardly_damped,
    lasting_swing,
    more_damping,
    watched,
)
from workbench.verification.practical.reach_seen import foreign, lost, strange
from workbench.verification.practical.starts import PAIR, drawn, sizes
from workbench.verification.practical.turning import at_turns, nearest_wanted
from workbench.verification.run import Run

ROWS = 60  # of a run that are linearised
OWN = 400  # of a run in which the plant, or a law that is an expression, is the user's own
CALLED = 100  # of a law that is called from Python, whose slopes are differences
FEW = 4  # places of what is the user's own, between those


def held_on_the_way(run: Run, spread: float, floor: float, tried: Callable[..., Outcome]) -> str:
    """That the loop, held at some places of its path, does not come back there, in words; "" where it does.

    Held it is where one of its modes grows most, and, where a mode hardly decays anywhere or none is known, where its path turns.
    floor: what its errors may still move by. tried(start, there): what the loop of the run `there` showed from it.
    """
    count, places = _looks(run)
    modes = dict(seen(run, count))
    if not modes:
        everywhere = range(len(run.log.time))
        return at_turns(run, everywhere, lambda row: _unknown(run, row, spread, tried))
    grown = (_held(run, *one, spread, floor, tried) for one in growing(list(modes.items()), places))
    found = next(filter(None, grown), "")
    # They need not hardly decay where it is held: an open valve damps what passes, and dry friction what stands.
    slack = hardly_damped(mode for own in modes.values() for mode in own)
    if found or not slack:
        return found
    return at_turns(run, list(modes), lambda row: _pushed(run, row, tuple(slack), spread, floor))


def _held(
    run: Run, row: int, mode: Mode, spread: float, floor: float, tried: Callable[..., Outcome]
) -> str:
    """That the loop does not come back where it is held at the place of this row, in words; "" where it does, or cannot be held."""
    there = held_at(run, nearest_wanted(run, row))
    if there is None:
        return ""
    why = _lost_around(run, there, spread, PAIR, tried)
    if why == "" and mode.s.imag > 0:
        why = lasting_swing(run, there, spread, floor)
    return _told(run, row, why, mode, "less gain") if why else ""


def _unknown(run: Run, row: int, spread: float, tried: Callable[..., Outcome]) -> str | None:
    """That the loop, of which no mode is known, does not come back where it is held at the place of this row, in words; "" where
    it does: from starts as far off as those of a loop that is hardly damped, which a swing that grows near rest does not pass.
    None where it cannot be held."""
    there = held_at(run, nearest_wanted(run, row))
    if there is None:
        return None
    starts = CALLED_STARTS if run.loop.hosted else PAIR
    why = _lost_around(run, there, FURTHER * spread, starts, tried)
    return _told(run, row, why, None, "less gain") if why else why


def _lost_around(
    run: Run, there: Run, spread: float, count: int, tried: Callable[..., Outcome]
) -> str | None:
    """Why the loop held `there` does not come back from some starts around it, in words; "" where it does, None where none fits."""
    try:
        starts = drawn(there, count, spread, sizes(run, spread))
    except InputError:  # none fits inside the strokes
        return None
    return next(filter(None, (_away(tried(start, there)) for start in starts)), "")


def _pushed(run: Run, row: int, modes: tuple[Mode, ...], spread: float, floor: float) -> str | None:
    """That the loop, held at the place of this row and pushed, swings for ever, in words; "" where it does not, None where nothing
    is seen."""
    there = held_at(run, nearest_wanted(run, row))
    if there is None:
        return None
    length = min(watched(modes), run.scenario.length())
    swing = lasting_swing(run, there, spread, floor, length)
    return _told(run, row, swing, modes[0], more_damping(run), "on the way") if swing else swing


def _told(run: Run, row: int, why: str, mode: Mode | None, mend: str, where: str = "there") -> str:
    """In words, what the loop does where it is held, a mode there or elsewhere, and what to do about it."""
    t = say(float(run.log.time[row]), "s", 4)
    linearised = f"linearised {where}, a mode {mode.words}; " if mode else ""
    return (
        f"held where its path passes at t = {t}, {why}; {linearised}"
        f"let the path rest there to see it, or give the law {mend}"
    )


def _away(outcome: Outcome) -> str:
    """Why the loop does not come back, in words; "" where it does. Pressures that creep to their balance move nothing."""
    places = tuple(one for one in outcome.found if not one.signal.pressure)
    return lost(replace(outcome, found=places))


def _looks(run: Run) -> tuple[int, int]:
    """(how many rows are linearised, at how many places the loop is held beside those at which it grows most)."""
    if run.loop.hosted:
        return CALLED, FEW
    if strange(run.loop.plant) or foreign(run.loop.controller):
        return OWN, FEW
    return ROWS, 0
