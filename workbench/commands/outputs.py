"""Files that commands write, and what is asked of their paths before anything is computed."""

from __future__ import annotations

import os
import sys

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


def _write_json(path, case, study, code) -> None:
    import json

    from workbench.files.atomic import write_atomic
    from workbench.verification.verdict_json import document

    text = json.dumps(document(case, study, code), ensure_ascii=False, indent=2, allow_nan=False)
    write_atomic(path, lambda stream: stream.write(text.encode("utf-8", "replace") + b"\n"))


def _check_outputs(outputs: dict[str, str | None], source: str) -> None:
    """Refuse, before long work, outputs that cannot be written or would overwrite the input or each other."""
    from workbench.files.atomic import check_writable

    taken = {os.path.realpath(source): "the case file"}
    for name, path in outputs.items():
        if path is None:
            continue
        check_writable(path)
        other = taken.setdefault(os.path.realpath(path), f"--{name}")
        if other != f"--{name}":
            raise InputError(
                f"--{name} would overwrite {other}", file=path, mend="give it a name of its own"
            )
    _check_installed(outputs)


def _check_installed(outputs: dict[str, str | None]) -> None:
    """Refuse outputs whose libraries are not there."""
    from importlib.util import find_spec

    needed = {
        "report": ("typst", "matplotlib"),
        "log": ("h5netcdf", "h5py"),
        "animation": ("matplotlib", "PIL"),
        "drawing": ("matplotlib",),
    }
    if (outputs.get("report") or "").endswith((".html", ".htm")):
        needed.pop("report")  # a page needs nothing beside the package
    for name, modules in needed.items():
        missing = [module for module in modules if outputs.get(name) and find_spec(module) is None]
        missing = [{"PIL": "pillow"}.get(module, module) for module in missing]
        if missing:
            raise InputError(
                f"{'a drawing' if name == 'drawing' else f'--{name}'} needs {' and '.join(missing)}",
                mend=f"pip install {' '.join(missing)}",
            )
