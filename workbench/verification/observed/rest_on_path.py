"""A loop with an endless path (or on a swell), held at rest: does it hunt there?

Play, a dead zone, or dry friction under integral action lead to hunting at rest, which a moving path hides. So the loop is held
at the beginning of its path, with other starts, and its errors are judged as at the end of a path that ends (`settled`). Since dry
friction damps small swings only, there are also starts FURTHER times as far off; with these the loop is held at the turns of the
path as well, since hunting depends on the pose. If it hunts, the claim is undecided: the scenario itself never asks for rest.

Near the end of a stroke a far start runs into the stop and shows nothing; it is repeated with SHARES of its size. A swing that
grows until it leaves the stroke counts as one that lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.observed.at_rest import never_ends, pushed
from workbench.verification.observed.oscillation import pace
from workbench.verification.observed.response import moves_in_time
from workbench.verification.observed.tail import STANDS, Rest, most_moving, rests
from workbench.verification.practical.elsewhere import held_at
from workbench.verification.practical.starts import (
    SHARES,
    SPREAD,
    Start,
    displaced,
    drawn,
    outermost,
    scenario_from,
    sizes,
)
from workbench.verification.practical.turning import at_turns
from workbench.verification.run import Run, run_many
from workbench.verification.run_claims import Settled

SHORTEST = 8.0  # s: how long it is held at least
FURTHER = 3.0  # times the spread of other starts
NEAR, FAR = 6, 2  # starts as far off as others, and further off
HALF = 0.5  # of a chamber's pressure: by how much it is off at most
CALLED = 1  # starts of a loop whose law is called from Python, where a run takes seconds
MEND = "let the path rest, or say that it never does (`rest: false`)"


def hunts_at_rest(run: Run, floor: float, longest: float = Settled.longest) -> str:
    """In words, the limit cycle of this loop, held where its path begins or turns, without what pushes it for ever; "" for none.

    Nothing is said of a loop that comes to rest by itself, nor of a plant that moves in time. longest: s of rest, at most.
    """
    endless = never_ends(run.demand.reference)
    if moves_in_time(run) or not (endless or pushed(run)) or run.loop.plant.no_other_starts:
        return ""
    ask = lambda row, further, count: _hunts(run, row, further, count, floor, longest)
    found = ask(0, 1.0, NEAR) or ask(0, FURTHER, FAR)
    if found or not endless:
        return found or ""
    rows = range(len(run.log.time))
    return at_turns(run, rows, lambda row: ask(row, FURTHER, FAR), here=0)


def _hunts(
    run: Run, row: int, further: float, count: int, floor: float, longest: float
) -> str | None:
    """In words, the limit cycle of this loop held where the run is at this row; "" for none, None where nothing is seen."""
    there = held_at(calmed(run), row)
    if there is None:
        return None
    few = min(count, CALLED) if run.loop.hosted else count
    widest = hunting_from(run, there, SPREAD, few, floor, longest, further=further)
    if widest is None:
        return None
    return _told(run, row, widest, further) if widest.lasts else ""


def _told(run: Run, row: int, widest: Rest, further: float) -> str:
    off = f" from a start {further:g} times as far off" if further > 1.0 else ""
    swing = told_swing(run, widest)
    moves, calm = "its path never rests", ""
    if pushed(run):
        moves, calm = "what pushes it never rests", " without it"
    place = f"is at t = {say(float(run.log.time[row]), 's', 4)}" if row else "begins"
    return f"{moves}; held where it {place}{calm}{off}, {swing}: {MEND}"


def told_swing(run: Run, rest: Rest) -> str:
    """What does not die, by how much it swings, how fast, and how that ends, in words."""
    width = say(0.5 * rest.width, run.log.signal(rest.name).unit, 3)
    end = f", until {rest.end}" if rest.end else ""
    return f"{rest.name} swings by {width}{pace(rest.frequency)}{end}"


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
    """The most restless error of a loop held `there`, over several starts; None where it cannot be held, or no start fits.

    Starts: `runs` at random; unless the law is called from Python, also a pair with all positions off by their whole amount, at
    rest, and a pair with all states off, so that the machine is pushed and no pressure is in balance.
    floor    largest motion that counts as standing still, in the unit of the error
    length   s before the error is judged, and of rest that is judged first; by default that of the scenario, at least SHORTEST
    longest  s of rest, up to which runs are made longer while an error still decays or creeps
    further  factor on the size of other starts
    """
    length = max(run.scenario.length() if length is None else length, SHORTEST)
    try:
        amounts = _amounts(there, spread, further)
        todo = drawn(there, runs, spread, amounts)
        if not run.loop.hosted:
            todo += displaced(there, amounts) + outermost(there, amounts)
        seen: list[Rest] = []
        while True:
            found = _held_for(length, run, there, todo, floor)
            seen = [rest for _, rest in found] or seen
            todo = [start for start, rest in found if rest.word != "still"]
            if not todo or length >= longest or any(rest.lasts for rest in seen):
                return most_moving(seen)
            length = min(2 * length, longest)
    except InputError:
        return None


def _amounts(there: Run, spread: float, further: float) -> dict[str, float]:
    """State → its displacement; of a pressure at most HALF of its value, or that of other starts where this is more."""
    found = {}
    for name, size in sizes(there, spread).items():
        amount = further * size
        if name in there.loop.plant.pressure_names:
            amount = min(amount, max(size, HALF * abs(float(there.log.array(name)[0]))))
        found[name] = amount
    return found


def _held_for(
    length: float, run: Run, there: Run, starts: Sequence[Start], floor: float
) -> list[tuple[Start, Rest]]:
    """(start, what moves most from an instant (s) on) in runs that last twice as long; a start of which no share stays inside the
    strokes is left out."""
    long = replace(there.scenario, duration=2 * length)
    left = list(starts)
    found = []
    for share in (1.0, *SHARES):
        if not left:
            break
        begin = [start.scaled(share) for start in left]
        jobs = [(run.loop, scenario_from(there, start, long)) for start in begin]
        looked = run_many(jobs, lambda seen: _moving(seen, length, floor), watched=False)
        found += [(start, rest) for start, rest in zip(begin, looked) if rest is not None]
        left = [start for start, rest in zip(left, looked) if rest is None]
    return found


def _moving(seen: Run, begin: float, floor: float) -> Rest | None:
    """The error that moves most from an instant on; of a run that left a stroke, what swings on beyond it for ever (nothing stops
    a piston there), or swung until then; None where it only leaves it.
    """
    moves = most_moving(rests(seen, begin, floor)) if seen.log.status.completed else None
    if not seen.end:
        return moves or STANDS
    swung = moves if moves is not None and moves.lasts else None
    swung = swung or most_moving(rests(until_its_end(seen), 0.0, floor))
    return replace(swung, end=seen.end) if swung is not None and swung.lasts else None


def until_its_end(seen: Run) -> Run:
    """A run, up to where it leaves a stroke."""
    last = max(float(seen.log.time[0]), seen.left[0])
    return replace(seen, log=seen.log.window(0.0, last), steps=None, demanded=seen.demand)
