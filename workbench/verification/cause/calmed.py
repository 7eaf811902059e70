"""One fault at a time is taken away from a run that does not come to rest: what lets it come to rest is the cause.

Chatter and hunting weigh little beside the error of a law that follows its path badly, so that `cause.removal`, which adds up all
that goes badly, does not see what they come from. Here is asked only whether an oscillation or chatter lasts, on the run itself or
from one of the starts of practical stability.
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
    """What lets the run come to rest, the most unusual number first; None where it rests as it is, or nothing alone calms it."""
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
    """Whether one unusual thing is taken away: not the path, which disturbs a loop less where it is slower."""
    return trial.kind != "reference" and trial.oddness >= ODD


def _unrest(jobs) -> list[str]:
    """What goes on in every run, in words; that it cannot be made is unrest, too."""
    try:
        return run_many(jobs, restless)
    except Exception:  # noqa: BLE001 - one of them cannot be run
        return [_words(job) for job in jobs]


def _words(job) -> str:
    try:
        return run_many([job], restless)[0]
    except Exception:  # noqa: BLE001 - odd numbers raise what they like
        return "it cannot be run"
