"""Files that commands write, and what is asked of their paths before anything is computed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from workbench.contract.errors import InputError


def _command(name: str, arguments) -> str:
    """The command line that was given."""
    import shlex

    return shlex.join(
        [os.path.basename(sys.argv[0]) or name, *(sys.argv[1:] if arguments is None else arguments)]
    )


def _today() -> str:
    """Today, or the day in SOURCE_DATE_EPOCH (seconds), for reports that come out the same again."""
    import datetime

    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isascii() and given.isdigit() and len(given) < 12:  # seconds up to the year 5138
        return datetime.datetime.fromtimestamp(int(given), datetime.UTC).date().isoformat()
    return datetime.date.today().isoformat()


def _write_json(path, case, examination, code) -> None:
    import json

    from workbench.files.atomic import write_atomic
    from workbench.verification.results.verdict_json import document

    text = json.dumps(
        document(case, examination, code), ensure_ascii=False, indent=2, allow_nan=False
    )
    write_atomic(path, lambda stream: stream.write(text.encode("utf-8", "replace") + b"\n"))


Outputs = Mapping[str, str | Sequence[str] | None]  # option → path, or several


def every_path(outputs: Outputs) -> list[tuple[str, str]]:
    """(option, path) of every file that is asked for."""
    several = {
        name: [given] if isinstance(given, str) else given for name, given in outputs.items()
    }
    return [(name, path) for name, paths in several.items() for path in paths or ()]


def _check_outputs(outputs: Outputs, source: str) -> None:
    """Refuse, before long work, outputs that cannot be written or would overwrite the input or each other."""
    from workbench.files.atomic import check_writable

    taken = {os.path.realpath(source): "the case file"}
    for name, path in every_path(outputs):
        check_writable(path)
        other = taken.get(os.path.realpath(path))
        taken[os.path.realpath(path)] = f"--{name}"
        if other is not None:
            raise InputError(
                f"--{name} would overwrite {other}", file=path, mend="give it a name of its own"
            )
        if name == "report" and not path.lower().endswith((".pdf", ".html", ".htm")):
            raise InputError(
                "--report: reports are PDF or HTML", file=path, mend="end its name in .pdf or .html"
            )
    _check_installed(outputs)


def _check_installed(outputs: Outputs) -> None:
    """Refuse outputs whose libraries are not there."""
    from importlib.util import find_spec

    needed = {
        "report": ("typst", "matplotlib"),
        "log": ("h5netcdf", "h5py"),
        "animation": ("matplotlib", "PIL"),
        "drawing": ("matplotlib",),
    }
    asked = every_path(outputs)
    pages = [path for name, path in asked if name == "report" and path.endswith((".html", ".htm"))]
    wanted = {name for name, path in asked if path not in pages}  # a page needs no library
    for name, modules in needed.items():
        missing = [module for module in modules if name in wanted and find_spec(module) is None]
        missing = [{"PIL": "pillow"}.get(module, module) for module in missing]
        if missing:
            raise InputError(
                f"{'a drawing' if name == 'drawing' else f'--{name}'} needs {' and '.join(missing)}",
                mend=f"pip install {' '.join(missing)}",
            )
