"""`workbench compare A.yaml B.yaml …`: the same question to several cases, the answers in one table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from workbench.commands import terminal
from workbench.commands.parser import typed
from workbench.contract.errors import InputError
from workbench.files.atomic import check_writable, write_atomic


def compare_options(parser) -> None:
    """The verb's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="case files (YAML), two or more")
    parser.add_argument(
        "--also",
        type=typed,
        action="append",
        default=[],
        metavar="CHANGE",
        help="run every case with this machine too, the laws' models as they are: 'payload.mass: 50 kg'",
    )
    parser.add_argument("--json", metavar="FILE", help="write the comparison as JSON")
    parser.add_argument(
        "--report", metavar="PDF", help="write the table and the errors over time as a page"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing")


def run_compare(options, read: Callable, write_report: Callable) -> int:
    """Run the verb; 0 when compared, whatever it says. read(path) → Case; write_report(path, Comparison)."""
    from workbench.commands.compare import compare
    from workbench.commands.compare_table import document, text

    _check_outputs(options)
    also = [_change(words) for words in options.also]
    cases = [read(path) for path in options.files]
    with terminal.progress(not options.quiet) as tell:
        found = compare(cases, also, tell)
        tell(1.0)
    if not options.quiet:
        terminal.say(text(found, terminal.columns()))
    if options.json:
        packed = json.dumps(document(found), ensure_ascii=False, indent=2, allow_nan=False)
        write_atomic(
            options.json, lambda stream: stream.write(packed.encode("utf-8", "replace") + b"\n")
        )
    if options.report:
        write_report(options.report, found)
    if written := [
        terminal.clean(path)
        for path in (options.json, options.report)
        if path and not options.quiet
    ]:
        terminal.say(f"written: {', '.join(written)}")
    return 0


def _check_outputs(options) -> None:
    """Refuse, before long work, outputs that cannot be written or would overwrite a case file or each other."""
    taken = {os.path.realpath(path): "a case file" for path in options.files}
    for name in ("json", "report"):
        if path := getattr(options, name):
            check_writable(path)
            other = taken.setdefault(os.path.realpath(path), f"--{name}")
            if other != f"--{name}":
                raise InputError(
                    f"--{name} would overwrite {other}", file=path, mend="give it a name of its own"
                )


def _change(words: str) -> dict:
    """'payload.mass: 50 kg' as a mapping; several with commas."""
    from workbench.cases.yaml_input import parse

    try:
        made = parse("{" + words + "}", "--also").plain()
    except InputError as why:
        raise InputError(
            f"--also {words!r}: {why.message}", mend="write it like 'payload.mass: 50 kg'"
        ) from None
    if not made or not all(isinstance(made, dict) and value is not None for value in made.values()):
        raise InputError(
            f"--also {words!r}: expected a number's name and its value",
            mend="write it like 'payload.mass: 50 kg'",
        )
    return made
