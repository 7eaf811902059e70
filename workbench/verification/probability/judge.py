"""The verdict on a probability: runs of draws, violations counted, their probability bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.verification.answers import Answers, Store
from workbench.verification.observed.requirement_claims import missing_in
from workbench.verification.probability.draws import laws
from workbench.verification.probability.fixed import by_number
from workbench.verification.probability.rare import by_splitting
from workbench.verification.probability.runs import Runs
from workbench.verification.probability.stopped import by_stopping
from workbench.verification.probability.words import KEY, words
from workbench.verification.temporal.sentence import Sentence, read
from workbench.verification.temporal.signals import columns, table
from workbench.verification.temporal.unbreakable import unbreakable
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
    empty = next(filter(None, (asks_nothing(s, run) for s in sentences)), "")
    if empty:
        return Verdict(KEY, words(claim), None, worst=empty, counted=claim.counted)
    kept = None if store is None else Answers(store, f"probability {claim.sentences}")
    runs = Runs(run, sentences, laws(claim.over, run.loop.plant), kept)
    method = METHODS["sequential" if claim.sequential else claim.method]
    return method(claim, runs, tick)


def asks_nothing(sentence: Sentence, run: Any) -> str:
    """Why a sentence asks nothing of the machine that is not drawn, in words, so that its runs count for nothing; or ""."""
    if unbreakable(sentence, float(run.log.time[-1])):
        return f"{sentence.shown} asks nothing: nothing that its signals could do makes it false"
    found = columns(run, sentence.names)
    if not run.log.status.completed or missing_in(found):
        return ""
    idle = sentence.on(run.fine.log.time, found).idle  # type: ignore[arg-type]
    return f"{sentence.shown} asks nothing: {idle[0]} was never true in the run" if idle else ""
