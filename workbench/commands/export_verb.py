"""The verb `export`: what is written of a case, and the report on it."""

from __future__ import annotations

from workbench.commands.outputs import _check_outputs, _command, _today
from workbench.commands.verbs import read_case


def do_export(options, arguments) -> int:
    from workbench.interop.export.command import run_export

    files = {"fmu": options.fmu, "st": options.st, "report": options.report}
    _check_outputs(files, options.file)

    def write(path, case, study):
        from reports.document import Content, write_report

        write_report(path, Content.of(case, study, _today(), _command("workbench", arguments)))

    return run_export(options, read_case(options.file, options.set), _today(), write)
