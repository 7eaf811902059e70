"""`workbench falsify FILE`: search for a run that violates the case's requirements, and write it as a case file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import final

from workbench.cases.file import Case
from workbench.contract.errors import InputError
from workbench.files.atomic import check_writable, write_atomic
from workbench.sweep.counterexample import counterexample
from workbench.sweep.journal import Journal
from workbench.sweep.outcome import Outcome
from workbench.sweep.resumed import interrupted
from workbench.verification.search.claim import Falsify
from workbench.verification.search.direction import Direction
from workbench.verification.search.directions import nothing_varies
from workbench.verification.search.falsify import along, check_falsify
from workbench.verification.search.minimise import FIRST, GENERATION
from workbench.verification.search.score import Score
from workbench.verification.verdict import Verdict


def asked(case: Case, options) -> Falsify:
    """The claim of the file, edited by the options. Raises InputError where nothing may vary."""
    claim = next((c for c in case.claims if isinstance(c, Falsify)), Falsify())
    over = {**claim.over, **dict(map(_range, options.over))}
    if not over:
        raise nothing_varies(case.plant)
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


@final
@dataclass(frozen=True)
class KeptRuns:
    """Scores of runs in a journal: what `Search` takes them from and puts them to."""

    journal: Journal

    def get(self, key: str) -> Score | None:
        found = self.journal.known.get(key)
        if found is None:
            return None
        (_, value, requirement), (_, moved, _), *each = found.results
        told = tuple((name, v) for name, v, _ in each)
        return Score(value, requirement, found.error, told, moved=moved)

    def add(self, key: str, found: Score) -> None:
        each = tuple((name, value, "") for name, value in found.each)
        moved = ("", float(found.moved), "moved")
        results = (("", float(found.value), found.requirement), moved, *each)
        self.journal.add(key, Outcome(results, found.refused))


def searched(case: Case, claim: Falsify, tick=None, kept: KeptRuns | None = None) -> Verdict:
    """The verdict of the search."""
    from workbench.verification.run import run

    return check_falsify(claim, run(case.loop, case.scenario), case.claims, tick, kept)


def deviations(case: Case, claim: Falsify, verdict: Verdict) -> dict[Direction, float]:
    """What deviates in the counter-example."""
    amounts = verdict.data["counterexample"]
    varied = along(claim, case.loop, case.scenario)
    return {d: amounts[d.name] for d in varied if d.name in amounts}


def write_counterexample(case: Case, claim: Falsify, verdict: Verdict, path: str) -> str:
    """Write the case file of a violated search; the text."""
    why = f"Violates: {verdict.worst}\nCheck it with: verify-stability {os.path.basename(path)}"
    text = counterexample(case, deviations(case, claim, verdict), why)
    write_atomic(path, lambda stream: stream.write(text.encode()))
    return text


def run_falsify(options, case: Case) -> int:
    """Exit code: 1 violated, 2 not refuted or not searched, 130 interrupted (what ran is kept)."""
    from workbench.commands import terminal

    path = options.output or f"{os.path.splitext(options.file)[0]}-violates.yaml"
    if os.path.lexists(path):
        raise InputError(
            "there is such a file already", file=path, mend="give another one with --output"
        )
    with case.located("claims"):
        claim = asked(case, options)
    along(claim, case.loop, case.scenario)
    check_writable(path)
    try:
        with Journal(path, options.resume, "search", "run") as journal:
            known = len(journal.known)
            verdict = _with_progress(case, claim, KeptRuns(journal), options.quiet)
            if verdict.holds is False:
                write_counterexample(case, claim, verdict, path)
            journal.forget()
    except KeyboardInterrupt:
        return interrupted(path)
    if not options.quiet:
        for line in _told(verdict, known, path):
            terminal.say(line)
    return 1 if verdict.holds is False else 2


def _with_progress(case: Case, claim: Falsify, kept: KeptRuns, quiet: bool) -> Verdict:
    """The verdict, with a bar while it is searched for."""
    from workbench.commands import terminal

    done = [0]
    with terminal.progress(not quiet) as tell, case.located():

        def tick() -> None:
            done[0] += FIRST if done[0] == 0 else GENERATION
            tell(min(0.99, done[0] / claim.budget), "searching")

        tell(0.0, "searching")
        return searched(case, claim, tick, kept)


def _told(verdict: Verdict, known: int, path: str) -> list[str]:
    """What the terminal says."""
    lines = [f"{verdict.claim}: {verdict.word}", verdict.worst]
    if known:
        lines.append(f"{known} runs were taken from the interrupted search")
    if verdict.holds is False:
        lines.append(f"written: {path}")
    return lines
