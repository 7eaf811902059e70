"""`verify-stability`, and `workbench VERB` with a verb for every other thing that is done with a file.

Exit codes of verify-stability: 0 every counted claim holds, 1 some is violated, 2 some is undecided and none violated,
3 bad input or wrong usage, 130 interrupted; 70 is a fault of the workbench itself. Results go to stdout, messages and
the progress bar to stderr. Libraries are imported by the commands that need them, so that --help is immediate.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from workbench.commands.guard import _guarded, few_collections
from workbench.commands.outputs import _check_outputs, _command, _today, _write_json
from workbench.commands.parser import _Parser, _parser
from workbench.commands.verbs import (
    do_compare,
    do_draw,
    do_explain,
    do_falsify,
    do_identify,
    do_init,
    do_plan,
    do_schema,
    do_sensitivity,
    do_simulate,
    do_sweep,
    do_tune,
    read_case,
)

CODES = """\
exit codes:
  0    every counted claim holds
  1    some counted claim is violated
  2    some counted claim is undecided, none is violated
  3    bad input or wrong usage; nothing is written
  130  interrupted (Ctrl-C)"""
# Matrices here are small: threads of the linear algebra library would only take the cores from the runs. Before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# ---- entry points -------------------------------------------------------------------------------------------------
def verify_stability(arguments: Sequence[str] | None = None) -> int:
    """`verify-stability FILE`: is the loop in the file stable, by which argument, how far from the edge?"""
    parser = _parser(
        "verify-stability", "Verify the stability of the control loop described in a file.", CODES
    )
    _case_argument(parser)
    parser.add_argument("--report", metavar="PDF", help="write a report a colleague can check")
    parser.add_argument("--json", metavar="FILE", help="write the verdicts as JSON")
    parser.add_argument("--log", metavar="NC", help="write the run as NetCDF")
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing; the exit code is the answer"
    )
    with few_collections():
        return _guarded(lambda: _verify(parser.parse_args(arguments), arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """`workbench VERB …` → exit code."""
    from workbench import __version__

    parser = _parser(
        "workbench",
        "Controller design and stability verification for hydraulic robots.",
        "To verify a file: verify-stability FILE",
    )
    parser.add_argument("--version", action="version", version=f"fluidproof {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)

    def verb(name, act, what):
        p = verbs.add_parser(
            name, help=what, description=what[0].upper() + what[1:] + ".", allow_abbrev=False
        )
        p.set_defaults(act=act)
        return p

    _machine_verbs(verb)
    _case_verbs(verb)
    _design_verbs(verb)
    return _guarded(lambda: _act(parser.parse_args(arguments), arguments))


def _machine_verbs(verb) -> None:
    """Verbs that begin with a machine: a case file for it, a drawing of it."""
    p = verb("init", do_init, "write a commented case file for a shipped machine here")
    p.add_argument("machine", nargs="?", help="name of the machine; left out: list them")
    p.add_argument("-o", "--output", metavar="FILE", help="where to write (default: MACHINE.yaml)")
    p = verb("draw", do_draw, "draw a machine: bodies, pins, cylinders, strokes and reach")
    p.add_argument("file", help="machine or case file (YAML), or the name of a shipped machine")
    p.add_argument(
        "-o", "--output", metavar="FILE", help="write it, .svg or .png (default: on the screen)"
    )


def _case_verbs(verb) -> None:
    """Verbs that run and judge case files."""
    from workbench.commands.compare_command import compare_options
    from workbench.sweep.options import falsify_options, sensitivity_options, sweep_options

    p = verb("simulate", do_simulate, "run the scenario of a case file")
    _case_argument(p)
    p.add_argument("--log", metavar="NC", help="write the run as NetCDF")
    p.add_argument("--csv", metavar="CSV", help="write the run as comma-separated text")
    p.add_argument(
        "--animation", metavar="FILE", help="write the run as a moving picture, .gif or .svg"
    )
    p.add_argument("--quiet", action="store_true", help="print nothing")
    p = verb(
        "report",
        _report,
        "verify a case file and write the report; exit 0 when it is written, whatever it says",
    )
    _case_argument(p)
    p.add_argument("-o", "--output", metavar="PDF", required=True, help="where to write the report")
    p = verb(
        "compare",
        do_compare,
        "verify several case files and show them side by side; exit 0 when compared, whatever it says",
    )
    compare_options(p)
    p = verb(
        "sweep",
        do_sweep,
        "run a case or plan file over grids and draws, on all cores or a cluster; exit 0 unless all fail",
    )
    sweep_options(p)
    p = verb(
        "falsify",
        do_falsify,
        "search for a load, start or seed at which a requirement of a case file is violated",
    )
    _case_argument(p)
    falsify_options(p)
    p = verb(
        "sensitivity",
        do_sensitivity,
        "tell which numbers of the machine move the margins of a case's requirements most",
    )
    _case_argument(p)
    sensitivity_options(p)
    p = verb("explain", do_explain, "say what a key of case files means: unit, default, example")
    p.add_argument("path", help="the key, with what it is in as far as needed: controller.VDC.λ")
    verb("schema", do_schema, "print the JSON schema of case files, for editors")


def _design_verbs(verb) -> None:
    """Verbs that find something: a model, gains, a motion."""
    from controllers.pid_tuning.options import tune_options
    from workbench.identification.options import identify_options
    from workbench.planning.options import plan_options

    p = verb(
        "identify",
        do_identify,
        "identify a linear model from test-bench records (CSV, NetCDF, MAT)",
    )
    identify_options(p)
    p = verb(
        "tune",
        do_tune,
        "find PID gains for a case file: largest integral gain under a disk margin, or by relay and rule",
    )
    _case_argument(p)
    tune_options(p)
    p = verb(
        "plan",
        do_plan,
        "plan the motion of a redundant crane that takes least energy from its supply, or least time",
    )
    plan_options(p)


def _act(options, arguments) -> int:
    return options.act(options, arguments)


def _case_argument(parser) -> None:
    parser.add_argument("file", help="case file (YAML), or the name of a shipped machine")


# ---- verify and report --------------------------------------------------------------------------------------------
def _verify(options, arguments, judged: bool = True) -> int:
    from workbench.commands import terminal
    from workbench.verification.verdict import exit_code

    outputs = {"log": options.log, "json": options.json, "report": options.report}
    case = read_case(options.file)
    _check_outputs(outputs, options.file)
    room = terminal.columns()
    with terminal.progress(not options.quiet) as tell:
        tell(0.0, "reading")
        pages = _Pages(case, arguments) if options.report else None
        study = _study(
            case,
            lambda fraction, what="": tell(0.95 * fraction if options.report else fraction, what),
            pages.begin if pages else None,
        )
        code = exit_code(study.verdicts) if judged else 0
        made = {
            "log": lambda path: study.log.save(path),
            "json": lambda path: _write_json(path, case, study, code),
            "report": lambda path: pages.write(path, study, tell),
        }
        if not options.quiet and not options.report:
            tell(1.0)
    if not options.quiet:  # the answer first: whatever happens to the files, it is not lost
        terminal.say(terminal.headline(terminal.title(case), case.path, room))
        for line in _tuned(case, room):
            terminal.say(line)
        terminal.say(terminal.table(study.verdicts, room, terminal.coloured()))
    written = []
    for name, path in outputs.items():
        if path:
            try:
                made[name](path)
            except BaseException:
                if written:
                    terminal.complain("written: " + ", ".join(written))
                raise
            written.append(path)
    if not options.quiet:
        terminal.say(terminal.tally(study.verdicts, written, code))
    return code


def _study(case, progress, ahead=None):
    from workbench.verification.judge import study

    with case.located():
        return study(case.loop, case.scenario, case.claims, progress, ahead)


def _tuned(case, room: int) -> list[str]:
    """The gains that were found when the file was read."""
    from workbench.cases.tuning import found_line
    from workbench.commands.terminal import wrap

    return wrap(found, room) if (found := found_line(case)) else []


def _report(options, arguments) -> int:
    given = argparse.Namespace(
        file=options.file, report=options.output, json=None, log=None, quiet=False
    )
    return _verify(given, arguments, judged=False)


class _Pages:
    """The report on a case: its figures are drawn while the last claims are checked, and it is written at the end."""

    def __init__(self, case, arguments):
        self.case, self.arguments, self.drawn = case, arguments, None

    def begin(self, study) -> None:
        """Draw what does not rest on claims that are still checked; what fails here fails again where it is written."""
        with suppress(Exception):
            from reports.document import Drawn, figures

            self.drawn = Drawn()
            figures(self._content(study), drawn=self.drawn)

    def write(self, path, study, tell) -> None:
        from reports.document import write_report

        def done(fraction: float) -> None:
            tell(0.95 + 0.05 * fraction, "writing the report")

        write_report(path, self._content(study), done, self.drawn)

    def _content(self, study):
        from reports.document import Content

        return Content.of(self.case, study, _today(), _command("verify-stability", self.arguments))


if __name__ == "__main__":
    sys.exit(main())
