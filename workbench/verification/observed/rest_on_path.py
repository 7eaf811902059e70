"""Rest on a path that never rests: what a loop under an endless reference, or on a swell, does where it is held.

Play, a dead zone or dry friction under integral action hunt at rest, and what moves on and on hides it. So the loop is held
where its path begins, from other starts, and its errors are looked at as at the end of a path that ends (`settled`). What hunts
there leaves the claim undecided: the scenario does not ask for rest. Dry friction lets a small swing die and leaves a larger one:
the loop is held from a start FURTHER times as far off, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.observed.at_rest import never_ends, pushed
from workbench.verification.observed.oscillation import pace
from workbench.verification.observed.response import moves_in_time
from workbench.verification.observed.tail import RANK, Rest, rests
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.practical.starts import (
    SPREAD,
    Start,
    displaced,
    drawn,
    outermost,
    scenario_from,
    sizes,
)
from workbench.verification.run import Run, run_many
from workbench.verification.run_claims import Settled

SHORTEST = 8.0  # s: how long it is held at least
FURTHER = 3.0  # times the spread of other starts
NEAR, FAR = 6, 2  # starts as far off as others, and further off
HALF = 0.5  # of a chamber's pressure: by how much it is off at most
CALLED = 1  # starts of a loop whose law is called from Python, where a run takes seconds
MEND = "let the path rest, or say that it never does (`rest: false`)"


def hunts_at_rest(run: Run, floor: float, longest: float = Settled.longest) -> str:
    """In words, the limit cycle of this loop held where its path begins, with what pushes it for ever left out; "" for none.

    Nothing is said of a loop that comes to rest by itself, nor of a plant that moves in time. longest: s of rest, at most.
    """
    if moves_in_time(run) or not (never_ends(run.demand.reference) or pushed(run)):
        return ""
    there = held_at(calmed(run), 0)
    if there is None or there.loop.plant.no_other_starts:
        return ""
    for further, runs in ((1.0, NEAR), (FURTHER, FAR)):
        few = min(runs, CALLED) if run.loop.hosted else runs
        widest = hunting_from(run, there, SPREAD, few, floor, longest, further=further)
        if widest is not None:
            return _told(run, widest, further)
    return ""


def _told(run: Run, widest: Rest, further: float) -> str:
    unit = run.log.signal(widest.name).unit
    width = say(0.5 * widest.width, unit, 3)
    off = f" from a start {further:g} times as far off" if further > 1.0 else ""
    swing = f"{widest.name} swings by {width}{pace(widest.frequency)}"
    moves, calm = "its path never rests", ""
    if pushed(run):
        moves, calm = "what pushes it never rests", " without it"
    return f"{moves}; held where it begins{calm}{off}, {swing}: {MEND}"


def calmed(run: Run) -> Run:
    """The run, its scenario without what pushes for ever."""
    pushes = run.scenario.disturbances.items()
    ends = {name: push for name, push in pushes if not never_ends(push)}
    return replace(run, scenario=replace(run.scenario, disturbances=ends), demanded=None)


def hunting_from(
    run: Run,
    there: Run,
    spread: float,
    runs: int,
    floor: float,
    longest: float = Settled.longest,
    length: float | None = None,
    further: float = 1.0,
) -> Rest | None:
    """The error that hunts most of a run's loop, held `there` from some starts, and from pairs at which positions alone, and at
    which everything, is off by all of its amount: the first begin at rest, the others are pushed, with no pressure at balance.

    None where none does, or it cannot be held. length: s until it is looked at, and of rest that are looked at first; that of the
    scenario by default, SHORTEST at least. further: times as far off as other starts are.

    Runs in which something still decays or creeps are made longer, up to `longest` (s) of rest.
    """
    length = max(run.scenario.length() if length is None else length, SHORTEST)
    try:
        amounts = _amounts(there, spread, further)
        todo = drawn(there, runs, spread, amounts)
        if not run.loop.hosted:
            todo += displaced(there, amounts) + outermost(there, amounts)
        while todo:
            found = _held_for(length, run, there, todo, floor)
            hunts = [rest for rest in found if rest is not None and rest.word == "restless"]
            if hunts:
                return max(hunts, key=lambda rest: rest.width)
            if length >= longest:
                break
            moves = [rest is not None and rest.word != "still" for rest in found]
            todo = [start for start, moving in zip(todo, moves) if moving]
            length = min(2 * length, longest)
    except InputError:
        pass
    return None


def _amounts(there: Run, spread: float, further: float) -> dict[str, float]:
    """By how much states are off, name → amount; a pressure by no more than HALF of what it is, or by what other starts have."""
    found = {}
    for name, size in sizes(there, spread).items():
        amount = further * size
        if name in there.loop.plant.pressure_names:
            amount = min(amount, max(size, HALF * abs(float(there.log.array(name)[0]))))
        found[name] = amount
    return found


def _held_for(
    length: float, run: Run, there: Run, starts: Sequence[Start], floor: float
) -> list[Rest | None]:
    """What moves most from an instant (s) on, in runs from some starts that last twice as long."""
    long = replace(there.scenario, duration=2 * length)
    jobs = [(run.loop, scenario_from(there, start, long)) for start in starts]
    return run_many(jobs, lambda seen: _moving(seen, length, floor))


def _moving(seen: Run, begin: float, floor: float) -> Rest | None:
    """The error that moves most from an instant on; None of a run that did not reach its end.

    A swing that leaves the stroke and lasts is one, too: nothing stops a piston there. One that leaves it once, and rests, is none.
    """
    found = rests(seen, begin, floor) if seen.log.status.completed else []
    most = max(found, key=lambda rest: (RANK[rest.word], rest.width), default=None)
    return None if most is not None and most.word != "restless" and seen.end else most
