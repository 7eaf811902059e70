"""`workbench plan FILE`: the motion of least energy, or of least time, what others would take, and the motion as a reference."""

from __future__ import annotations

import json
from collections.abc import Callable

from workbench.commands import terminal
from workbench.contract.errors import InputError
from workbench.contract.units import format_quantity
from workbench.files.atomic import write_atomic
from workbench.planning import driven_table, race, table
from workbench.planning.case import PlanCase
from workbench.planning.compare import compare
from workbench.planning.drive import write_plan
from workbench.planning.driven import drive_all
from workbench.planning.feasibility import explain
from workbench.planning.feasible import raised
from workbench.planning.least_duration import shortest


def plan(options, case: PlanCase, write_report: Callable, driver: Callable) -> int:
    """Run the verb; 0, or InputError with the file's name.

    write_report(path, case, Comparison, Drives of each law) writes the PDF; driver(task, law's name) → (plant, law) to drive it.
    """
    starts = case.starts if options.starts is None else options.starts
    if starts < 0:
        raise InputError(f"--starts: {starts}", mend="give 0 or more")
    try:
        if options.shortest:
            return _say_shortest(case)
        laws = list(dict.fromkeys(options.drive))
        drives = []
        at = [driver(case.task, law) for law in laws]
        with terminal.progress(not options.quiet) as tell:
            part = lambda low, high: (
                lambda fraction, what="": tell(low + (high - low) * fraction, what)
            )
            share = part(0.0, 0.5) if at else tell
            timed = case.objective == "time"
            found = (
                race.race(case.task, starts, share)
                if timed
                else compare(case.task, case.search, starts, share)
            )
            for i, (law, own) in enumerate(zip(laws, at)):
                drives.append(
                    drive_all(
                        found,
                        *own,
                        law,
                        part(0.5 + 0.5 * i / len(at), 0.5 + 0.5 * (i + 1) / len(at)),
                    )
                )
            tell(1.0)
    except InputError as why:
        raise why.at(file=case.path) from None
    _tell(options, case, found, drives, write_report)
    return 0


def _tell(options, case: PlanCase, found, drives, write_report: Callable) -> None:
    """What was found, on the terminal and in the files asked for."""
    timed = case.objective == "time"
    view = race if timed else table
    if not options.quiet:
        name = f"{case.name} · " if case.name != case.task.crane.name else ""
        title = race.title(found) if timed else table.title(case.task)
        terminal.say(terminal.headline(name + title, case.path, terminal.columns()))
        terminal.say(view.text(found))
        if drives:
            terminal.say("\n" + driven_table.text(drives))
    if options.csv:
        write_plan(options.csv, found.best)
    if options.json:
        _write_json(options.json, view.document(found) | driven_table.document(drives))
    if options.report:
        write_report(options.report, case, found, drives)
    written = [path for path in (options.csv, options.json, options.report) if path]
    if written and not options.quiet:
        terminal.say(f"written: {', '.join(map(terminal.clean, written))}")


def _say_shortest(case: PlanCase) -> int:
    """Say how long the path takes at least; InputError where no time is long enough."""
    found = shortest(case.task)
    if found is None:
        raise explain(case.task)
    least = "at least " if found.speeds is None else ""
    terminal.say(
        f"the path takes {least}{format_quantity(raised(found.seconds), 's')} within the limits (given: "
        f"{format_quantity(case.task.path.duration, 's')}; slowed or sped up as a whole; {found.words})"
    )
    return 0


def _write_json(path: str, told: dict) -> None:
    packed = json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)
    write_atomic(path, lambda stream: stream.write(packed.encode("utf-8", "replace") + b"\n"))
