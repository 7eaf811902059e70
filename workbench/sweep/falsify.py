"""`workbench falsify FILE`: search for a run that violates the case's requirements, and write it as a case file."""

from __future__ import annotations

import os
from dataclasses import replace

from workbench.cases.file import Case
from workbench.contract.errors import InputError
from workbench.files.atomic import write_atomic
from workbench.sweep.counterexample import counterexample
from workbench.verification.search.claim import Falsify
from workbench.verification.search.directions import Direction, directions
from workbench.verification.search.falsify import check_falsify
from workbench.verification.verdict import Verdict


def asked(case: Case, options) -> Falsify:
    """The claim of the file, edited by the options. Raises InputError where nothing may vary."""
    claim = next((c for c in case.claims if isinstance(c, Falsify)), Falsify())
    over = {**claim.over, **dict(map(_range, options.over))}
    if not over:
        raise InputError(
            "nothing may vary: the file has no claim falsify",
            key="claims.falsify",
            mend="write --over payload.mass=0kg..80kg, or the claim into the file",
        )
    changes = {"budget": options.budget, "seed": options.seed}
    return replace(claim, over=over, **{k: v for k, v in changes.items() if v is not None})


def _range(text: str) -> tuple[str, tuple[str, str]]:
    name, equals, ends = text.partition("=")
    low, dots, high = ends.partition("..")
    if not (equals and dots):
        raise InputError(
            f"--over: {text[:80]!r} is no range",
            mend="write NAME=LOW..HIGH, payload.mass=0kg..80kg",
        )
    return name.strip(), (low.strip(), high.strip())


def searched(case: Case, claim: Falsify, tick=None) -> Verdict:
    """The verdict of the search."""
    from workbench.verification.run import run

    return check_falsify(claim, run(case.loop, case.scenario), case.claims, tick)


def deviations(case: Case, claim: Falsify, verdict: Verdict) -> dict[Direction, float]:
    """What deviates in the counter-example."""
    amounts = verdict.data["counterexample"]
    along = directions(case.loop, case.scenario, claim.over)
    return {d: amounts[d.name] for d in along if d.name in amounts}


def write_counterexample(case: Case, claim: Falsify, verdict: Verdict, path: str) -> str:
    """Write the case file of a violated search; the text."""
    why = f"Violates: {verdict.worst}\nCheck it with: verify-stability {os.path.basename(path)}"
    text = counterexample(case, deviations(case, claim, verdict), why)
    write_atomic(path, lambda stream: stream.write(text.encode()))
    return text


def run_falsify(options, case: Case) -> int:
    """Exit code: 1 violated, 2 not refuted or not searched."""
    from workbench.commands import terminal

    path = options.output or f"{os.path.splitext(options.file)[0]}-violates.yaml"
    if os.path.lexists(path):
        raise InputError(
            "there is such a file already", file=path, mend="give another one with --output"
        )
    claim = asked(case, options)
    done = [0]
    with terminal.progress(not options.quiet) as tell, case.located():

        def tick() -> None:
            done[0] += 16
            tell(min(0.99, done[0] / claim.budget), "searching")

        tell(0.0, "searching")
        verdict = searched(case, claim, tick)
    if verdict.holds is False:
        write_counterexample(case, claim, verdict, path)
    if not options.quiet:
        terminal.say(f"{verdict.claim}: {verdict.word}")
        terminal.say(verdict.worst)
        if verdict.holds is False:
            terminal.say(f"written: {path}")
    return 1 if verdict.holds is False else 2
