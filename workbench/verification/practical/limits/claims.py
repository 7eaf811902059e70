"""How far practical stability reaches: in sample time, in delay, in a number of the true plant."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from workbench.contract.numbers import numbers as numbers_of
from workbench.contract.units import format_quantity as say
from workbench.contract.wrappers import MOST_HELD, dead_time
from workbench.numerics.laned import width
from workbench.run.many import has_lane
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.observed.requirements import diverged
from workbench.verification.practical.disturbed import lasting, restless
from workbench.verification.practical.limits.between import Growth, windows
from workbench.verification.practical.limits.foundation import Foundation
from workbench.verification.practical.limits.scanned import Outcome, Reach, Scan
from workbench.verification.practical.nominal import SETTLE
from workbench.verification.run import PAYING, Run, no_machine, samples
from workbench.verification.variant import variant
from workbench.verification.verdict import Verdict

SCANNED = "scan from the scenario's own start, then bracket"


class Clock(NamedTuple):
    """A time of the loop that is scanned, s: its name, what the loop has, what is tried first where that is 0, and the least that
    is asked for. make: value → (loop, scenario).
    """

    name: str
    own: float
    first: float
    least: float
    make: Callable[[float], tuple]


def outcome(claim, bound: float | None) -> Callable[[Run], Outcome]:
    """What judges the runs of a scan: the largest settled v against a bound (J), the tool error against the claim's, and swings."""

    def judge(run: Run) -> Outcome:
        gone = run.end or no_machine(run)
        if gone:
            return Outcome(False, math.inf, math.inf, gone)
        v = math.nan if bound is None else _settled_storage(run)
        e = run.fine.tool_error
        error = math.nan if e is None else float(e[run.fine.settled(SETTLE)].max())
        unrest = restless(run)
        if bound is not None and v > bound:
            return Outcome(False, v, error, unrest or f"v = {say(v, 'J', 3)}")
        if e is not None and error > claim.error:
            return Outcome(False, v, error, unrest or f"error {say(error, run.error_unit, 3)}")
        return Outcome(not unrest, v, error, unrest)

    return judge


def _settled_storage(run: Run) -> float:
    """The largest v (J) after SETTLE seconds, or in the last tenth of a run that is shorter."""
    t, stored = run.storage
    return float(stored[np.searchsorted(t, min(SETTLE, 0.9 * t[-1])) :].max())


def _beside(run: Run, count: int) -> int:
    """Runs of a scan that go side by side: as many as there are lanes, where machines that differ in a number can share them.

    Else one after the other: a run beyond the edge that nobody asks for would take as long as any other, and scans have a thread
    each.
    """
    loop = run.loop
    scenario = run.scenario
    enough = count * samples((loop, scenario)) >= PAYING
    return width() if enough and has_lane(loop, scenario) else 1


def unfounded(key: str, text: str, counted: bool, practical: Verdict | None) -> Verdict | None:
    """An undecided verdict where the practical claim, which a limit rests on, does not hold to begin with; else None."""
    if practical is None or practical.holds:
        return None
    return Verdict(
        key,
        text,
        None,
        worst=f"practical stability is {practical.word} as the loop is: there is nothing to reach from",
        source=SCANNED,
        counted=counted,
    )


def _gone(key: str, text: str, claim, run: Run, foundation: Foundation) -> Verdict | None:
    """The verdict where nothing need be scanned: the run ends early, or it is known that there is nothing to reach from."""
    gone = diverged(key, text, run, claim.counted, SCANNED)
    if gone or not foundation.fails:
        return gone
    return unfounded(key, text, claim.counted, foundation.practical)


def _founded(found: Verdict, practical: Verdict | None, run: Run) -> Verdict:
    """The verdict, undecided where there is nothing to reach from.

    So is one that holds where the practical claim is not asked and a mode grows where the loop rests.
    """
    nothing = unfounded(found.key, found.claim, found.counted, practical)
    if nothing:
        return nothing
    if practical is not None or not found.holds:
        return found
    places = [place for place in slowest_and_unstable(run).places if place.lasts]
    mode = next((p.fastest for p in places if p.fastest and not p.fastest.aside), None)
    if mode is None:
        return found
    return found.overruled(f"linearised, a mode {mode.words}: ask practical-stability as well")


