"""`workbench export FILE --c FOLDER`: verify the loop, write its law as C, check the code, ask the claims of it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.commands import terminal
from workbench.contract.errors import InputError
from workbench.files.atomic import check_writable, write_atomic
from workbench.interop.export.c_text import CText
from workbench.interop.export.checking import Finding, checked, checked_by_program, in_words
from workbench.interop.export.compiled import Compiled
from workbench.interop.export.fmu.model import check_law, law_model
from workbench.interop.export.fmu.writing import write_fmu
from workbench.interop.export.heading import NAMES, ROOM, header, text_of, worst
from workbench.interop.export.identifiers import identifier
from workbench.interop.export.judging import judged
from workbench.interop.export.laws import Graph, graph_of, run_of
from workbench.interop.export.laws import text_of as c_of
from workbench.interop.export.package import all_or_none, export_law, free, law_digest
from workbench.interop.export.processor import in_the_loop
from workbench.interop.export.replay import Replay
from workbench.interop.export.reporting import Write, told, with_export
from workbench.interop.export.ros2_package import check_samples, export_ros2, package_name
from workbench.interop.export.solver_text import SolverText
from workbench.interop.export.structured_text import StructuredText
from workbench.interop.export.system_command import run_system_export
from workbench.verification.judge import examine
from workbench.verification.verdict import Verdict, exit_code

JUDGED = "claims asked of the compiled code"


def run_export(options: Any, case: Any, today: str, report: Write | None = None) -> int:
    """Exit code of the verdicts (0 all hold, 1 some violated, 2 some undecided); 1 where a check of the code fails, too.

    report: what writes options.report, of (path, case, examination).

    Raises InputError for a law that cannot be exported and a folder that is there already; nothing is written then.
    """
    _check_targets(options)
    options.name = options.name or NAMES[options.part]
    if options.part != "controller":
        return run_system_export(options, case, today, report)
    with case.located("controller"):
        graph = graph_of(case.loop.controller)
        _check_law(options, graph)
    found, run = _examined(options, case, graph)
    code = exit_code(found.verdicts)
    table = terminal.table(found.verdicts, ROOM)
    about = header(case, options, today, found.verdicts)
    given = {
        "name": options.name,
        "single": options.float,
        "about": about,
        "verdicts": [v.as_dict() for v in found.verdicts],
        "case": text_of(case),
    }
    with all_or_none() as done:
        text = _written(options, case, graph, run, about, given, done)
    _say(options, table)
    written = [path for path in targets(options) if path]
    _say(options, terminal.tally(found.verdicts, written, code))
    findings = _looked_at(options, case, run, found.verdicts) if _about_code(options) else []
    if options.report and report is not None:
        report(options.report, case, with_export(found, told(text, written, findings)))
    return worst(code, *map(code_of, findings))


def _written(
    options: Any,
    case: Any,
    graph: Graph,
    run: Replay,
    about: Sequence[str],
    given: dict[str, Any],
    done: list[str],
) -> CText | SolverText:
    """Everything that is asked for, written; the law's C. given: options of `export_law`; done: what is written so far."""
    if options.c:
        export_law(options.c, graph, run, **given)
        done.append(options.c)
    if options.ros2:
        limits = case.plant.limits()
        export_ros2(options.ros2, graph, run, limits=limits, title=terminal.title(case), **given)
        done.append(options.ros2)
    text = c_of(
        graph,
        name=identifier(options.name),
        single=options.float,
        about=tuple(about),
        digest=law_digest(graph, options.float),
    )
    if options.fmu:
        write_fmu(options, law_model(text, run), about, given["verdicts"], given["case"])
        done.append(options.fmu)
    if options.st:
        _structured(options, graph, about)
    return text


def _examined(options: Any, case: Any, graph: Any) -> tuple[Any, Replay]:
    """The verdicts on a case, and its run replayed with the graph of its law."""
    with terminal.progress(not options.quiet) as tell, case.located():

        def along(fraction: float, what: str = "") -> None:
            tell(0.8 * fraction, what)

        found = examine(case.loop, case.scenario, case.claims, along)
        tell(0.8, "replaying the run")
        return found, run_of(case.loop, case.scenario, graph)


def _about_code(options: Any) -> bool:
    return bool(options.check or options.judge or options.processor)


def _looked_at(options: Any, case: Any, run: Replay, verdicts: Sequence[Verdict]) -> list[Finding]:
    """What the checks that are asked for say of the code, each a line; verdicts: those of the law that it is of."""
    if case.loop.lag:
        findings = checked_by_program(Path(options.c), identifier(options.name))
        return _told(options, findings)
    law = Compiled(options.c)
    findings = checked(law, run) if options.check else []
    if options.processor:
        findings.append(in_the_loop(law.folder, law.manifest, run))
    _told(options, findings)
    if options.judge:
        code = judged(options, case, law, verdicts)
        said = ("all counted ones hold", "some are violated", "some are undecided")[code]
        findings.append(Finding(JUDGED, {0: True, 1: False}.get(code), said))
    return findings


def _told(options: Any, findings: list[Finding]) -> list[Finding]:
    """The findings, each of them said in a line."""
    for finding in findings:
        _say(options, in_words(finding))
    return findings


def code_of(finding: Finding) -> int:
    """Exit code of a finding: 1 where something is wrong, 2 where claims are undecided of the code."""
    if finding.well is None and finding.what == JUDGED:
        return 2
    return int(finding.well is False)


def targets(options: Any) -> tuple[str | None, ...]:
    """What is to be written, in this order."""
    return options.c, options.fmu, options.ros2, options.st


def _check_targets(options: Any) -> None:
    """InputError where there is nothing to write, or something is there already."""
    if not any(targets(options)):
        raise InputError(
            "nothing is asked for", mend="give --c FOLDER, --fmu FILE, --ros2 FOLDER or --st FILE"
        )
    if _about_code(options) and not options.c:
        raise InputError(
            "--check, --judge and --processor are about C", mend="give --c FOLDER, too"
        )
    for path in targets(options):
        if path:
            free(path)
            check_writable(path.rstrip("/") or path)
    if options.ros2:
        package_name(Path(options.ros2))


def _check_law(options: Any, graph: Graph) -> None:
    """InputError for a law that one of the targets cannot hold: before anything runs."""
    if graph.controller.lag and (options.judge or options.processor):
        raise InputError(
            "--judge and --processor call the code once a sample, and this law is applied between samples",
            key="loop.delay",
            mend="ask for --check, whose program does it, or give a delay of whole samples",
        )
    c_of(graph, name=identifier(options.name), single=options.float)
    if options.fmu:
        check_law(graph, options.float)
    if options.ros2:
        check_samples(graph)
    if options.st:
        StructuredText(graph).text()


def _structured(options: Any, graph: Graph, about: Sequence[str]) -> None:
    """The law as structured text."""
    name = identifier(options.name)
    text = StructuredText(graph, name, about, law_digest(graph, single=False)).text()
    write_atomic(options.st, lambda stream: stream.write(text.encode()))


def _say(options: Any, text: str) -> None:
    if not options.quiet:
        terminal.say(text)
