"""The cause of an oscillation: which single possible fault, once removed, lets the loop come to rest?

`cause.removal` adds up everything that goes badly; there chatter and hunting weigh little beside a large tracking error. This
search asks only whether an oscillation or chatter lasts, in the run itself or from one of the starts of practical stability.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.run.scenario import Scenario
from workbench.verification.cause.removal import kicked
from workbench.verification.cause.trial import Cause, Trial
from workbench.verification.cause.trials import trials
from workbench.verification.practical.disturbed import restless
from workbench.verification.run import Run, run_many

# Share of a number, from which on it is unusual enough to be blamed for what it does alone.
ODD = 0.4
LONGEST = 20.0  # s of a trial's run
MOST = 8  # trials of one loop
TOLD = 3  # causes that are told, at most


def calmed(run: Run) -> Cause | None:
    """The removals that let the loop come to rest, the most unusual first; None where it rests already, or none does."""
    scenario = None if run.loop.hosted else _restless(run)
    if scenario is None:
        return None
    tried = [trial for trial in trials(run) if _alone(trial)][:MOST]
    jobs = [(trial.on(run.loop), replace(scenario, **trial.scenario)) for trial in tried]
    quiet = [trial for trial, unrest in zip(tried, _unrest(jobs)) if not unrest]
    if not quiet:
        return None
    words = dict.fromkeys(trial.told(True) for trial in quiet)
    return Cause(quiet[0].kind, "; or ".join(list(words)[:TOLD]))


def _restless(run: Run) -> Scenario | None:
    """The scenario, or one from another start, on which the loop does not come to rest; None where it does on all of them."""
    length = min(2 * run.scenario.length(), LONGEST)
    own = replace(run.scenario, duration=length, log_period=None)
    every = [own, *kicked(run, own)]
    said = _unrest([(run.loop, scenario) for scenario in every])
    return next((scenario for scenario, unrest in zip(every, said) if unrest), None)


def _alone(trial: Trial) -> bool:
    """Whether a trial removes a single unusual fault. A slower path does not count, as it disturbs any loop less."""
    return trial.kind != "reference" and trial.oddness >= ODD


def _unrest(jobs) -> list[str]:
    """In words, the oscillation or chatter of each run, "" for none; a run that cannot be made counts as one."""
    try:
        return run_many(jobs, restless)
    except Exception:  # noqa: BLE001 - one of them cannot be run
        return [_words(job) for job in jobs]


def _words(job) -> str:
    try:
        return run_many([job], restless)[0]
    except Exception:  # noqa: BLE001 - odd numbers raise what they like
        return "it cannot be run"
