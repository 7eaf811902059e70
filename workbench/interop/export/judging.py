"""The claims of a case file asked again, of the compiled code in the law's place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from workbench.cases.claims import ON_LEDGER, OPTIONS_ON_LEDGER, read_claims
from workbench.cases.form import kebab
from workbench.cases.node import Node
from workbench.commands import terminal
from workbench.contract.closed_loop import ClosedLoop
from workbench.interop.export.compiled import Compiled
from workbench.verification.judge import examine
from workbench.verification.linear.called_law import BENT
from workbench.verification.linear.loop import NO_EQUATIONS
from workbench.verification.run_claims import Unasked
from workbench.verification.verdict import Verdict, exit_code


def judged(options: Any, case: Any, law: Compiled, before: Sequence[Verdict]) -> int:
    """The claims of the file, those that can be asked of code; the exit code. before: their verdicts on the law itself."""
    loop = replace(case.loop, controller=law)
    with terminal.progress(not options.quiet) as tell, case.located():
        found = examine(loop, case.scenario, claims_of_code(case, loop), tell)
    held = [] if options.float else [v.key for v in before if v.holds is True]
    told = {v.key for v in before if not v.counted}
    verdicts = [uncounted(v, held, told) for v in found.verdicts]
    code = exit_code(verdicts)
    if not options.quiet:
        terminal.say("the compiled code as the law:")
        terminal.say(terminal.table(verdicts, terminal.columns()))
        terminal.say(terminal.tally(verdicts, [], code))
    if options.float and not options.quiet:
        for line in costs(before, verdicts):
            terminal.say(line)
    return code


def costs(before: Sequence[Verdict], after: Sequence[Verdict]) -> list[str]:
    """What single precision costs: each claim whose verdict changed, and the margins of the others, before and after."""
    known = {v.key: v for v in before}
    lines = ["single precision, against the law in doubles:"]
    for now in after:
        was = known.get(now.key)
        if was is None or not now.counted:
            continue
        said = f"  {now.key}: {was.word}" + ("" if was.holds == now.holds else f" -> {now.word}")
        if was.margin is not None and now.margin is not None:
            changed = now.margin - was.margin
            unit = "" if now.unit == "1" else f" {now.unit}"
            said += f", margin {was.margin:.6g} -> {now.margin:.6g}{unit} ({changed:+.2g})"
        lines.append(said)
    return lines


def claims_of_code(case: Any, loop: ClosedLoop) -> tuple:
    """What the file asks, of a loop whose law is code: its section edits the claims that suit such a loop, of the same kinds.

    Claims on the ledger of a law are left out, and so are options on it: code states no accompanying function.
    """
    section = case.root.value.get("claims") if case.root else None
    if section is not None and isinstance(section.value, dict):
        section = _without_ledger(section, section.value)
    asked = {type(claim) for claim in case.claims} | {Unasked}
    claims = read_claims(section, loop, case.scenario, {})
    return tuple(claim for claim in claims if type(claim) in asked)


def _without_ledger(section: Node, stated: dict[str, Node]) -> Node | None:
    """A section, whose claims are `stated`, without what it asks of a ledger; None where nothing else stands in it."""
    names = {word: kebab(word).replace("_", "-") for word in stated}
    inside = {
        word: _without_options(child, OPTIONS_ON_LEDGER.get(names[word], ()))
        for word, child in stated.items()
        if names[word] not in ON_LEDGER
    }
    return replace(section, value=inside) if inside else None


def _without_options(claim: Node, left_out: Sequence[str]) -> Node:
    """A claim of a file without these options."""
    if not isinstance(claim.value, dict) or not left_out:
        return claim
    return replace(claim, value={k: v for k, v in claim.value.items() if k not in left_out})


def uncounted(verdict: Verdict, held: Sequence[str] = (), told: Collection[str] = ()) -> Verdict:
    """A claim on equations, which code does not show, counts no more: it was asked of the equations that the code is of.

    Neither does a claim that is undecided because the code has a corner, behind which its memory cannot be read by
    differences, where it is among those that `held` of the equations with the same numbers. What was `told` of the equations
    for information is told of the code for information.
    """
    hidden = verdict.holds is None and verdict.key in held and BENT in verdict.worst
    unasked = hidden or verdict.key in told or NO_EQUATIONS in verdict.worst
    return replace(verdict, counted=False) if unasked else verdict
