"""verify and examine: a loop and a scenario against claims → verdicts, with the log and what the report draws."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.cases.form import kebab
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.reach import steady
from workbench.contract.system import System, check_system
from workbench.run.log import Log
from workbench.run.scenario import Scenario, stated
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.accuracy import within_accuracy
from workbench.verification.beside import beside
from workbench.verification.checked import as_claims
from workbench.verification.ledger.balance import compiled_ledger, has_ledger
from workbench.verification.named_functions import function
from workbench.verification.observed.reachable import put_in_reach, too_wide
from workbench.verification.observed.requirement_claims import put_to_the_test
from workbench.verification.observed.unseen import as_far_as_seen
from workbench.verification.practical.later.timed import beyond_the_run
from workbench.verification.practical.limits.foundation import Foundation
from workbench.verification.results.analysis import analysis, plain, reaches
from workbench.verification.results.arrays import run_arrays, sensitivity
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.too_long import TooLong
from workbench.verification.verdict import Verdict
from workbench.verification.verdicts import Verdicts


@dataclass(frozen=True, eq=False, repr=False)
class Examination:
    """Verdicts with the run they rest on and the arrays a report draws.

    verdicts  one a claim, in their order
    log       the run through the scenario
    analysis  name → arrays, such as "ledger", the virtual power of every subsystem over time
    run       the run in full: `run.balance.perturbations` has the power of every cause, (subsystem, component, cause) → W
    """

    verdicts: list[Verdict]
    log: Log
    analysis: dict
    run: Run | None = None

    def __repr__(self) -> str:
        return repr(Verdicts(self.verdicts))

    def _repr_html_(self) -> str:
        return Verdicts(self.verdicts)._repr_html_()


def default_claims(loop: System, scenario: Scenario | None = None) -> tuple:
    """The claims that `verify` asks of this loop where none are given.

    scenario: what is run, if a claim depends on it. What cannot be asked of the loop stays in the table, with the reason
    (`Unasked`). Some of them, with one that is left out and one with another number:

        asked = [c for c in fp.default_claims(loop) if not isinstance(c, fp.claims.DelayLimit)]
        verdicts = fp.verify(loop, scenario, [*asked, fp.claims.Tracking(error=2e-3)])

    Raises InputError for a system without a controller.
    """
    from workbench.verification.defaults import defaults

    return defaults(loop, scenario)


def verify(
    loop: System,
    scenario: Scenario | None = None,
    claims: Sequence | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Verdicts:
    """Run the loop through the scenario, check the claims, return a list of Verdicts that shows itself as a table.

    scenario  what is run; left out, the path that a case file gets which states none
    claims    list of `fp.claims`; left out, `default_claims(loop, scenario)`
    progress  called with (fraction done, what is done) along the way

        for verdict in fp.verify(loop, scenario, [fp.claims.Tracking(error=2e-3)]):
            print(verdict.word, verdict.margin, verdict.unit, verdict.worst)

    `examine` returns the log and the arrays of a report as well.

    Raises InputError for claims that cannot be asked of this loop, and as `simulate` does.
    """
    return Verdicts(examine(loop, scenario, claims, progress).verdicts)


class _Progress:
    """How much of the work is done; claims on other threads tell it, too."""

    def __init__(self, tell, total):
        self.tell, self.total, self.done = tell, max(total, 1), 0
        self.alone = threading.Lock()

    def tick(self, what="", by=1):
        with self.alone:
            self.done = min(self.done + by, self.total)
            if self.tell:
                self.tell(self.done / self.total, what)


def examine(
    loop: System,
    scenario: Scenario | None = None,
    claims: Sequence | None = None,
    progress: Callable[[float, str], None] | None = None,
    ahead: Callable[[Examination], None] | None = None,
) -> Examination:
    """Run the loop through the scenario and check the claims, as `verify`; returns the log and the arrays of a report, too.

    scenario, claims, progress: as for `verify`. ahead(examination) is called with no verdicts and the arrays there are so
    far, so that a report can be begun: on a thread once the run is made, and where claims scan, once all others are checked; the
    two calls may overlap. Raises InputError for claims the loop cannot be asked.
    """
    check_system(loop)
    with steady():
        path = _default_path(loop) if scenario is None else stated(scenario)
        asked = None if claims is None else as_claims(claims)
        return _examined(loop, path, asked, progress, ahead)


def _default_path(loop: System) -> Scenario:
    """What a case file follows that states no scenario."""
    from workbench.cases.scenario import default_scenario

    return default_scenario(loop) if isinstance(loop, ClosedLoop) else Scenario()


def _examined(loop, scenario, claims, progress, ahead) -> Examination:
    from workbench.verification.defaults import check_closed

    check_closed(loop)
    claims = default_claims(loop, scenario) if claims is None else claims
    bar = _Progress(progress, 4 + sum(c.work for c in claims))
    bar.tick("simulating", 0)
    run = _ran(loop, scenario, claims)
    bar.tick("simulating", 4)
    verdicts, drawn = _judged(claims, run, bar, ahead)
    verdicts = within_accuracy(run, [put_to_the_test(v) for v in verdicts])
    caused = _with_cause(run, _with_energy(run, plain(verdicts)))
    return Examination(as_far_as_seen(run, beyond_the_run(run, caused)), run.told, drawn, run)


def _ran(loop, scenario, claims) -> Run:
    """The run that is judged, beside which the ledger is compiled where claims need it."""
    asked = any(claim.needs_ledger for claim in claims) and has_ledger(loop) and not loop.hosted
    ready = [lambda look: compiled_ledger(loop, scenario)] if asked else []
    with beside(ready):
        return simulated(loop, scenario)


def _judged(claims: Sequence, run: Run, bar: _Progress, ahead) -> tuple[list[Verdict], dict]:
    """(one verdict a claim, in order; the arrays a report draws).

    Claims that scan run beside the others, from where the bound that they rest on is known, and a report is begun, unless the loop
    has a part in plain Python: that may not be called by two threads at once.
    """
    foundation = Foundation()
    known = {
        "allowed": _allowed(claims, run),
        "bounded": foundation.set_bound,
        "claims": claims,
        "foundation": foundation,
    }
    asked = dict(enumerate(claims))
    alone = run.loop.hosted
    scanned = [] if alone else [i for i, claim in asked.items() if claim.scans]
    scans = {i: asked.pop(i) for i in scanned}
    works = [partial(_check, claim, run, known, bar) for claim in scans.values()]
    of_run = run_arrays(run, claims)
    if ahead and not alone:
        begun = Examination([], run.told, of_run, run)
        works.append(lambda look: ahead(begun))
    found: dict[int, Verdict] = {}
    with beside(works) as coming:
        found |= _practical(asked, run, known, bar)
        found |= {i: _check(claim, run, known, bar) for i, claim in asked.items() if i not in found}
        so_far = [found[i] for i in sorted(found)]
        peaks = sensitivity(run, claims, so_far)
        drawn = of_run | ({"sensitivity": peaks} if peaks else {}) | analysis(run, so_far)
        if ahead and scans:
            ahead(Examination([], run.told, drawn, run))
        found |= {i: verdict.result() for i, verdict in zip(scans, coming)}
    verdicts = [found[i] for i in range(len(claims))]
    return verdicts, drawn | reaches(verdicts)


def _practical(asked: dict, run: Run, known: dict, bar: _Progress) -> dict[int, Verdict]:
    """Verdicts on practical stability; limits rest on the one that is stated last.

    However it ends, nobody waits for what limits rest on any more.
    """
    foundation = known["foundation"]
    found: dict[int, Verdict] = {}
    try:
        for i, claim in reversed(asked.items()):
            if isinstance(claim, C.PracticalStability):
                found[i] = _check(claim, run, known, bar)
                foundation.decide(found[i])
    finally:
        foundation.decide(None)
    return found


def _allowed(claims: Sequence, run: Run) -> float | None:
    """The tracking error that these claims allow, in SI; that of the default claim where they state none that could be exceeded."""
    from workbench.verification.observed.requirements import size_of

    unit = run.error_unit
    stated = [c for c in claims if isinstance(c, run_claims.Tracking)]
    sizes = [size_of(c, "error", [unit]) for c in stated[:1]]
    if any(not too_wide(run, size, unit) for size in sizes):
        return sizes[0]
    asked = default_claims(run.loop, run.scenario)
    return next(
        (size_of(c, "error", [unit]) for c in asked if isinstance(c, run_claims.Tracking)), None
    )


def _with_cause(run, verdicts):
    if all(v.holds for v in verdicts if v.counted):
        return verdicts
    from workbench.verification.cause.named import with_cause

    return with_cause(run, verdicts)


def _with_energy(run, verdicts):
    from workbench.verification.observed.energy_claims import check_energy, resting_on

    energy = next((v for v in verdicts if v.key == "energy-balance"), None) or check_energy(
        run_claims.EnergyBalance(), run
    )
    return [resting_on(v, energy, run) for v in verdicts]


def _check(claim, run: Run, known: dict, bar, look: Callable[[], None] | None = None) -> Verdict:
    """The verdict on one claim. look: called at every tick; what it raises ends the check."""
    what = type(claim).__name__
    asked = claim
    if claim.needs_ledger and not has_ledger(run.loop):
        raise InputError(
            f"claim {what}: this controller states no accompanying function",
            mend="ask it of a VDC loop, or leave the claim out",
        )
    if claim.needs_ledger and len(run.log.time) < 2:
        return Verdict(what, what, None, worst=run.log.status.message, counted=claim.counted)

    def tick() -> None:
        bar.tick(what)
        if look is not None:
            look()

    given = {**known, "tick": tick}
    check = function(claim.check)
    claim, seen = moving(claim, run) if claim.needs_motion else (claim, run)
    another = seen is not run
    if claim.at_steps:
        seen = seen.fine
    try:
        verdict = check(claim, seen, *(given[name] for name in claim.takes))
    except TooLong as why:  # of a run that the claim made longer; the first one was not
        verdict = Verdict(kebab(what), kebab(what), None, worst=why.message, counted=claim.counted)
    bar.tick(what, 0 if "tick" in claim.takes else claim.work)
    verdict = put_in_reach(asked, verdict, run)
    return replace(verdict, instant=None) if another else verdict


def moving(claim, run: Run) -> tuple:
    """(claim, run), or where the machine stands still on it, a run from another start: standing still shows nothing.

    Settling is then allowed for as long as the scenario lasts, half of that run. A run that ends within the time allowed for
    settling is made longer.
    """
    from workbench.verification.practical.disturbed import lasting, stirred

    seen = stirred(run)
    if not isinstance(claim, run_claims.Tracking):
        return claim, seen
    if seen is run:
        return claim, lasting(run, claim.settle)
    return replace(claim, settle=max(claim.settle, run.scenario.length())), seen
