"""The claims of a case file asked again, of the compiled code in the law's place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.cases.claims import ON_LEDGER, read_claims
from workbench.cases.form import kebab
from workbench.cases.node import Node
from workbench.commands import terminal
from workbench.contract.system import ClosedLoop
from workbench.interop.export.compiled import Compiled
from workbench.verification.judge import study
from workbench.verification.linear_loop import NO_EQUATIONS
from workbench.verification.verdict import Verdict, exit_code


def judged(options: Any, case: Any, law: Compiled) -> int:
    """The claims of the file, those that can be asked of code; the exit code."""
    loop = replace(case.loop, controller=law)
    with terminal.progress(not options.quiet) as tell, case.located():
        found = study(loop, case.scenario, claims_of_code(case, loop), tell)
    verdicts = [*map(uncounted, found.verdicts)]
    code = exit_code(verdicts)
    if not options.quiet:
        terminal.say("the compiled code as the law:")
        terminal.say(terminal.table(verdicts, terminal.columns()))
        terminal.say(terminal.tally(verdicts, [], code))
    return code


def claims_of_code(case: Any, loop: ClosedLoop) -> tuple:
    """What the file asks, of a loop whose law is code: its section edits the claims that suit such a loop.

    Claims on the ledger of a law are left out: code states no accompanying function.
    """
    section = case.root.value.get("claims") if case.root else None
    if section is not None and isinstance(section.value, dict):
        inside = {
            word: child
            for word, child in section.value.items()
            if kebab(word).replace("_", "-") not in ON_LEDGER
        }
        section = Node(inside, section.line, section.column, section.file) if inside else None
    return read_claims(section, loop, case.scenario, {})


def uncounted(verdict: Verdict) -> Verdict:
    """A claim on equations, which code does not show, counts no more: it was asked of the equations that the code is of."""
    return replace(verdict, counted=False) if NO_EQUATIONS in verdict.worst else verdict
