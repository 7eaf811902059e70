"""How far practical stability reaches: in sample time, in delay, in a number of the true plant. Scan, then bracket.

Stability need not be monotone in any of them, so everything nearer than the edge is tried, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from workbench.contract.numbers import numbers as numbers_of
from workbench.contract.units import format_quantity as say
from workbench.contract.wrappers import MOST_HELD, dead_time
from workbench.numerics.laned import width
from workbench.run.many import has_lane
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.observed.requirements import diverged
from workbench.verification.practical.disturbed import lasting, restless
from workbench.verification.practical.nominal import SETTLE
from workbench.verification.run import PAYING, Run, run_many, samples
from workbench.verification.variant import variant
from workbench.verification.verdict import Verdict

# By this factor the distance from the last good value to the first bad one becomes shorter.
NARROWED = 9
FEWEST = 2  # values that a bracket is divided by, at least
SCANNED = "scan from the scenario's own start, then bracket"


@dataclass(frozen=True)
class Reach:
    """What a scan found: tried values with their outcome, the last good and the first bad one."""

    values: tuple[float, ...]
    ok: tuple[bool, ...]
    v: tuple[float, ...]
    error: tuple[float, ...]
    why: tuple[str, ...]
    good: float
    bad: float | None


def outcome(claim, bound: float | None) -> Callable[[Run], tuple[bool, float, float, str]]:
    """(still holds, largest settled v, largest settled tool error, why not) of a run."""

    def judge(run: Run):
        if run.end:
            return False, math.inf, math.inf, run.end
        part = run.fine.settled(SETTLE)
        e = run.fine.tool_error
        error = float(e[part].max()) if e is not None else math.nan
        v = math.nan
        if bound is not None:
            t, stored = run.storage
            v = float(stored[np.searchsorted(t, min(SETTLE, 0.9 * t[-1])) :].max())
            if v > bound:
                return False, v, error, restless(run) or f"v = {say(v, 'J', 3)}"
        if e is not None and error > claim.error:
            return False, v, error, restless(run) or f"error {say(error, run.error_unit, 3)}"
        cycle = restless(run)
        return not cycle, v, error, cycle

    return judge


def scan(
    make: Callable[[float], tuple],
    values,
    judge,
    tick=None,
    down: bool = False,
    known: Mapping[float, Run] | None = None,
    beside: int = 1,
    rounds: int | None = None,
) -> Reach:
    """Outcomes along `values` (away from the nominal one) until one fails, then the edge bracketed.

    The bracket lies between the last good value before the first bad one and that one; in `rounds` it becomes NARROWED times
    shorter. Stability need not be monotone, so everything nearer than the edge was tried too; what is beyond a value that
    failed is not tried any more.
    known: runs there are already, by value. beside: runs that are made at once.
    """

    tried: dict[float, tuple] = {value: judge(run) for value, run in (known or {}).items()}
    nearer = (lambda a, b: a > b) if down else (lambda a, b: a < b)
    if all(outcome[0] for outcome in tried.values()):
        todo = [value for value in values if value not in tried]
        tried |= _until_one_fails(make, todo, judge, tick, beside)
    failed = [v for v in tried if not tried[v][0]]
    bad = None if not failed else max(failed) if down else min(failed)
    passed = [v for v in tried if tried[v][0] and (bad is None or nearer(v, bad))]
    good = (min(passed) if down else max(passed)) if passed else (1.0 if down else 0.0)
    inside = max(beside, FEWEST)
    if rounds is None:
        rounds = math.ceil(math.log(NARROWED) / math.log(inside + 1) - 1e-9)
    for _ in range(rounds if bad is not None and passed else 0):
        inner = [
            good ** (1 - k) * bad**k if good > 0 and bad > 0 else good + k * (bad - good)
            for k in (i / (inside + 1) for i in range(1, inside + 1))
        ]
        found = _until_one_fails(make, inner, judge, tick, beside)
        tried |= found
        failed = [v for v in found if not found[v][0]]
        if failed:
            bad = max(failed) if down else min(failed)
        passed = [v for v in found if found[v][0] and nearer(v, bad)]
        good = (min(passed) if down else max(passed)) if passed else good
    order = sorted(tried)
    return Reach(tuple(order), *(tuple(tried[v][i] for v in order) for i in range(4)), good, bad)


def _until_one_fails(make, todo: list[float], judge, tick, beside: int) -> dict[float, tuple]:
    """Outcomes of values in their order, which leads away from the nominal one, up to the first batch with one that failed."""
    seen: dict[float, tuple] = {}
    for i in range(0, len(todo), beside):
        batch = todo[i : i + beside]
        seen |= dict(zip(batch, run_many([make(v) for v in batch], judge, tick)))
        if not all(seen[v][0] for v in batch):
            break
    return seen


def _beside(run: Run, count: int) -> int:
    """Runs of a scan that go side by side: as many as there are lanes, where machines that differ in a number can share them.

    Else one after the other: a run beyond the edge that nobody asks for would take as long as any other, and scans have a thread
    each.
    """
    loop, scenario = run.loop, run.scenario
    enough = count * samples((loop, scenario)) >= PAYING
    return width() if enough and has_lane(loop, scenario) else 1


def unfounded(key: str, text: str, claim, practical: Verdict | None) -> Verdict | None:
    """An undecided verdict where the practical claim, which a limit rests on, does not hold to begin with; else None."""
    if practical is None or practical.holds:
        return None
    return Verdict(
        key,
        text,
        None,
        worst=f"practical stability is {practical.word} as the loop is: there is nothing to reach from",
        source=SCANNED,
        counted=claim.counted,
    )


def _founded(found: Verdict, practical: Verdict | None, run: Run) -> Verdict:
    """The verdict; one that holds where the practical claim is not asked and a mode grows where the loop rests is undecided."""
    if practical is not None or not found.holds:
        return found
    places = [place for place in slowest_and_unstable(run).places if place.lasts]
    mode = next((p.fastest for p in places if p.fastest and not p.fastest.aside), None)
    if mode is None:
        return found
    return found.overruled(f"linearised, a mode {mode.words}: ask practical-stability as well")


def check_sample_time(
    claim, run: Run, bound: float | None, practical: Verdict | None = None, tick=None
) -> Verdict:
    """The run of the scenario, from its own start, made again at other sample times: up to which of them it settles."""
    run = lasting(run, SETTLE)
    own = float(run.loop.period or 1e-3)
    least = claim.at_least or own
    quick = replace(run.scenario, log_period=None)
    make = lambda T: variant(run.loop, quick, T_s=T)
    return _limit(
        "sample-time", "sample time", claim, run, own, own, least, make, bound, practical, tick
    )


def queue(samples: float) -> int:
    """Length of the queue of commands for a delay of so many samples: a power of two, at least 8.

    It is never longer than a `Delayed` can hold. The length is part of the loop's graph, and every
    entry is a state and a column of the log: a scan that ends at short delays needs one short queue.
    """
    power = 1 << (math.ceil(samples) - 1).bit_length()
    return min(MOST_HELD, max(8, power))


def check_delay(
    claim, run: Run, bound: float | None, practical: Verdict | None = None, tick=None
) -> Verdict:
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

    return _limit("delay", "delay", claim, run, own, T / 2, least, make, bound, practical, tick)


def check_parameter(
    claim, run: Run, bound: float | None, practical: Verdict | None = None, tick=None
) -> Verdict:
    """The run of the scenario made again on other plants while the controller keeps its model: up to which it settles."""
    from workbench.contract.closed_loop import ClosedLoop
    from workbench.contract.parameters import bind

    run = lasting(run, SETTLE)
    numbers = _numbers(claim, run)
    zero = all(leaf.value == 0 for leaf in numbers.values())

    def make(k):
        moved = {p: float(k) if zero else leaf.value * float(k) for p, leaf in numbers.items()}
        return ClosedLoop(bind(run.loop.plant, moved), run.loop.controller), run.scenario

    wanted = claim.at_least or claim.to
    text = f"stays so up to {claim.parameter} {'=' if zero else '×'} {wanted:g}"
    gone = diverged("parameter-limit", text, run, claim.counted, SCANNED) or unfounded(
        "parameter-limit", text, claim, practical
    )
    if gone:
        return gone
    start = 0.0 if zero else 1.0
    evenly = zero or claim.to < 1
    values = np.linspace(start, claim.to, 9) if evenly else np.geomspace(1.0, claim.to, 9)
    down = claim.to < start
    values = sorted({float(v) for v in values} | {float(wanted)}, reverse=down)
    judge = outcome(claim, claim.bound or bound)
    reach = scan(make, values, judge, tick, down=down, beside=_beside(run, len(values)))
    good = reach.good
    k = next((i for i, v in enumerate(reach.values) if v == reach.bad), None)
    holds = reach.bad is None or (reach.bad < wanted if down else reach.bad > wanted)
    verdict = Verdict(
        "parameter-limit",
        text,
        holds,
        "sampled",
        (-1 if down else 1) * (good - wanted),
        next(iter(numbers.values())).info.unit if zero else "1",
        wanted,
        f"{good:.4g}; at {reach.bad:.4g}: {reach.why[k]}"
        if reach.bad is not None
        else f"nothing failed up to {good:g}, the end of the scan",
        source=SCANNED,
        counted=claim.counted,
        data=_scanned(reach) | {"paths": sorted(numbers)},
    )
    return _founded(verdict, practical, run)


def _numbers(claim, run: Run) -> dict:
    """Path → number of the plant that the claim names; InputError with the nearest ones where there is none."""
    of = "claim parameter-limit: the plant"
    found = numbers_of(run.loop.plant, claim.parameter, "parameter", of)
    return {leaf.path: leaf for leaf in found}


def _scanned(reach: Reach) -> dict:
    """What a scan tried and saw, as plain data."""
    return {
        "values": reach.values,
        "ok": reach.ok,
        "v": reach.v,
        "error": reach.error,
        "why": reach.why,
        "good": reach.good,
        "bad": reach.bad,
    }


def _limit(key, what, claim, run, own, first, least, make, bound, practical, tick):
    text = f"stays so up to {what} {say(least, 's', 3)}"
    gone = diverged(f"{key}-limit", text, run, claim.counted, SCANNED) or unfounded(
        f"{key}-limit", text, claim, practical
    )
    if gone:
        return gone
    # What is asked for is tried itself, and everything nearer with it: stability need not be monotone.
    values = sorted(
        {float(v) for v in np.geomspace(own or first, max(claim.up_to, own), 9)} | {own, least}
    )
    known = {} if run.loop.period is None else {float(own): run}
    found = scan(make, values, outcome(claim, claim.bound or bound), tick, known=known)
    k = next((i for i, v in enumerate(found.values) if v == found.bad), None)
    said = partial(Verdict, f"{key}-limit", text, source=SCANNED, counted=claim.counted)
    said = partial(said, data=_scanned(found))
    margin = found.good - least
    if found.bad is None:
        far = f"nothing failed up to {say(found.good, 's', 3)}, the end of the scan"
        return _founded(said(True, "sampled", margin, "s", least, far), practical, run)
    holds = found.bad > least and any(found.ok)
    begins = f"{say(found.good, 's', 3)}; at" if found.good > 0 else "fails at the shortest tried,"
    edge = f"{begins} {say(found.bad, 's', 3)}: {found.why[k]}"
    return _founded(said(holds, "sampled", margin, "s", least, edge), practical, run)