def check_sample_time(claim, run: Run, foundation: Foundation, tick=None) -> Verdict:
    """The run of the scenario, from its own start, made again at other sample times: up to which of them it settles."""
    run = lasting(run, SETTLE)
    own = float(run.loop.period or 1e-3)
    least = claim.at_least or own
    quick = replace(run.scenario, log_period=None)
    clock = Clock("sample time", own, own, least, lambda T: variant(run.loop, quick, T_s=T))
    return _limit(clock, claim, run, foundation, tick)


def queue(samples: float) -> int:
    """Length of the queue of commands for a delay of so many samples: a power of two, at least 8.

    It is never longer than a `Delayed` can hold. The length is part of the loop's graph, and every
    entry is a state and a column of the log: a scan that ends at short delays needs one short queue.
    """
    power = 1 << (math.ceil(samples) - 1).bit_length()
    return min(MOST_HELD, max(8, power))


def check_delay(claim, run: Run, foundation: Foundation, tick=None) -> Verdict:
    """The run of the scenario, from its own start, made again with other delays: up to which of them it settles."""
    run = lasting(run, SETTLE)
    T = float(run.loop.period or 1e-3)
    own = dead_time(run.loop.controller)
    least = claim.at_least or own
    # As far as a delay can be held.
    claim = replace(claim, up_to=min(claim.up_to, max((MOST_HELD - 1) * T, least)))
    quick = replace(run.scenario, log_period=None)

    def make(delay: float) -> tuple:
        return variant(run.loop, quick, delay=delay, capacity=queue(delay / T))

    clock = Clock("delay", own, T / 2, least, make)
    return _limit(clock, claim, run, foundation, tick)


def check_parameter(claim, run: Run, foundation: Foundation, tick=None) -> Verdict:
    """The run of the scenario made again on other plants while the controller keeps its model: up to which it settles."""
    run = lasting(run, SETTLE)
    numbers = _numbers(claim, run)
    zero = all(leaf.value == 0 for leaf in numbers.values())
    wanted = claim.at_least or claim.to
    text = f"stays so up to {claim.parameter} {_sign(zero)} {wanted:g}"
    gone = _gone("parameter-limit", text, claim, run, foundation)
    if gone:
        return gone
    make = _other_plants(run, numbers, zero)
    start = 0.0 if zero else 1.0
    down = claim.to < start
    grown = windows(make, start, float(wanted))
    looked = {growth.value for growth in grown}
    spaced = np.linspace if zero or claim.to < 1 else np.geomspace
    evenly = map(float, spaced(start, claim.to, 9))
    values = sorted({*evenly, float(wanted)} | looked, reverse=down)
    scan = Scan(
        make=make,
        judge=outcome(claim, claim.bound or foundation.bound),
        tick=tick,
        down=down,
        beside=_beside(run, len(values)),
        over=lambda: foundation.fails,
    )
    reach = scan.along(values)
    verdict = Verdict(
        key="parameter-limit",
        claim=text,
        holds=reach.bad is None or (reach.bad < wanted if down else reach.bad > wanted),
        strength="sampled",
        margin=(-1 if down else 1) * (reach.good - wanted),
        unit=next(iter(numbers.values())).info.unit if zero else "1",
        limit=wanted,
        worst=_edge_of_number(reach),
        source=SCANNED,
        counted=claim.counted,
        data=reach.data | {"paths": sorted(numbers)},
    )
    unseen = _unseen(reach, grown, lambda value: f"{claim.parameter} {_sign(zero)} {value:.4g}")
    return _founded(_doubted(verdict, unseen), foundation.practical, run)


