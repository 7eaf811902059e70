"""The first samples of the verified run, given to a library twice: its commands are those of the run, and the same again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.interop.export.library import Library, replayed
from workbench.interop.export.package import RUN
from workbench.interop.export.replay import Replay

NEAR = 1e-6  # of the largest command: what another compiler's rounding may make of the law
HIDDEN = "it keeps memory of its own: started again, it gives other commands than the first time"


def check_run(library: Library, data: dict[str, Any], folder: Path) -> None:
    """InputError where the library does not give the commands of the run in the folder, at first and started again."""
    path = folder / RUN
    if not path.is_file():
        return  # a library that was taken elsewhere with its manifest alone
    run = read_run(path, len(data["measured"]), len(data["references"]), len(data["commands"]))
    why = unlike(library, run, np.array(data["initial"], library.kind), data["allowed"])
    if why:
        raise InputError(
            f"the library does not do what the verified law did: {why}",
            file=str(path),
            mend="build it from the files that were exported, with -ffp-contract=off",
        )


def read_run(path: Path, measured: int, references: int, commands: int) -> Replay:
    """The rows of a run's file, of this many columns.

    Raises InputError for a file that has no such rows.
    """
    width = 1 + measured + references + commands
    try:
        rows = np.array([line.split() for line in path.read_text("utf-8").splitlines()], float)
        rows = rows.reshape(-1, width)
    except (OSError, ValueError):
        raise InputError(
            f"its rows are not {width} numbers each", file=str(path), mend="export the law again"
        ) from None
    t, y, r, u = np.split(rows, np.cumsum([1, measured, references]), axis=1)
    return Replay(t.ravel(), y, r, np.empty((len(t), 0)), u)


def unlike(library: Library, run: Replay, initial: np.ndarray, allowed: float) -> str:
    """Why a library is not the law of a run; "" where it is."""
    if not len(run.t):
        return "its run has no samples"
    memory, commands = replayed(library, run, initial)
    again = replayed(library, run, initial)
    apart = np.abs(commands - run.commands).max()
    largest = np.abs(run.commands).max()
    if not (np.isfinite(memory).all() and np.isfinite(commands).all()):
        return "a command, or what it remembers, is not a number"
    if not apart <= max(allowed, NEAR) * largest:
        return (
            f"its commands are up to {apart:.3g} off those of the run, the largest is {largest:.3g}"
        )
    if not (np.array_equal(memory, again[0]) and np.array_equal(commands, again[1])):
        return HIDDEN
    return ""
