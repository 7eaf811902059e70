"""`workbench tune` by runs of the loop: a case file → gains that were traded, a table of them, a file, a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from controllers.gain_search.knobs import knobs, turned
from controllers.gain_search.options import ByRuns
from controllers.gain_search.point import Point, Traded
from controllers.gain_search.shown import UNMET, gain_rows, headed, in_words
from controllers.tuned_file import say_verified, verified, write, written
from workbench.cases.edit import located
from workbench.commands import terminal
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import innermost
from workbench.contract.units import quantity
from workbench.verification.run import error_unit
from workbench.verification.verdict import Verdict

MEND = (
    "the search looks at one start and one path; ask for more to be borne (--bears), let the claims allow more, or begin from "
    "other gains"
)
Report = Callable[..., None]


def tune_by_runs(options: Any, case: Any, write_report: Report) -> int:
    """Run the verb and return its exit code: 0; 1 where the gains found do not keep what was asked.

    Where a file is written, the code is that of the file's own verification. If the best gains do not pass it, the next best ones
    are tried, and the gains that the file had before last. Raises InputError.
    """
    wish = _wish(options, case)
    sections = case.root.value
    key = "controller" if "controller" in sections else "plant"
    with located(sections[key], key):
        knobs(innermost(case.controller), wish.free, wish.each)
    with terminal.progress(not options.quiet) as tell, case.located():
        tell(0.0, "tuning")
        found = wish.tune(
            case.loop, case.scenario, case.claims, lambda share: tell(share, "tuning")
        )
    verdicts: list[Verdict] = []
    code = 0 if found.met else 1
    text = ""
    if options.write and found.met:
        found, text, code, verdicts = _passing(options, case, wish, found)
    if not options.quiet:
        terminal.say(terminal.headline(terminal.title(case), case.path, terminal.columns()))
        terminal.say(shown(found))
    if text:
        write(options, text)
        if options.verify:
            say_verified(options, code, verdicts, MEND)
    elif options.write and not options.quiet:
        terminal.complain(f"not written: {options.write} ({UNMET})")
    if options.report:
        rows = tuple(gain_rows(found))
        words = tuple(in_words(found))
        write_report(options.report, case.name, found, rows, words, tuple(verdicts))
        if not options.quiet:
            terminal.say(terminal.clean(f"written: {options.report}"))
    return code


def _passing(options: Any, case: Any, wish: ByRuns, found: Traded):
    """(the search with the first choice whose file passes its verification, that file, its exit code, its verdicts)."""
    kept = [point for point in found.ranked if point.kept]
    first = None
    for point in dict.fromkeys((*kept, found.start), None):
        chosen = _with(case, wish, found, point)
        text = written(case, chosen.law, chosen.found)
        if not options.verify:
            return chosen, text, 0, []
        code, verdicts = verified(options, text)
        if code == 0:
            return chosen, text, 0, verdicts
        first = first or (chosen, text, code, verdicts)
    return first


def _with(case: Any, wish: ByRuns, found: Traded, point: Point) -> Traded:
    law = innermost(case.controller)
    loop: ClosedLoop = turned(case.loop, knobs(law, wish.free, wish.each), point.octaves)
    return replace(found, loop=loop, chosen=point)


def _wish(options: Any, case: Any) -> ByRuns:
    """What the command line asks for."""
    known = {f.name for f in fields(ByRuns)}
    given = {name: getattr(options, name) for name in known if getattr(options, name, None)}
    units = {"bears": "s", "error": error_unit(case.loop)}
    for name in units.keys() & given.keys():
        try:
            given[name] = quantity(given[name], units[name])
        except InputError as why:
            raise InputError(f"--{name}: {why.message}", mend=why.mend) from None
    if "free" in given:
        given["free"] = tuple(given["free"])
    return ByRuns(**given)


def shown(found: Traded) -> str:
    """The table that `workbench tune` prints: gains before and after, their effect, and what was asked."""
    rows = [headed(found), *gain_rows(found)]
    widths = [max(terminal.width(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(text + " " * (w - terminal.width(text)) for text, w in zip(row, widths)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *in_words(found)])
