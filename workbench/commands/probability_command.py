"""`workbench probability FILE`: the claims about probabilities of a case file, by runs that are kept as they come."""

from __future__ import annotations

from workbench.contract.errors import InputError
from workbench.verification.probability.claims import Probability
from workbench.verification.probability.judge import check_probability
from workbench.verification.verdict import CODES, Verdict, conjunction


def probabilities(case, tick=None, store=None) -> list[Verdict]:
    """The verdicts of a Case's claims `probability`.

    store: what keeps the runs' answers (`workbench.verification.answers.Store`). Raises InputError where the file has no such
    claim.
    """
    from workbench.verification.run import run

    asked = [claim for claim in case.claims if isinstance(claim, Probability)]
    if not asked:
        raise InputError(
            "the file has no claim probability",
            key="claims.probability",
            mend="write claims: {probability: {of: …, over: {…}}}, see docs/probability.md",
        )
    nominal = run(case.loop, case.scenario)
    return [check_probability(claim, nominal, tick or (lambda: None), store) for claim in asked]


def run_probability(options, case) -> int:
    """Exit code: 0 all hold, 1 one is violated, 2 one is undecided, 130 interrupted (what ran is kept)."""
    from workbench.sweep.resumed import kept_beside

    return kept_beside(options, "probability", lambda store: _answered(options, case, store))


def _answered(options, case, store) -> int:
    from workbench.commands import terminal

    known = len(store.journal.known) if store else 0
    with terminal.progress(not options.quiet) as tell, case.located():
        tell(0.0, "running")
        found = probabilities(case, None, store)
    words = {verdict.holds for verdict in found}
    if not options.quiet:
        for verdict in found:
            terminal.say(f"{verdict.claim}: {verdict.word}")
            terminal.say(verdict.worst)
        if known:
            terminal.say(f"{known} runs were taken from the interrupted study")
    return CODES[conjunction(words)]
