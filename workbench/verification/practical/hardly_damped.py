"""Hardly damped modes: a small swing decays, a larger one may last.

    −Re s < DAMPED · |s|        a mode s that swings, at an operating point of the run, or with its joints set in motion

Dry friction damps small swings about rest strongly; for larger ones its force no longer grows with the speed, and the loop itself
has to damp them. With a long delay, valves at their limits correct a large swing too late. Rest and a limit cycle can then exist
side by side. So a loop with such a mode is also held where its path ends, with starts FURTHER times as far off. If it then swings
for ever, a bump could do the same, and the verdict is undecided. For an endless path see `observed.rest_on_path`.
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
WATCHED = 20.0  # time constants (or periods, where longer) of the slowest such mode for which the loop is watched


def more_damping(run: Run) -> str:
    """Advice for a hardly damped loop; it names the law's setting for damping, where there is one."""
    law = innermost(run.loop.controller)
    named = f" ({law.damped_by})" if isinstance(law, LawData) and law.damped_by else ""
    return f"more damping{named}, or less gain"


def swings_on(run: Run, modes: Modes, spread: float, floor: float) -> str:
    """In words, that the loop held where its path ends swings for ever from a start further off; "" where it does not.

    floor: largest motion that counts as standing still, in the unit of the errors.
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
    """In words, the swing that lasts while the loop is held `there`, from starts FURTHER times as far off.

    "" where none lasts, None where nothing is seen. Periodic disturbances are left out, as the response to them swings as well.
    floor, length: as for `hunting_from`.
    """
    found = hunting_from(run, calmed(there), spread, RUNS, floor, length=length, further=FURTHER)
    if found is None or not found.lasts:
        return None if found is None else ""
    return f"from a start {FURTHER:g} times as far off, {told_swing(there, found)}"


def hardly_damped(modes: Iterable[Mode]) -> list[Mode]:
    """Modes that swing with less damping than DAMPED, the least damped first, without those of a queue of commands alone."""
    return sorted((m for m in modes if _of_states(m) and _damping(m) < DAMPED), key=_damping)


def least_damped(modes: Modes) -> tuple[Mode | None, str]:
    """(the mode that swings with the least damping, where), where that is less than DAMPED; (None, "") else."""
    found = [(m, place.where) for place in modes.places for m in hardly_damped(place.modes)]
    return min(found, key=lambda one: _damping(one[0]), default=(None, ""))


def watched(modes: Iterable[Mode]) -> float:
    """Time [s] for which a loop with these modes is watched; 0 where none of them is hardly damped."""
    slowest = (max(m.time_constant, m.period) for m in hardly_damped(modes))
    return WATCHED * max(slowest, default=0.0)


def _of_states(mode: Mode) -> bool:
    """Whether a mode swings, and states that have names take part in it."""
    return mode.s.imag > 0 and not mode.aside and bool(mode.states)


def _damping(mode: Mode) -> float:
    """Damping ratio of a mode, 1 for critical damping, negative where it grows."""
    return -mode.s.real / abs(mode.s)
