"""Swings that decay slowly: small ones die, and larger ones may last.

    −Re s < DAMPED · |s|        of a mode s that swings, at an operating point of the run or set in motion

Where a joint stands, dry friction is steep and damps whatever is small; where it moves, or swings on further, its force no longer
grows, and what damps is what is left of the loop. Behind a long delay valves that reach their limits bring a large swing too late,
and rest and a limit cycle lie side by side. So a loop with such a mode is also held where its path ends, from starts FURTHER times
as far off. Where it then swings for ever, the starts near its path have shown nothing that a bump could not end: undecided.
`observed.rest_on_path` asks that of an endless path where it begins.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.contract.declared import LawData
from workbench.contract.system import innermost
from workbench.verification.linear.modes import Mode, Modes
from workbench.verification.observed.rest_on_path import FURTHER, calmed, hunting_from, told_swing
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.run import Run

DAMPED = 0.1  # least share of critical damping
RUNS = 2
WATCHED = 20.0  # time constants, or periods where these are longer, of the slowest of them until it has died or lasts


def more_damping(run: Run) -> str:
    """What a law should be given whose loop hardly decays; with the setting that does it where the law has one."""
    law = innermost(run.loop.controller)
    named = f" ({law.damped_by})" if isinstance(law, LawData) and law.damped_by else ""
    return f"more damping{named}, or less gain"


def swings_on(run: Run, modes: Modes, spread: float, floor: float) -> str:
    """That the loop, held where its path ends, swings for ever from a start further off, in words; "" where it does not.

    floor: what its errors may still move by.
    """
    mode, where = least_damped(modes)
    there = None if mode is None else held_at(run, -1)
    if mode is None or there is None:
        return ""
    everywhere = (mode for place in modes.places for mode in place.modes)
    length = min(watched(everywhere), run.scenario.length())
    swing = lasting_swing(run, there, spread, floor, length)
    if not swing:
        return ""
    return f"held where its path ends, {swing}; linearised, {where}, a mode {mode.words}; give the law {more_damping(run)}"


def lasting_swing(
    run: Run, there: Run, spread: float, floor: float, length: float | None = None
) -> str | None:
    """The swing that lasts where a run's loop is held `there`, from starts FURTHER times as far off, in words; "" for none, None
    where nothing is seen there.

    What pushes for ever is left out: its own response swings, too. floor, length: as `hunting_from` takes them.
    """
    found = hunting_from(run, calmed(there), spread, RUNS, floor, length=length, further=FURTHER)
    if found is None or not found.lasts:
        return None if found is None else ""
    return f"from a start {FURTHER:g} times as far off, {told_swing(there, found)}"


def hardly_damped(modes: Iterable[Mode]) -> list[Mode]:
    """Modes that swing with less damping than DAMPED, the one with the least first.

    What swings in a queue of commands alone is no swing of the machine.
    """
    return sorted((m for m in modes if _of_states(m) and _damping(m) < DAMPED), key=_damping)


def least_damped(modes: Modes) -> tuple[Mode | None, str]:
    """(the mode that swings with the least damping, where), where that is less than DAMPED; (None, "") else."""
    found = [(m, place.where) for place in modes.places for m in hardly_damped(place.modes)]
    return min(found, key=lambda one: _damping(one[0]), default=(None, ""))


def watched(modes: Iterable[Mode]) -> float:
    """For how long, s, the hardly damped ones of some modes are watched; 0 where there are none."""
    slowest = (max(m.time_constant, m.period) for m in hardly_damped(modes))
    return WATCHED * max(slowest, default=0.0)


def _of_states(mode: Mode) -> bool:
    """Whether a mode swings, and states that have names take part in it."""
    return mode.s.imag > 0 and not mode.aside and bool(mode.states)


def _damping(mode: Mode) -> float:
    """As a share of critical damping; negative where the mode grows."""
    return -mode.s.real / abs(mode.s)