def _other_plants(run: Run, numbers: dict, zero: bool) -> Callable[[float], tuple]:
    """k → (loop, scenario) with every number k times what it is (k itself, where they are zero) and the law's model as it is."""
    from workbench.contract.closed_loop import ClosedLoop
    from workbench.contract.parameters import bind

    def make(k: float) -> tuple:
        moved = {
            path: float(k) if zero else leaf.value * float(k) for path, leaf in numbers.items()
        }
        return ClosedLoop(bind(run.loop.plant, moved), run.loop.controller), run.scenario

    return make


def _edge_of_number(reach: Reach) -> str:
    """In words, up to where a number may go and what happens beyond."""
    if reach.bad is None:
        return _all_good(reach, f"{reach.good:g}")
    return f"{reach.good:.4g}; at {reach.bad:.4g}: {reach.tried[reach.bad].why}"


def _sign(zero: bool) -> str:
    """How a number that is scanned is told: itself where it is zero by itself, else a factor."""
    return "=" if zero else "×"


def _numbers(claim, run: Run) -> dict:
    """Path → number of the plant that the claim names; InputError with the nearest ones where there is none."""
    of = "claim parameter-limit: the plant"
    found = numbers_of(run.loop.plant, claim.parameter, "parameter", of)
    return {leaf.path: leaf for leaf in found}


def _limit(clock: Clock, claim, run: Run, foundation: Foundation, tick) -> Verdict:
    """The verdict on how far a time of the loop may go."""
    least = clock.least
    key = f"{clock.name.replace(' ', '-')}-limit"
    text = f"stays so up to {clock.name} {say(least, 's', 3)}"
    gone = _gone(key, text, claim, run, foundation)
    if gone:
        return gone
    # What is asked for is tried itself, and everything nearer with it: stability need not be monotone.
    far = max(claim.up_to, clock.own)
    evenly = np.geomspace(clock.own or clock.first, far, 9)
    grown = windows(clock.make, clock.own, least)
    looked = {growth.value for growth in grown}
    values = sorted({*map(float, evenly), clock.own, least, *looked})
    known = {} if run.loop.period is None else {float(clock.own): run}
    judge = outcome(claim, claim.bound or foundation.bound)
    scan = Scan(clock.make, judge, tick, over=lambda: foundation.fails)
    found = scan.along(values, known)
    passed = any(one.good for one in found.tried.values())
    holds = found.bad is None or (passed and found.bad > least)
    verdict = Verdict(
        key=key,
        claim=text,
        holds=holds,
        strength="sampled",
        margin=found.good - least,
        unit="s",
        limit=least,
        worst=_edge_in_words(found),
        source=SCANNED,
        counted=claim.counted,
        data=found.data,
    )
    unseen = _unseen(found, grown, lambda value: f"{clock.name} {say(value, 's', 3)}")
    return _founded(_doubted(verdict, unseen), foundation.practical, run)


def _unseen(found: Reach, grown: Sequence[Growth], named: Callable[[float], str]) -> str:
    """In words, the first value whose mode grows and whose run shows nothing; "" for none."""
    passed = [g for g in grown if (seen := found.tried.get(g.value)) and seen.good]
    if not passed:
        return ""
    return f"linearised at the start, at {named(passed[0].value)} a mode {passed[0].mode.words}, which its run does not show"


def _doubted(found: Verdict, unseen: str) -> Verdict:
    """The verdict; one that holds although a mode grows is undecided."""
    return (
        found.overruled(f"{unseen}: make the scenario longer") if found.holds and unseen else found
    )


def _all_good(found: Reach, end: str) -> str:
    """In words, that nothing failed up to the end of a scan."""
    return f"none of the {len(found.tried)} values tried up to {end} failed"


def _edge_in_words(found: Reach) -> str:
    good = say(found.good, "s", 3)
    if found.bad is None:
        return _all_good(found, good)
    begins = f"{good}; at" if found.good > 0 else "fails at the shortest tried,"
    return f"{begins} {say(found.bad, 's', 3)}: {found.tried[found.bad].why}"
