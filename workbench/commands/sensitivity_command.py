"""`workbench sensitivity FILE`: which numbers of the machine move the margins of a case's requirements most."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity as say
from workbench.verification.sensitivity.check import (
    BARS,
    check_sensitivity,
    doubt,
    signed,
    strongest,
)
from workbench.verification.sensitivity.claim import Sensitivity
from workbench.verification.verdict import Verdict


def asked(case, of: list[str]) -> Sensitivity:
    """The claim of the file, of the numbers that the options name."""
    claim = next((c for c in case.claims if isinstance(c, Sensitivity)), Sensitivity())
    return replace(claim, of=tuple(of)) if of else claim


def sensitivity(case, of: tuple[str, ...] = (), tick=None, store=None) -> Verdict:
    """How much each number of the plant changes the margins of a Case's requirements; the results are in `verdict.data`.

    case    what `load` returns. A loop that is no case is asked by `verify(loop, scenario, […, Sensitivity()])` of `fp.claims`
    of      numbers to vary, by path or by the end of it (`payload.mass`); by default those that the case's claim names, else all
    tick    called after every run
    store   where margins of finished runs are kept (`workbench.verification.answers.Store`)

    Raises InputError for what is no case, and for a number that the plant does not have.
    """
    from workbench.cases.file import Case
    from workbench.verification.run import run

    if not isinstance(case, Case):
        raise InputError(
            f"sensitivity: expected a Case, got {type(case).__name__}",
            mend="give what fp.load returns; of a loop ask verify(loop, scenario, [Requirement(…), Sensitivity()])",
        )

    claim = asked(case, list(of))
    return check_sensitivity(
        claim, run(case.loop, case.scenario), case.claims, tick or (lambda: None), store
    )


def lines(data: Mapping) -> list[str]:
    """The table, a line a number: the change for +10 % with a bar, its error, per unit."""
    found = []
    for row in data["requirements"]:
        found.append(f"{row['claim']}: {say(row['margin'], row['unit'], 3)} left")
        lost = [s["name"] for s in row["slopes"] if s["tenth"] is None]
        found += [f"    {name:<24} runs beside the case end early" for name in lost]
        moving = strongest(row)[:BARS]
        found += [_line(s, row["unit"], abs(moving[0]["tenth"])) for s in moving]
        if not moving and not lost:
            found.append("    no number moves it")
    return found


def _line(s: Mapping, unit: str, most: float) -> str:
    bar = "█" * max(1, round(12 * abs(s["tenth"]) / most))
    change = signed(s["tenth"], unit)
    kink = f"  {doubt(s)}" if doubt(s) else ""
    return f"    {s['name']:<24} {bar:<12} {change:>12} for +10 %  {s['words']}{kink}"


def run_sensitivity(options, case) -> int:
    """Exit code 0, 130 interrupted (what ran is kept). Raises InputError where no requirement has a margin."""
    from workbench.sweep.resumed import kept_beside

    return kept_beside(options, "sensitivity", lambda store: _answered(options, case, store))


def _answered(options, case, store) -> int:
    from workbench.commands import terminal

    with terminal.progress(not options.quiet) as tell, case.located():
        tell(0.0, "running")
        verdict = sensitivity(case, tuple(options.of), None, store)
    if "requirements" not in verdict.data:
        raise InputError(verdict.worst, key="claims", mend="ask a requirement that has a margin")
    if options.json:
        _write(options.json, verdict)
    if not options.quiet:
        for line in lines(verdict.data):
            terminal.say(line)
    return 0


def _write(path: str, verdict: Verdict) -> None:
    from workbench.files.atomic import write_atomic

    text = json.dumps(verdict.as_dict(), ensure_ascii=False, indent=1)
    write_atomic(path, lambda stream: stream.write(text.encode()))
