"""Whether the loop would come back if it stopped on its path: stable at both ends of a path, it may be unstable on the way.

A run does not show a gain that is too high at one place only (a part of a curve, a lever arm, an end of the stroke): the deviation
of the start has decayed before, and a new one has no time to grow. So the loop is linearised at many rows of the run and held at
rest:

  1. where a mode grows most, with PAIR other starts around that place. If the mode swings, also with starts FURTHER times as far
     off (`hardly_damped`), since dry friction damps small swings;
  2. where a mode is hardly damped anywhere, at the turns of the path, with a push: how large a push must be to swing for ever
     depends on the pose;
  3. at the turns of the path, where no mode is known: the loop has no derivative, as under a predictive law that linearises anew at
     every sample.

If the loop does not come back, the verdict is undecided, as nothing says that the machine will never be stopped there. Machines and
laws of this library change little from one of ROWS rows to the next; a user's own may change faster, and gets more rows.
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

ROWS = 60  # rows of a run that are linearised
OWN = 400  # the same for a user's own plant, or a user's own law that is an expression
CALLED = 100  # the same for a law called from Python, whose slopes are differences
FEW = 4  # further places at which a user's own loop is held, between those where a mode grows most


def held_on_the_way(run: Run, spread: float, floor: float, tried: Callable[..., Outcome]) -> str:
    """In words, that the loop, held on its path, does not come back; "" where it does.

    spread: size of other starts. floor: largest motion that counts as standing still, in the unit of the errors. tried(start,
    there): the Outcome of a run from `start` of the loop of the run `there`.
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
    """In words, that the loop held at this row's place, where `mode` grows, does not come back; "" where it does or cannot be."""
    there = held_at(run, nearest_wanted(run, row))
    if there is None:
        return ""
    why = _lost_around(run, there, spread, PAIR, tried)
    if why == "" and mode.s.imag > 0:
        why = lasting_swing(run, there, spread, floor)
    return _told(run, row, why, mode, "less gain") if why else ""


def _unknown(run: Run, row: int, spread: float, tried: Callable[..., Outcome]) -> str | None:
    """In words, that the loop held at this row's place does not come back; "" where it does, None where it cannot be held there.

    No mode is known here, so the starts are as far off as those of a hardly damped loop; a swing that grows near rest does not
    escape them.
    """
    there = held_at(run, nearest_wanted(run, row))
    if there is None:
        return None
    starts = CALLED_STARTS if run.loop.hosted else PAIR
    why = _lost_around(run, there, FURTHER * spread, starts, tried)
    return _told(run, row, why, None, "less gain") if why else why


def _lost_around(
    run: Run, there: Run, spread: float, count: int, tried: Callable[..., Outcome]
) -> str | None:
    """In words, why the loop held `there` does not come back from starts around it; "" where it does, None where no start fits."""
    try:
        starts = drawn(there, count, spread, sizes(run, spread))
    except InputError:  # none fits inside the strokes
        return None
    return next(filter(None, (_away(tried(start, there)) for start in starts)), "")


def _pushed(run: Run, row: int, modes: tuple[Mode, ...], spread: float, floor: float) -> str | None:
    """In words, that the loop held at this row's place swings for ever after a push; "" where not, None where nothing is seen."""
    there = held_at(run, nearest_wanted(run, row))
    if there is None:
        return None
    length = min(watched(modes), run.scenario.length())
    swing = lasting_swing(run, there, spread, floor, length)
    return _told(run, row, swing, modes[0], more_damping(run), "on the way") if swing else swing


def _told(run: Run, row: int, why: str, mode: Mode | None, mend: str, where: str = "there") -> str:
    """The sentence: when the path passes the place, what the loop does there (`why`), a mode of it, what to do about it."""
    t = say(float(run.log.time[row]), "s", 4)
    linearised = f"linearised {where}, a mode {mode.words}; " if mode else ""
    return (
        f"held where its path passes at t = {t}, {why}; {linearised}"
        f"let the path rest there to see it, or give the law {mend}"
    )


def _away(outcome: Outcome) -> str:
    """In words, why the loop does not come back; "" where it does. Pressures are left out: creeping to balance moves nothing."""
    places = tuple(one for one in outcome.found if not one.signal.pressure)
    return lost(replace(outcome, found=places))


def _looks(run: Run) -> tuple[int, int]:
    """(number of rows to linearise, number of further places to hold the loop at), by whose machine and law these are."""
    if run.loop.hosted:
        return CALLED, FEW
    if strange(run.loop.plant) or foreign(run.loop.controller):
        return OWN, FEW
    return ROWS, 0
