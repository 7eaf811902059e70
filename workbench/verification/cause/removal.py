"""Search for a cause by trials: each trial removes one possible fault from the loop, and the scenario is run again, shorter.

How much better a run goes (`cause.badness`) is weighed with how unusual the number was (`cause.trials` lists the trials); the trial
with the largest weight is the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.contract.parameters import bind
from workbench.contract.system import System
from workbench.run.scenario import Scenario
from workbench.verification.cause.badness import badness, largest_error
from workbench.verification.cause.trial import Cause, Trial
from workbench.verification.cause.trials import believed, trials
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.practical.starts import SPREAD, drawn, scenario_from
from workbench.verification.run import Run, run_many
from workbench.verification.scales import scales

MOST = 40  # trials of one loop
HOSTED = 6  # trials of a loop whose law is called from Python, where a run takes seconds
LONGEST = 6.0  # s, a trial's run at most
HOSTED_SAMPLES = 1500  # samples of a trial's run, for a law called from Python
SOUND = 0.35  # badness below which a run shows no fault
# Badness below which a run shows no fault even where a removal takes CLEARLY all of it away: claims may ask for less than is small.
FAINT = 0.02
CLEARLY = 0.9  # share of the badness
HELPS = 0.25  # least share of the badness that a removal must take away
PARTLY = 0.15  # least share where nothing else is found; the cause then says "in part"
# Share of the best removal's effect: other removals with as much are named with it, where many numbers were tried in turn.
ALIKE = 0.95
KICKS = 4  # other starts that are tried where the run itself shows nothing
MOST_ROWS = 200  # rows of a run at which the ledger of a corrected model is worked out


def removal(run: Run, faint: bool = True) -> Cause | None:
    """The trial with the largest weight, share of badness removed × (0.2 + oddness); None where none helps enough.

    faint: True also looks for the cause of a fault that the run hardly shows (badness between FAINT and SOUND), which makes sense
    only where a claim on the run itself is violated.
    """
    hosted = run.loop.hosted
    tried = _ranked(run, trials(run))[: HOSTED if hosted else MOST]
    before, scenario = shown(run, hosted)
    if not tried or before < (FAINT if faint else SOUND):
        return None
    large = large_error(run, scenario)
    jobs = [(trial.on(run.loop), replace(scenario, **trial.scenario)) for trial in tried]
    after = _judged(jobs, partial(badness, large=large))
    found = [_removed(trial, before, left) for trial, left in zip(tried, after)]
    if before < SOUND and not any(_heals(one.trial, one.share) for one in found):
        return None
    best = max(found, key=lambda one: one.weight)
    if best.share < HELPS:
        return _in_part(best.trial, best.share)
    named = [best]
    # One of many numbers that were tried in turn; or a slower path, which heals what a stronger machine would heal, too.
    if " " in best.trial.kind or best.trial.kind == "reference":
        alike = [one for one in found if one.share >= ALIKE * best.share]
        named += sorted(alike, key=lambda one: -one.weight)
    words = dict.fromkeys(one.trial.told(True, one.well) for one in named)
    return Cause(best.trial.kind, "; or ".join(list(words)[:3]), best.share)


class _Removed(NamedTuple):
    """A trial that was run: the share of badness that it removes, whether the run then shows no fault, its weight.

    Where the run shows hardly a fault (below SOUND), only trials that heal have a weight.
    """

    trial: Trial
    share: float
    well: bool
    weight: float


def _removed(trial: Trial, before: float, left: float) -> _Removed:
    """before, left: badness with the fault, and without."""
    share = max(0.0, (before - left - trial.free) / before)
    counts = before >= SOUND or _heals(trial, share)
    weight = share * (0.2 + trial.oddness) if counts else 0.0
    return _Removed(trial, share, left < SOUND or share >= CLEARLY, weight)


def _heals(trial: Trial, share: float) -> bool:
    """Whether a removal takes nearly all badness away. A slower path never counts: any loop follows it better."""
    return share >= CLEARLY and trial.kind != "reference"


def _in_part(trial: Trial, share: float) -> Cause | None:
    """The trial as a part of the cause, where it removes a share of PARTLY; None for a slower path."""
    if share < PARTLY or trial.kind == "reference":
        return None
    return Cause(trial.kind, trial.told(False), share)


def _judged(jobs, judge: Callable[[Run], float] = badness) -> list[float]:
    """Badness of every job; inf for one that cannot be run."""
    try:
        return run_many(jobs, judge)
    except Exception:  # noqa: BLE001 - one of them cannot be run
        return [_alone(job, judge) for job in jobs]


def _alone(job, judge: Callable[[Run], float]) -> float:
    """Badness of one job; inf if it cannot be run."""
    try:
        (found,) = run_many([job], judge)
    except Exception:  # noqa: BLE001 - odd numbers in a user's law or plant raise what they like
        return math.inf
    return found


def shown(run: Run, hosted: bool) -> tuple[float, Scenario]:
    """(badness, scenario) of a shortened run that shows the fault: from the scenario's start, else from one off the path."""
    longest = HOSTED_SAMPLES * float(run.loop.period or 1e-3) if hosted else LONGEST
    brief = replace(run.scenario, duration=min(run.scenario.length(), longest), log_period=None)
    found: list[tuple[float, Scenario]] = []
    for scenario in (brief, *kicked(run, brief)):
        bad = _alone((run.loop, scenario), badness)
        found.append((bad if math.isfinite(bad) else 10.0, scenario))
        if bad >= SOUND:
            return found[-1]
    return max(found, key=lambda one: one[0])


def large_error(run: Run, scenario: Scenario) -> float:
    """The error that `badness` takes as large, in its unit: the loop's own largest error; 0 where the machine states a scale."""
    if scales(run.loop.plant).of_unit(run.error_unit) is not None:
        return 0.0
    found = _alone((run.loop, scenario), largest_error)
    return found if math.isfinite(found) else 0.0


def kicked(run: Run, scenario: Scenario) -> list[Scenario]:
    """The scenario from the starts of the claim on practical stability; the reference stays where it was."""
    still = replace(scenario, reference=run.demand.reference or scenario.reference)
    return [scenario_from(run, start, still) for start in drawn(run, KICKS, SPREAD)]


def _ranked(run: Run, tried: list[Trial]) -> list[Trial]:
    """The trials, first those of the model that reduce its perturbations in the ledger most, then by oddness."""
    path, model = believed(run.loop)
    own = [t for t in tried if t.kind == "model" and all(p.startswith(path) for p in t.numbers)]
    if model is None or len(own) < 2 or not has_ledger(run.loop):
        return tried
    before = mismatch(run, run.loop)
    taken = {t.words: before - mismatch(run, bind(run.loop, dict(t.numbers))) for t in own}
    return sorted(tried, key=lambda t: (-taken.get(t.words, 0.0), -t.oddness))


def mismatch(run: Run, loop: System) -> float:
    """Sum over rows of the run of |power| [W] of the ledger's perturbations "model", "parameters" and "friction" in `loop`."""
    t, x, w = run.instants
    rows = np.unique(np.linspace(0, len(t) - 1, min(len(t), MOST_ROWS)).astype(int))
    x_seen = np.ascontiguousarray(x[rows])
    w_seen = np.ascontiguousarray(w[rows])
    balance = run.ledger(loop, t[rows], x_seen, w_seen).finite()
    terms = [
        np.abs(power)
        for (_, _, name), power in balance.perturbations.items()
        if name in ("model", "parameters", "friction")
    ]
    return float(sum(term.sum() for term in terms))
