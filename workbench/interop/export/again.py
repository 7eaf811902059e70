"""An exported law is given the samples of a run twice: its commands are those of the run, and the same again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.contract.errors import InputError
from workbench.interop.export.comparison import allowances, off_by, scales, unshown
from workbench.interop.export.library import Library, replayed
from workbench.interop.export.package import RUN
from workbench.interop.export.replay import Replay

NEAR = 1e-6  # share of the largest command: what another compiler's rounding may make of the law
NO_NUMBER = "a command, or what it remembers, is not a number"
HIDDEN = "it keeps memory of its own: started again, it gives other commands than the first time"


def check_run(library: Library, data: dict[str, Any], folder: Path) -> str:
    """What the run in the folder does not show of the library, in words; "" where it shows every command.

    Raises InputError where the library does not give the commands of that run, at first and started again.
    """
    path = folder / RUN
    if not path.is_file():
        raise InputError(
            f"there is no {RUN}, which the code is held against",
            file=str(folder),
            mend="leave it where it was exported",
        )
    run = read_run(path, len(data["measured"]), len(data["references"]), len(data["commands"]))
    near = max(data["allowed"], NEAR)
    why = unlike(library, run, np.array(data["initial"], library.kind), near, data["commands"])
    if why:
        raise InputError(
            f"the library does not do what the verified law did: {why}",
            file=str(path),
            mend="build it from the files that were exported, with -ffp-contract=off",
        )
    return unshown(run.commands, near, data["commands"])


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


def unlike(
    library: Library,
    run: Replay,
    initial: np.ndarray,
    near: float,
    signals: Sequence[dict[str, str]],
) -> str:
    """Why a library is not the law of a run; "" where it is.

    near: share of the largest command of the same unit by which commands may be off.
    """
    if not len(run.t):
        return "its run has no samples"
    commands, why = given_twice(library, run, initial)
    if why:
        return why
    apart = off_by(commands, run.commands)
    largest = scales(run.commands, signals)
    for signal, off, most, limit in zip(
        signals, apart, largest, allowances(run.commands, near, signals)
    ):
        if not off <= limit:
            return (
                f"its command {signal['name']} is up to {off:.3g} {signal['unit']} off that of the run, "
                f"the largest is {most:.3g} {signal['unit']}"
            )
    return ""


def given_twice(library: Library, run: Replay, initial: np.ndarray) -> tuple[np.ndarray, str]:
    """(commands along a run, why they are none of a law); "" where they are numbers and the same when it is started again."""
    first = memory, commands = replayed(library, run, initial)
    again = replayed(library, run, initial)
    if not (np.isfinite(memory).all() and np.isfinite(commands).all()):
        return commands, NO_NUMBER
    if not all(map(np.array_equal, first, again)):
        return commands, HIDDEN
    return commands, ""
