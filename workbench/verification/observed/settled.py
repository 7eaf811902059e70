"""Whether a loop comes to rest: no limit cycle of its errors, no chatter of its commands, nothing that creeps or grows.

Two looks. The settled half of the run, in motion, for oscillations and chatter. Then, where the reference comes to rest, the run is
made longer at its end: there the errors must stand still (`tail`). A tail in which
something still decays or creeps is made twice as long, up to a stated limit, and then the answer is undecided.

Where the reference never rests, and too few samples or periods of what moves were seen, the run itself is made longer, up to the
same limit or REPEATS periods of what drives it; and the loop is held where its path begins and turns (`rest_on_path`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.run.limit_cycle import FEWEST
from workbench.verification.observed.at_rest import comes_to_rest
from workbench.verification.observed.commanded import commanded_periods
from workbench.verification.observed.oscillation import beside, pace, small
from workbench.verification.observed.requirements import diverged, joint_errors, size_of
from workbench.verification.observed.response import Swings, swings
from workbench.verification.observed.rest_on_path import hunts_at_rest
from workbench.verification.observed.settled_picture import courses
from workbench.verification.observed.tail import Rest, most_moving, moves_until, rests
from workbench.verification.practical.disturbed import undisturbed
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.run_claims import Settled
from workbench.verification.temporal import ready
from workbench.verification.verdict import Verdict

KEY = "settled"
TEXT = "no limit cycle, no chatter of commands"
SOURCE = "settled half of the run's joint errors and commands, and their rest after it"
DRIVEN = "and {} drives the loop: without a run from another start a response and a limit cycle look alike"
REPEATS = 4  # periods of what drives a loop, in which what repeats can be told from what does not
SURE = 4  # times as long as what first stands still is looked at
AT_MOST = 8  # times as long a run is made for them
RESPONSE = " but the response to {}, the same from another start"


def check_settled(claim, run: Run, tick: Callable[[], None] | None = None) -> Verdict:
    """No sustained or growing oscillation, no chatter; at rest after the run, nothing that moves on."""
    gone = diverged(KEY, TEXT, run, claim.counted, SOURCE)
    if gone:
        return gone
    text = TEXT

    def said(holds, worst: str, **data) -> Verdict:
        strength = None if holds is None else "sampled"
        return Verdict(
            KEY, text, holds, strength, worst=worst, source=SOURCE, counted=claim.counted, data=data
        )

    try:
        floor = size_of(claim, "floor", [run.log.signal(n).unit for n in joint_errors(run)])
    except InputError as why:
        return said(None, why.message)
    own = swings(run, floor, claim.chatter)
    units = {name: run.log.signal(name).unit for name in joint_errors(run)}
    run.kept["settled"] = courses(run, 0.5 * run.scenario.length(), None, floor)
    sentence = ready.settled(floor, units, claim.chatter, list(own.seen.commands))
    text = f"{TEXT}: {sentence.shown}"
    found = _restless(claim, run, floor, own, said)
    if found:
        return found
    if claim.rest and comes_to_rest(run):
        quiet = own.seen.few or _quiet(claim, run, floor, own)
        return _at_rest(claim, run, floor, quiet, said, tick)
    return _in_motion(claim, run, floor, own, said, tick)


def _restless(claim, run: Run, floor: float, own: Swings, said) -> Verdict | None:
    """The verdict on what swings in the settled half of a run; None where nothing does."""
    seen = own.seen
    units = {name: run.log.signal(name).unit for name in joint_errors(run)}
    sentence = ready.settled(floor, units, claim.chatter, list(seen.commands))
    if sentence.on(run.log.time, seen.columns).holds:
        return None
    name, kind, frequency, amplitude, unit = found = seen.worst(claim.chatter)
    if own.open:
        return said(None, f"{name} swings{pace(frequency)}, {DRIVEN.format(own.driver)}")
    return said(
        False,
        f"{kind} of {name}{pace(frequency)}, amplitude {say(amplitude, unit, 3)}{beside(run, floor, found)}",
        signal=name,
        kind=kind,
        frequency=plain(frequency),
        amplitude=plain(amplitude),
    )


def _quiet(claim, run: Run, floor: float, own: Swings) -> str:
    """In words, that nothing swings."""
    response = RESPONSE.format(own.driver) if own.driver else ""
    calm = f"commands quiet to {100 * claim.chatter:g} % of the range they use"
    return f"no oscillation above {small(run, floor)}{response}, {calm}"


def _in_motion(claim, run: Run, floor: float, own: Swings, said, tick) -> Verdict:
    """The verdict on a run that is not held at its end, made longer while it has too few samples, or periods of what moves."""
    duration = run.scenario.length()
    most = max(_longest(claim, run), _periods(claim, run))
    while (own.seen.brief or own.seen.few) and duration < most:
        duration = min(2 * duration, most)
        more = undisturbed(run, duration)
        if not more.log.status.completed:
            holds = False if more.log.status.followed else None
            return said(holds, f"made longer: {more.log.status.message}")
        own = swings(more, floor, claim.chatter)
        if tick:
            tick()
        found = _restless(claim, more, floor, own, said)
        if found:
            return found
    if own.seen.few:
        return said(None, own.seen.few)
    if own.seen.brief:
        return said(None, f"{own.seen.brief}; make the run longer (`longest`)")
    hunts = hunts_at_rest(run, floor, claim.longest) if claim.rest else ""
    return said(None, hunts) if hunts else said(True, _quiet(claim, run, floor, own))


def _at_rest(claim, run: Run, floor: float, quiet: str, said, tick) -> Verdict:
    """The verdict from the tails, made longer while something still decays.

    What stands still is looked at once more over SURE times the tail: what sticks and slips stands still for a while, too.
    """
    length = run.scenario.length()
    tail = max(0.5 * length, 2.0)
    most = _longest(claim, run)
    still = None
    while True:
        end = held(run, length + tail)
        if not end.log.status.completed:
            return said(
                False if end.log.status.followed else None,
                f"held at its end: {end.log.status.message}",
            )
        worst = most_moving(rests(end, length, floor))
        if tick:
            tick()
        stands = worst is None or worst.word == "still"
        if still is None or not stands:
            run.kept["settled"] = courses(end, 0.5 * length, max(length, moves_until(end)), floor)
        if stands and (still or tail >= most):
            shown = still or tail
            return said(True, f"{quiet}; at rest for {say(shown, 's', 3)} after it", tail=shown)
        if stands:
            still, tail = tail, min(SURE * tail, most)
            continue
        still = None
        if worst.word == "restless" or tail >= most:
            break
        tail = min(2 * tail, most)
    return _moves_on(worst, end, tail, said)


def _moves_on(worst: Rest, end: Run, tail: float, said) -> Verdict:
    """The verdict on what does not stand still at the end of a rest of `tail` seconds."""
    unit = end.log.signal(worst.name).unit
    width = say(0.5 * worst.width, unit, 3)
    if worst.word == "restless":
        return said(
            False,
            f"limit cycle of {worst.name} at rest{pace(worst.frequency)}, amplitude {width}, "
            f"held for {say(tail, 's', 3)} at its end",
            signal=worst.name,
            kind="limit cycle",
            frequency=plain(worst.frequency),
            amplitude=0.5 * worst.width,
        )
    motion = "creeps" if worst.word == "creeping" else "still swings"
    return said(
        None,
        f"{worst.name} {motion} by {width} after {say(tail, 's', 3)} at rest: too slow to be seen to its end; "
        "make the tail longer (`longest`)",
        signal=worst.name,
        tail=tail,
    )


def _longest(claim, run: Run) -> float:
    """How long a run, or the rest after it, is made at most, s; where nobody stated it also as long as a cycle needs samples."""
    most = max(claim.longest, run.scenario.length())
    if claim.longest != Settled.longest:
        return most
    return max(most, 2 * FEWEST * float(run.loop.period or 0.0))


def _periods(claim, run: Run) -> float:
    """How long a run takes in which what drives it repeats often enough, s; where nobody stated a length, and in reason."""
    if claim.longest != Settled.longest:
        return 0.0
    slowest = max(commanded_periods(run), default=0.0)
    return min(REPEATS * slowest, AT_MOST * run.scenario.length())


def held(run: Run, duration: float) -> Run:
    """The run, held at its end until `duration`."""
    key = ("held", duration)
    if key not in run.kept:
        reference = run.demand.reference or run.scenario.reference
        wanted = replace(run.scenario, reference=reference, duration=duration)
        run.kept[key] = simulated(run.loop, wanted)
    return run.kept[key]


def plain(value: float) -> float | None:
    """A finite number, or None."""
    return float(value) if np.isfinite(value) else None
