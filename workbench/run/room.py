"""Room for the tables of long runs: in memory, past SMALL in a temporary file that goes with the table, or refused beforehand."""

from __future__ import annotations

import mmap
import shutil
import tempfile

import numpy as np

from workbench.contract.errors import InputError

SMALL = 256 * 2**20  # bytes of a table that is kept in memory
SPARE = 0.5  # share of the free space of the disk that a table may take
MEMORY = 4 * 2**30  # bytes that the inputs of a run may take while they are worked out
COPIES = (
    6  # copies of an input: with its derivatives, in the spaces it passes, and as the loop takes it
)


def table(rows: int, columns: int) -> np.ndarray:
    """An empty table (rows, columns) of float64.

    Past SMALL it is mapped from a temporary file without a name, whose space is free again as soon as nobody holds the
    table. Raises InputError with the size where the disk has not twice as much room.
    """
    size = 8 * rows * columns
    if size <= SMALL:
        return np.empty((rows, columns))
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if size > SPARE * free:
        raise InputError(
            f"the log of this run takes {said(size)} ({rows} rows of {columns} numbers), and the folder for "
            f"temporary files has {said(free)} left",
            key="scenario",
            mend="shorten the run, log less often (log_period), or set TMPDIR to a larger disk",
        )
    with tempfile.TemporaryFile(prefix="fluidproof-") as file:
        return np.memmap(file, dtype=np.float64, mode="w+", shape=(rows, columns))


def release(values: np.ndarray) -> None:
    """Give back the memory in which pages of a table on disk lie; who reads them again reads them from the disk.

    A table that is kept in memory, or a system that cannot be asked, stays as it is.
    """
    held = values
    while isinstance(held, np.ndarray):
        held = held.base
    advice = getattr(mmap, "MADV_DONTNEED", None)  # not on Windows
    if isinstance(held, mmap.mmap) and advice is not None:
        held.madvise(advice)


def check_inputs(samples: int, inputs: int) -> None:
    """InputError for a run whose references and disturbances take more than MEMORY while they are worked out."""
    size = 8 * samples * max(inputs, 1) * COPIES
    if size > MEMORY:
        raise InputError(
            f"the inputs of this run take about {said(size)} of memory ({samples} samples of {inputs} signals)",
            key="scenario.duration",
            mend="shorten the run, or lengthen the sample time (of a continuous loop, max_step)",
        )


def said(size: float) -> str:
    """'1.5 GB'."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
