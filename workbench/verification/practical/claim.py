"""Practical stability of any loop: from other starts it returns to its path, and a law's accompanying function v stays bounded.

The loop is disturbed (`starts`), runs for at least twice the scenario's duration beside an undisturbed run with the same reference,
and is judged where a user looks: at the tool or the outputs that follow a reference, at every position (joints that nothing holds
included) and at every chamber pressure (`returning`). Where a signal is still on its way at the end, the run is made longer, up
to a stated limit, before the answer is that too little was seen. A path that ends elsewhere than it began is asked there, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.beside import beside
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.linear.modes import Modes
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.observed.pump import unmoved
from workbench.verification.observed.requirements import diverged
from workbench.verification.practical.branches.untaken import untaken
from workbench.verification.practical.contained import containment
from workbench.verification.practical.decision import decided
from workbench.verification.practical.disturbed import (
    HARDLY,
    Outcome,
    disturbed,
    floor_of,
    lasting,
    undisturbed,
)
from workbench.verification.practical.elsewhere import at_its_end
from workbench.verification.practical.hardly_damped import swings_on
from workbench.verification.practical.later.slow_supply import starves_later
from workbench.verification.practical.meters import not_asked_back
from workbench.verification.practical.nominal import Nominal, nominal_run
from workbench.verification.practical.passing import held_on_the_way
from workbench.verification.practical.reach_seen import further_off, reach
from workbench.verification.practical.starts import SPREAD, Start, drawn, is_jointed, sizes
from workbench.verification.practical.switches.of_run import switches_of
from workbench.verification.run import Run
from workbench.verification.verdict import Assumption, Verdict

SOURCE = "runs from other starts over twice the duration, beside the undisturbed one"
KEY = "practical-stability"


def bound_asked(claim, loop) -> None:
    """InputError for a bound of v where the law states none."""
    if claim.bound is not None and not has_ledger(loop):
        raise InputError(
            "bound: this controller states no accompanying function that it could bound",
            key="bound",
            mend="leave the bound out: the claim then asks whether the loop comes back from other starts",
        )


def check_practical(
    claim,
    run: Run,
    allowed: float | None = None,
    tick: Callable[[], None] | None = None,
    bounded: Callable[[float | None], None] | None = None,
) -> Verdict:
    """The loop returns to its path from every other start; v ≤ bound after settling, where the law states an accompanying function.

    allowed: how far the tool, or an output that follows a reference, may stay away (that of the tracking claim). A bound on v that
    nobody stated is set on the nominal run, which must settle: ten times a limit cycle would bound a limit cycle.
    bounded: told that bound (J; None for a law without v) before other starts are run.
    """
    run = lasting(run, claim.settle)
    with beside(_runs_meanwhile(claim, run)):
        known = nominal_run(claim, run)
    gone = diverged(KEY, known.text, run, claim.counted, SOURCE)
    if gone:
        return gone
    said = lambda holds, worst, **more: Verdict(
        KEY,
        known.text,
        holds,
        None if holds is None else "sampled",
        worst=worst,
        source=SOURCE,
        counted=claim.counted,
        **more,
    )
    unasked = _without_runs(claim, run, known, said)
    if unasked:
        return unasked
    if bounded is not None:
        bounded(known.bound if has_ledger(run.loop) else None)
    starts = drawn(run, claim.runs, claim.spread)
    modes = slowest_and_unstable(run)
    outcomes, duration = disturbed(claim, run, starts, allowed, modes, tick)
    verdict = decided(run, known, starts, outcomes, duration, said, modes)
    late = _late(claim, run, outcomes) if verdict.holds else None
    if late is not None:
        return verdict.overruled(late, None if claim.within is None else False)
    if not verdict.holds:
        return verdict
    elsewhere = at_its_end(claim, run, known, said, allowed, modes)
    found = elsewhere or _with_modes(claim, run, verdict, modes, starts[0], allowed)
    found = replace(found, assumptions=(*found.assumptions, *_besides(run, claim.spread)))
    return _with_places(claim, run, found, outcomes, allowed, modes) if found.holds else found


def _without_runs(claim, run: Run, known: Nominal, said) -> Verdict | None:
    """The verdict where no other start is run; None where they are."""
    if run.left[1]:
        return said(False, run.left[1])
    if known.unsound:
        return said(
            None,
            f"a bound set on a run that is itself not sound proves nothing ({known.unsound}); mend the run, or state `bound`",
            data={"nominal": known.v},
        )
    if claim.runs < 1:
        return said(None, "no other starts were asked for (runs: 0)", data={"not_run": True})
    if run.loop.plant.no_other_starts:
        why = f"no other start can be had: {run.loop.plant.no_other_starts}"
        return said(None, why, data={"not_run": True})
    if is_jointed(run.loop.plant) and claim.spread <= HARDLY * SPREAD:
        off = f"starts that are off by {claim.spread:.3g} rad or m show no motion"
        why = f"says nothing: {off}; state a larger `spread` ({SPREAD:g} by default)"
        return said(None, why, data={"not_run": True})
    return None


def _besides(run: Run, spread: float) -> tuple[Assumption, ...]:
    """What was not seen, not asked, and from how far the loop came back."""
    return (*unmoved(run), *not_asked_back(run.loop), *reach(run, spread), *_nearer(run, spread))


def _nearer(run: Run, spread: float) -> tuple[Assumption, ...]:
    """The assumption that starts nearer than the default `spread` are enough, which nobody knows; none where they are not."""
    if not is_jointed(run.loop.plant) or spread >= SPREAD:
        return ()
    text = f"starts are no further off than {spread:.3g} rad or m, as `spread` states"
    return (Assumption(text, None, worst=f"where nobody states it, it is {SPREAD:g}"),)


def _with_places(
    claim, run: Run, verdict: Verdict, outcomes: list[Outcome], allowed: float | None, modes: Modes
) -> Verdict:
    """What holds on the runs, held against what the loop does further off, and in branches that no run took."""

    def tried(start: Start, there: Run = run) -> Outcome:
        amounts = sizes(run, claim.spread)
        try:
            (outcome,), _ = disturbed(claim, there, [start], allowed, modes, None, amounts)
        except InputError as why:  # the law fails there
            return Outcome(math.inf, 0.0, why.message, why.message, "", ())
        return outcome

    law = switches_of(run)
    found = "" if law is None else untaken(run, claim.spread, law, outcomes, tried)
    found = found or further_off(run, claim.spread, tried)
    floor = _quiet(run, allowed)
    found = found or starves_later(run, modes)
    found = found or swings_on(run, modes, claim.spread, floor)
    found = found or held_on_the_way(run, claim.spread, floor, tried)
    return verdict.overruled(found, data={**verdict.data, "beyond": found}) if found else verdict


def _runs_meanwhile(claim, run: Run) -> list[Callable]:
    """The undisturbed run over twice the duration, while the ledger is traced; nothing where none will be asked for."""
    asked = claim.runs > 0 and claim.duration is None and run.log.status.completed
    if not (asked and has_ledger(run.loop)) or run.loop.hosted or run.left[1]:
        return []
    return [lambda look: undisturbed(run, 2 * run.scenario.length())]


def _late(claim, run: Run, outcomes: list[Outcome]) -> str | None:
    """In words what came back later than it may; None where nothing did."""
    allowed = claim.within or max(run.scenario.length(), claim.settle)
    back = [
        r
        for o in outcomes
        for r in o.found
        if r.moved and r.word == "back" and not r.signal.pressure
    ]
    last = max(back, key=lambda r: r.after, default=None)
    if last is None or last.after <= allowed:
        return None
    pace = (
        f"{last.signal.name} is back only after {say(last.after, 's', 3)}, at {last.rate:.2g} 1/s"
    )
    if claim.within:
        return f"{pace}, beyond the {say(allowed, 's', 3)} stated"
    return f"{pace}, beyond the {say(allowed, 's', 3)} that the scenario lasts; state `within` if so slow a loop is meant"


def _with_modes(
    claim, run: Run, verdict: Verdict, modes: Modes, start: Start, allowed: float | None
) -> Verdict:
    """What holds on the runs, held against what the linearised loop knows."""
    data = {**verdict.data, "modes": modes.words}
    if modes.unread:
        unseen = f"{modes.unread}: what grows slowly in it need not show in any run"
        return verdict.overruled(unseen, data=data)
    lasted = float(verdict.data["duration"])
    found = containment(run, modes, start, _quiet(run, allowed), claim.longest, lasted)
    if found is None:
        return replace(verdict, data=data)
    if found.holds:
        return replace(verdict, data=data, assumptions=(*verdict.assumptions, found.assumption()))
    return verdict.overruled(found.words, found.holds, data=data)


def _quiet(run: Run, allowed: float | None) -> float:
    """What an error may still move by at rest: a tenth of what it may be, and no more than ends a scan."""
    return min(0.1 * allowed, floor_of(run)) if allowed else floor_of(run)
