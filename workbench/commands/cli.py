"""`verify-stability`, and `workbench VERB` with a verb for every other thing that is done with a file.

Exit codes of verify-stability: 0 every counted claim holds, 1 some is violated, 2 some is undecided and none violated,
3 bad input or wrong usage, 130 interrupted; 70 is a fault of the workbench itself. Results go to stdout, messages and
the progress bar to stderr. Libraries are imported by the commands that need them, so that --help is immediate.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from workbench.commands import verbs
from workbench.commands.grammar import verify_parser, workbench_parser
from workbench.commands.guard import _guarded, few_collections
from workbench.commands.outputs import _check_outputs, _command, _today, _write_json, every_path
from workbench.commands.verbs import read_case
from workbench.contract.trust import trusting

# Matrices here are small: threads of the linear algebra library would only take the cores from the runs. Before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# ---- entry points -------------------------------------------------------------------------------------------------
def verify_stability(arguments: Sequence[str] | None = None) -> int:
    """`verify-stability FILE`: is the loop in the file stable, by which argument, how far from the edge?"""
    parser = verify_parser()
    with few_collections():
        return _guarded(lambda: _trusting(_verify, parser.parse_args(arguments), arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """`workbench VERB …` → exit code."""
    parser = workbench_parser(ACTS)
    return _guarded(lambda: _act(parser.parse_args(arguments), arguments))


def _act(options, arguments) -> int:
    return _trusting(options.act, options, arguments)


def _trusting(act, options, arguments) -> int:
    """What a command does, running code that files name where it was said to."""
    with trusting("trust" in options and options.trust):
        return act(options, arguments)


# ---- verify and report --------------------------------------------------------------------------------------------
def _verify(options, arguments, judged: bool = True) -> int:
    from workbench.commands import terminal
    from workbench.verification.verdict import exit_code

    outputs = {"log": options.log, "json": options.json, "report": options.report}
    case = read_case(options.file, options.set)
    _check_outputs(outputs, options.file)
    room = terminal.columns()
    with terminal.progress(not options.quiet) as tell:
        tell(0.0, "reading")
        pages = _Pages(case, arguments, options.report) if options.report else None
        examination = _examined(
            case,
            lambda fraction, what="": tell(0.95 * fraction if options.report else fraction, what),
            pages.begin if pages else None,
        )
        code = exit_code(examination.verdicts) if judged else 0
        made = {
            "log": lambda path: examination.log.save(path),
            "json": lambda path: _write_json(path, case, examination, code),
            "report": lambda path: pages.write(path, examination, tell),
        }
        if not options.quiet and not options.report:
            tell(1.0)
    if not options.quiet:  # the answer first: whatever happens to the files, it is not lost
        terminal.say(terminal.headline(terminal.title(case), case.path, room))
        for line in _tuned(case, room):
            terminal.say(line)
        terminal.say(terminal.table(examination.verdicts, room, terminal.coloured()))
    written = []
    for name, path in every_path(outputs):
        try:
            made[name](path)
        except BaseException:
            if written:
                terminal.complain("written: " + ", ".join(written))
            raise
        written.append(path)
    if not options.quiet:
        terminal.say(terminal.tally(examination.verdicts, written, code))
    return code


def _examined(case, progress, ahead=None):
    from workbench.verification.judge import examine

    with case.located():
        return examine(case.loop, case.scenario, case.claims, progress, ahead)


def _tuned(case, room: int) -> list[str]:
    """The gains that were found when the file was read."""
    from workbench.cases.tuning import found_line
    from workbench.commands.terminal import wrap

    return wrap(found, room) if (found := found_line(case)) else []


def _verb_verify(options, arguments) -> int:
    with few_collections():
        return _verify(options, arguments)


def _report(options, arguments) -> int:
    given = argparse.Namespace(
        file=options.file,
        set=options.set,
        report=[options.output],
        json=None,
        log=None,
        quiet=options.quiet,
    )
    return _verify(given, arguments, judged=False)


class _Pages:
    """The reports on a case: figures are drawn while the last claims are checked, and all are written at the end."""

    def __init__(self, case, arguments, paths):
        from reports.page import is_page

        self.case, self.arguments, self.drawn = case, arguments, None
        self.moves = all(map(is_page, paths))
        self.alone = threading.Lock()

    def begin(self, examination) -> None:
        """Draw what there are arrays for; what fails here fails again where it is written."""
        if self.moves:
            return
        with self.alone, suppress(Exception):
            from reports.document import Drawn, figures

            self.drawn = self.drawn or Drawn()
            figures(self._content(examination), drawn=self.drawn)

    def write(self, path, examination, tell) -> None:
        from reports.document import write_report

        def done(fraction: float) -> None:
            tell(0.95 + 0.05 * fraction, "writing the report")

        write_report(path, self._content(examination), done, self.drawn)

    def _content(self, examination):
        from reports.content import Content

        return Content.of(
            self.case, examination, _today(), _command("verify-stability", self.arguments)
        )


def _import(options, arguments) -> int:
    from plants.multibody.urdf.file import write_imported
    from workbench.commands import terminal

    path = write_imported(options.file, options.beside, tuple(options.without), options.output)
    terminal.say(f"wrote {terminal.clean(path)}")
    return 0


def _verb_export(options, arguments) -> int:
    from workbench.interop.export.command import run_export

    files = {"fmu": options.fmu, "st": options.st, "report": options.report}
    _check_outputs(files, options.file)

    def write(path, case, examination):
        from reports.content import Content
        from reports.document import write_report

        write_report(
            path, Content.of(case, examination, _today(), _command("workbench", arguments))
        )

    return run_export(options, read_case(options.file, options.set), _today(), write)


ACTS = {
    "init": verbs.do_init,
    "import": _import,
    "draw": verbs.do_draw,
    "verify": _verb_verify,
    "simulate": verbs.do_simulate,
    "report": _report,
    "view": verbs.do_view,
    "compare": verbs.do_compare,
    "sweep": verbs.do_sweep,
    "falsify": verbs.do_falsify,
    "sensitivity": verbs.do_sensitivity,
    "probability": verbs.do_probability,
    "check": verbs.do_check,
    "explain": verbs.do_explain,
    "schema": verbs.do_schema,
    "identify": verbs.do_identify,
    "tune": verbs.do_tune,
    "plan": verbs.do_plan,
    "export": _verb_export,
    "completion": verbs.do_completion,
}

if __name__ == "__main__":
    sys.exit(main())
