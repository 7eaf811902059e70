"""`workbench export FILE --part plant|loop`: verify the loop, write its plant or the whole of it as C, as an FMU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.commands import terminal
from workbench.contract.errors import InputError
from workbench.interop.export.checking import Finding, in_words, linted, sanitized
from workbench.interop.export.fmu.model import system_model
from workbench.interop.export.fmu.writing import write_fmu
from workbench.interop.export.heading import ROOM, header, text_of, worst
from workbench.interop.export.identifiers import identifier
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.package import all_or_none
from workbench.interop.export.reporting import Write, told, with_export
from workbench.interop.export.system_package import export_system, system_text
from workbench.interop.export.system_run import check_part, system_graph
from workbench.verification.judge import examine
from workbench.verification.verdict import exit_code

# cppcheck does not see that a function writes through a pointer to a pointer: it takes every result for unwritten.
UNFOLLOWED = ("uninitvar", "legacyUninitvar")
OF_LAWS = ("st", "ros2", "float", "judge", "processor")  # options that are about a law alone


def run_system_export(options: Any, case: Any, today: str, report: Write | None = None) -> int:
    """Exit code of the verdicts; 1 where a check of the code fails, too.

    Raises InputError for a part that cannot be exported and for targets that are there already; nothing is written then.
    """
    _check_options(options)
    if options.part == "loop":
        with case.located("controller"):
            law_graph(case.loop.controller)
    with case.located("plant"):
        check_part(case.loop, options.part)
    with terminal.progress(not options.quiet) as tell, case.located():

        def along(fraction: float, what: str = "") -> None:
            tell(0.8 * fraction, what)

        found = examine(case.loop, case.scenario, case.claims, along)
        tell(0.8, "replaying the run")
        graph, run = system_graph(case.loop, case.scenario, options.part)
    code = exit_code(found.verdicts)
    table = terminal.table(found.verdicts, ROOM)
    about = header(case, options, today, found.verdicts)
    verdicts = [v.as_dict() for v in found.verdicts]
    text = system_text(graph, run, options.name, about)
    given: dict[str, Any] = {"about": about, "verdicts": verdicts, "case": text_of(case)}
    with all_or_none() as done:
        if options.c:
            export_system(options.c, graph, run, name=options.name, **given)
            done.append(options.c)
        if options.fmu:
            write_fmu(options, system_model(text, run), **given)
    written = [path for path in (options.c, options.fmu) if path]
    if not options.quiet:
        terminal.say(table)
        terminal.say(terminal.tally(found.verdicts, written, code))
    findings = _checked(options) if options.check else []
    if options.report and report is not None:
        report(options.report, case, with_export(found, told(text, written, findings)))
    return worst(code, *(int(f.well is False) for f in findings))


def _check_options(options: Any) -> None:
    """InputError for what is asked of a plant or a loop and is of laws alone."""
    for name in OF_LAWS:
        if getattr(options, name):
            raise InputError(
                f"--{name} is about the law, and --part {options.part} has more than that",
                mend=f"leave --{name} out, or export --part controller",
            )


def _checked(options: Any) -> list[Finding]:
    """The replay under the compiler's sanitizers, and cppcheck, each a line."""
    folder = Path(options.c)
    findings = [sanitized(folder, identifier(options.name)), linted(folder, UNFOLLOWED)]
    if not options.quiet:
        for found in findings:
            terminal.say(in_words(found))
    return findings
