"""`workbench plan FILE`: the motion of least energy, what others would take, and the motion as a reference."""

from __future__ import annotations

import json
from collections.abc import Callable

from workbench import terminal
from workbench.atomic import write_atomic
from workbench.errors import InputError
from workbench.planning.case import PlanCase
from workbench.planning.compare import compare
from workbench.planning.drive import write_plan
from workbench.planning.feasibility import shortest_time
from workbench.planning.table import document, text, title
from workbench.units import format_quantity


def plan(options, case: PlanCase, write_report: Callable) -> int:
    """Run the verb; 0, or InputError with the file's name. write_report(path, case, Comparison) writes the PDF."""
    starts = case.starts if options.starts is None else options.starts
    if starts < 0:
        raise InputError(f"--starts: {starts}", mend="give 0 or more")
    try:
        if options.shortest:
            seconds = shortest_time(case.task)
            terminal.say(f"the path takes at least {format_quantity(seconds, 's')} within the limits (given: "
                         f"{format_quantity(case.task.path.duration, 's')}; slowed or sped up as a whole, within 1 %)")
            return 0
        with terminal.progress(not options.quiet) as tell:
            found = compare(case.task, case.search, starts, tell)
            tell(1.0)
    except InputError as why:
        raise why.at(file=case.path) from None
    if not options.quiet:
        own = f"{case.name} · " if case.name != case.task.crane.name else ""
        terminal.say(terminal.headline(own + title(case.task), case.path, terminal.columns()))
        terminal.say(text(found))
    if options.csv:
        write_plan(options.csv, found.best)
    if options.json:
        packed = json.dumps(document(found), ensure_ascii=False, indent=2, allow_nan=False)
        write_atomic(options.json, lambda stream: stream.write(packed.encode("utf-8", "replace") + b"\n"))
    if options.report:
        write_report(options.report, case, found)
    if written := [terminal.clean(path) for path in (options.csv, options.json, options.report) if path and not options.quiet]:
        terminal.say(f"written: {', '.join(written)}")
    return 0
