"""A log as a MAT-file (version 5), for MATLAB and Octave, and back.

Every signal is a variable of its own name where MATLAB allows it (`p_a1`), else `signal_<number>`; `time` beside them. What else
a log is stands in `fluidproof_log`, a text of JSON (`jsondecode`): names, units and meanings, provenance, status.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from workbench.contract.errors import InputError, short
from workbench.contract.system import Signal
from workbench.files.atomic import check_writable, write_atomic
from workbench.run.status import Status

if TYPE_CHECKING:
    from workbench.run.log import Log

LONGEST = 63  # letters of a name in MATLAB
MOST = 2**31 - 1  # bytes of a variable in this version of the format
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FORMAT = 1  # of a saved log; raised when an older reader would misread it
MARK = "fluidproof_log"
TAKEN = {"time", "ans", MARK}


def variable(name: str, index: int) -> str:
    """The variable of a signal."""
    free = WORD.fullmatch(name) and len(name) <= LONGEST and name not in TAKEN
    return name if free and not name.startswith("signal_") else f"signal_{index}"


def write_mat(log: Log, path: str | os.PathLike) -> None:
    """The log as a MAT-file, see `Log.save`. Raises InputError where it is too long for one."""
    from scipy.io import savemat

    check_writable(path)
    if 8 * len(log) > MOST:
        raise InputError(
            f"{len(log)} rows are more than a variable of a MAT-file can hold ({MOST // 8})",
            file=os.fspath(path),
            mend="save it as .nc, or take fewer rows: log.decimated(10)",
        )
    stored = [variable(s.name, i) for i, s in enumerate(log.signals)]
    about = {
        "format": FORMAT,
        "signals": [[v, asdict(s)] for v, s in zip(stored, log.signals)],
        "provenance": log.provenance,
        "status": asdict(log.status),
    }
    table = {name: log.values[:, i] for i, name in enumerate(stored)}
    content = {"time": log.time, **table, MARK: json.dumps(about)}
    write_atomic(
        path,
        lambda stream: savemat(
            stream, content, oned_as="column", long_field_names=True, do_compression=True
        ),
    )


def read_mat(path: str | os.PathLike, make: Callable[..., Log]) -> Log:
    """What `make(time, values, signals, provenance, status)` makes of a file of `write_mat`, see `Log.load`."""
    from workbench.files.packed import read_packed

    where = os.fspath(path)
    found = read_packed(where, "matrices")
    text = found.attributes.get(MARK)
    if not isinstance(text, str):
        raise InputError(
            "a MAT-file, but not a log", file=where, mend="give a file written by Log.save"
        )
    try:
        about = json.loads(text)
        if about["format"] != FORMAT:
            raise ValueError(f"log format {about['format']}, this version reads {FORMAT}")
        time = found.columns["time"][1]
        columns = [found.columns[name][1] for name, _ in about["signals"]]
        values = np.column_stack(columns) if columns else np.empty((len(time), 0))
        signals = tuple(Signal(**s) for _, s in about["signals"])
        return make(time, values, signals, about["provenance"], Status(**about["status"]))
    except (KeyError, ValueError, TypeError, RecursionError) as why:
        words = why.message if isinstance(why, InputError) else short(str(why))
        raise InputError(
            f"this is no readable log ({words})",
            file=where,
            mend="run the scenario again and save it, or restore a copy",
        ) from why
