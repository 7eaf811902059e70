"""The most likely cause of what went wrong, named first in the verdict that counts.

Asked only where a counted claim is violated, or practical stability undecided; a sound loop pays nothing. In this order:

    joint      what stays away or grows is a joint that nothing drives (`cause.free`)
    clock      the law is made for another sample time than it runs at
    wires      positions in another order than the actuators; or crossed, flipped or in another unit: undone on the logged
               samples, the residual vanishes (`cause.wiring`)
    edge       where the linearised loop grows: the smallest single change with which it does not (`cause.linear`)
    removal    one fault at a time is taken away (a number of model, law, machine or signal path put back, a disturbance left
               out), the same scenario is run again, shorter; how much better it goes is weighed with how odd the number was
               (`cause.trials`, `cause.removal`)
    modes      what hardly decays in the linearised loop
    between    a wrapper that nobody knows and that changes what the law commands, whatever it does (`cause.wiring`)
    calmed     what, taken away, lets a run come to rest that does not (`cause.calmed`)
    idle       a proportional gain that is 0 (`cause.idle`)
    supply     a cylinder that its supply fills more slowly than its load empties it (`cause.filling`)
    ledger     the named perturbation that is the largest share of what v lives on
    late       commands that arrive later than a law that knows its dead time takes them to
    path       of an error that nothing explains: a path that is followed when it is walked more slowly (`cause.asked`)

A cause is a guess with evidence, no verdict: it changes words and data, never an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from workbench.contract.parameters import leaves
from workbench.contract.units import format_quantity as say
from workbench.run.steps import Steps
from workbench.verification.cause.badness import share_at_limits
from workbench.verification.cause.calmed import calmed
from workbench.verification.cause.feedback import feedback
from workbench.verification.cause.filling import unfilled
from workbench.verification.cause.free import left_alone
from workbench.verification.cause.idle import without_gain
from workbench.verification.cause.linear import WITHIN, hardly_decays, lets_go, out_of_reach
from workbench.verification.cause.removal import HELPS, removal
from workbench.verification.cause.scenario_trials import slower
from workbench.verification.cause.trial import Cause
from workbench.verification.cause.trials import another_clock, another_delay
from workbench.verification.cause.wiring import altered, misplaced, rewired
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.ledger.claims import outside, readable
from workbench.verification.run import Run
from workbench.verification.verdict import Verdict

# What a claim of these says of itself is its cause: a fault of the books, of the machine alone, or of a program without solution.
SELF_SAID = (
    "identity",
    "power-flows",
    "energy-balance",
    "valve-losses",
    "unique-velocity",
    "incremental-passivity",
    "holds-weight",
    "falsify",
    "solves",
)


# Kinds of causes that move a machine as nobody asked: what its pump then lacks follows from them.
OF_LOOP = ("gain", "delay", "sample time", "wiring", "edge", "model", "feed")


def with_cause(run: Run, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts, those counted that went wrong with the most likely cause first."""
    wrong = [v for v in verdicts if v.counted and v.key not in SELF_SAID and _wrong(v)]
    if not wrong or run.loop.controller is None:
        return list(verdicts)
    violated = [v for v in verdicts if v.counted and v.holds is False]
    on_path = any(v.key != "practical-stability" for v in violated)
    find = partial(likely_cause, violated=bool(violated), on_path=on_path)
    fast = too_fast(wrong)
    found = fast or _guess(find, run)
    unsettled = any(v.key in ("settled", "practical-stability") for v in violated)
    moved = found if unsettled and found is not None and found.kind in OF_LOOP else None
    causes = {id(v): fast or moved or _of_pump(v) or found or _of_claim(run, v) for v in wrong}
    return [_named(v, causes[id(v)]) if causes.get(id(v)) else v for v in verdicts]


def _of_claim(run: Run, v: Verdict) -> Cause | None:
    """What a claim's own question suggests where nothing was found: a path too fast to be followed, a range of commands."""
    return _guess(slower, run) if v.key == "tracking" else _of_range(run, v)


def _of_pump(v: Verdict) -> Cause | None:
    """The cause of limits of the machine that are broken: the pump's flow, where that is among them; None of other verdicts."""
    rows = v.data.get("limits", ()) if v.key == "machine-limits" else ()
    broken = [row for row in rows if row["broken"] and row["kind"] == "flow"]
    if not broken:
        return None
    most = max(broken, key=lambda row: row["reached"])
    asked = f"{most['reached']:.3g} times what it has, {say(most['limit'], most['unit'], 3)}"
    return Cause("limit", f"the pump is too small for this motion: {most['name']} reaches {asked}")


def _of_range(run: Run, v: Verdict) -> Cause | None:
    """The cause of commands at their limits, where nothing else was found: the numbers that say how far they may go."""
    if v.key != "saturation":
        return None
    ranges = {n: ends for n, ends in run.loop.plant.limits().items() if n in run.log}
    if not ranges:
        return None
    name = max(ranges, key=lambda n: share_at_limits(run.log.array(n), *ranges[n]))
    unit = run.log.signal(name).unit
    high = ranges[name][1]
    said = [
        leaf.path
        for leaf in leaves(run.loop)
        if leaf.value == high and leaf.info.unit == unit and ".model." not in leaf.path
    ]
    where = f" ({', '.join(said[:3])})" if said else ""
    return Cause("limit", f"the range of {name} ends at {say(high, unit, 3)}{where}")


