"""The verdict on a probability: runs of draws, violations counted, their probability bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbench.verification.answers import Answers, Store
from workbench.verification.observed.reachable import put_in_reach
from workbench.verification.observed.requirement_claims import (
    Requirement,
    answered,
    put_to_the_test,
)
from workbench.verification.probability.draws import laws
from workbench.verification.probability.fixed import by_number
from workbench.verification.probability.rare import by_splitting
from workbench.verification.probability.runs import Runs
from workbench.verification.probability.stopped import by_stopping
from workbench.verification.probability.words import KEY, words
from workbench.verification.temporal.sentence import read
from workbench.verification.temporal.signals import table
from workbench.verification.verdict import Verdict

METHODS = {"runs": by_number, "sequential": by_stopping, "splitting": by_splitting}


def check_probability(
    claim: Any, run: Any, tick: Callable[[], None], store: Store | None = None
) -> Verdict:
    """The answer of the claim's method; undecided where a sentence looks beyond the run.

    store: what keeps the answers of runs, where a study may be interrupted.
    """
    sentences = [read(sentence, table(run.loop, run.demand)) for sentence in claim.sentences]
    short = next((s for s in sentences if s.until > float(run.log.time[-1])), None)
    if short is not None and run.log.status.completed:
        why = f"{short.text} looks up to t = {short.until:.4g} s, beyond the run: run it longer"
        return Verdict(KEY, words(claim), None, worst=why, counted=claim.counted)
    empty = next(filter(None, (asks_nothing(s, run) for s in claim.sentences)), "")
    if empty:
        return Verdict(KEY, words(claim), None, worst=empty, counted=claim.counted)
    kept = (
        None if store is None else Answers(store, f"probability, tests counted {claim.sentences}")
    )
    runs = Runs(run, sentences, laws(claim.over, run.loop.plant), kept)
    method = METHODS["sequential" if claim.sequential else claim.method]
    return looked_at(method(claim, runs, tick), runs)


def asks_nothing(sentence: str, run: Any) -> str:
    """Why a sentence asks nothing of the machine that is not drawn, in words, so that its runs count for nothing; or ""."""
    claim = Requirement(sentence)
    verdict, _ = answered(claim, run)
    tested = put_to_the_test(put_in_reach(claim, verdict, run))
    if not verdict.holds or tested.holds:
        return ""
    return f"{verdict.claim} asks nothing of the machine as it is: {tested.worst}"


def looked_at(verdict: Verdict, runs: Runs) -> Verdict:
    """The verdict; one that holds over numbers that move nothing is undecided, and numbers that move nothing are named."""
    idle = runs.idle() if verdict.holds else []
    if not idle:
        return verdict
    told = f"{', '.join(idle)} moved no signal by more than rounding"
    if len(idle) < len(runs.laws):
        return replace(verdict, worst=f"{verdict.worst}; {told}")
    why = f"all runs are one and the same: {told}; draw what this run depends on"
    return verdict.overruled(why, limit=None)