def too_fast(wrong: Sequence[Verdict]) -> Cause | None:
    """A path that takes more oil than the pump gives, where nothing else went wrong: a flow goes with the speed."""
    broken = [row for v in wrong for row in v.data.get("limits", ()) if row["broken"]]
    alone = all(v.key == "machine-limits" for v in wrong)
    if not alone or not broken or any(row["kind"] != "flow" for row in broken):
        return None
    times = max(1.0 - row["margin"] / row["limit"] for row in broken)
    longer = math.ceil(1000 * times) / 1000
    return Cause(
        "reference",
        f"the path is too fast for the pump: with legs {longer:.4g} times as long it takes what the pump gives",
    )


def _wrong(v: Verdict) -> bool:
    """Whether a cause is asked for: what is undecided for what was not run, or lies beyond it, says itself why it is."""
    undecided = v.holds is None and v.key == "practical-stability"
    return v.holds is False or undecided and not (v.data.get("beyond") or v.data.get("not_run"))


def _named(v: Verdict, found: Cause) -> Verdict:
    words = f"most likely cause: {found.words}"
    return replace(
        v,
        worst=f"{words}; {v.worst}" if v.worst else words,
        data={**v.data, "cause": {"kind": found.kind, "words": found.words, "share": found.share}},
    )


def likely_cause(run: Run, violated: bool = True, on_path: bool = True) -> Cause | None:
    """The most likely cause of a run that went wrong; None where nothing that can be tried explains it.

    violated: some claim is; where all are only undecided, that a gain is far from what the machine bears is no cause.
    on_path: some claim on the run itself is; where only other starts went wrong, what the run hardly shows is no cause.
    """
    alone = _guess(left_alone, run)
    if alone:
        return _of_numbers(run) or Cause("joint", alone)
    clock = _guess(another_clock, run)
    if clock:
        return Cause("sample time", clock)
    sign = feedback if violated else partial(feedback, sized=False)
    wires = _guess(misplaced, run) or _guess(rewired, run)
    if wires:
        return Cause("wiring", wires)
    edge, size = _guess(lets_go, run) or ("", math.inf)
    if edge and size <= WITHIN:
        return Cause("edge", edge)
    hidden = _guess(out_of_reach, run)
    if hidden:
        return Cause("mode", hidden)
    removed = _guess(removal if on_path else partial(removal, faint=False), run)
    partly = removed is not None and removed.share is not None and removed.share < HELPS
    found = None if partly else removed
    # A removal that heals outweighs a sign that a linearisation sees; half a healing does not.
    if found is None or (found.share is not None and found.share < 0.8):
        turned = "" if has_ledger(run.loop) else _guess(sign, run)
        if turned:
            return Cause("wiring", turned)
    if edge:
        return Cause("edge", edge)
    return (
        _instead(run, found)
        or found
        or _guess(without_gain, run)
        or jumping(run)
        or _guess(unfilled, run)
        or largest_term(run)
        or at_limits(run)
        or removed
        or _guess(another_delay, run)
    )


def _instead(run: Run, found: Cause | None) -> Cause | None:
    """What explains a run better than no removal, or one that any machine or loop gains by: an empty chamber, a slow mode, a
    wrapper, what lets it rest.
    """
    filled = _guess(unfilled, run) if found is not None and found.kind == "better" else None
    if filled:
        return filled
    weak = found is None or found.kind == "reference"
    slow = _guess(hardly_decays, run) if weak else ""
    if slow:
        return Cause("mode", slow)
    between = _guess(altered, run) if found is None or weak or found.in_turn else ""
    if between:
        return Cause("wiring", between)
    return _guess(calmed, run) if weak else None


def _of_numbers(run: Run) -> Cause | None:
    """The number of the law, or between law and machine, that makes the linearised loop grow, and with it what is left alone."""
    words, size = _guess(partial(lets_go, wires=False), run) or ("", math.inf)
    return Cause("edge", words) if words and size <= WITHIN else None


def _guess(find: Callable, run: Run):
    """What `find` says of the run; None where it fails: it asks a user's own law at odd values, and others may still find it."""
    try:
        return find(run)
    except Exception:
        return None


def jumping(run: Run) -> Cause | None:
    """A reference that jumps while the loop runs: what has a mass is off its path for a while after each jump."""
    reference = run.demand.reference
    if not isinstance(reference, Steps):
        return None
    times = [t for t in reference.jumps() if t < run.scenario.length()]
    if not times:
        return None
    told = ", ".join(f"{t:g} s" for t in times[:3])
    return Cause("reference", f"the reference jumps at t = {told}, which no machine follows")


def at_limits(run: Run) -> Cause | None:
    """Commands that stay at their limits for most of the run: the machine is too weak for what it is asked."""
    shares = {}
    for name, (low, high) in run.loop.plant.limits().items():
        if name in run.log:
            shares[name] = share_at_limits(run.log.array(name), low, high)
    name = max(shares, key=shares.get, default=None)
    if name is None or shares[name] < 0.3:
        return None
    often = f"{100 * shares[name]:.0f} % of the run"
    return Cause("limit", f"{name} is at its limit for {often}: more is asked than the machine has")


def largest_term(run: Run) -> Cause | None:
    """The named perturbation that brings most of what v lives on; None for a law without a ledger."""
    if not has_ledger(run.loop) or len(run.log.time) < 2:
        return None
    balance = run.balance.part(readable(run.balance))
    if not len(balance.t):
        return None
    brought = {key: float(np.maximum(d, 0.0).sum()) for key, d in outside(balance).items()}
    total = sum(brought.values())
    if not total > 0:
        return None
    (subsystem, component, name), most = max(brought.items(), key=lambda entry: entry[1])
    share = f"{100 * most / total:.0f} %"
    return Cause(
        "term", f"the {name} term of {component} ({subsystem}) brings {share} of what v lives on"
    )
