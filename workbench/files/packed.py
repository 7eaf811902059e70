"""NetCDF-4, HDF5 and MAT files read in a process of their own: a damaged one can crash, hang or fill that one only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.files.open_file import opened, shown

PATIENCE = 12.0  # s to read a small file; larger ones have more
PACE = 20e6  # bytes/s that are read at least
MOST = 4_000_000_000  # bytes of a file
MOST_NUMBERS = 2_000_000_000  # bytes of numbers in it
PACKED = 1100  # times smaller a file may be than its numbers: what deflate can do, and a little
READER = Path(__file__).with_name("packed_reader.py")


@final
@dataclass(frozen=True, eq=False)
class Packed:
    """What a file holds at its top level.

    attributes   of the file: numbers and texts
    columns      name → (unit as it is written, "" where none is; values (N,) as float64)
    texts        name → list of texts
    shapes       of matrices, name → (rows, columns); their columns hold them row by row
    """

    attributes: Mapping[str, object]
    columns: Mapping[str, tuple[str, np.ndarray]]
    texts: Mapping[str, list[str]]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def read_packed(path: str | os.PathLike, kind: Literal["hdf5", "mat", "matrices"]) -> Packed:
    """The numbers of a file ("matrices": of a MAT-file, with its texts). Raises InputError where it is none, is damaged, or is too
    much; nothing of it is repeated.
    """
    file = shown(path)
    with opened(path, MOST, "a file of numbers") as stream:
        size = os.fstat(stream.fileno()).st_size
    most = min(MOST_NUMBERS, PACKED * max(size, 1000))
    limit = PATIENCE + size / PACE
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-P", str(READER), os.path.abspath(path), kind, str(most)]
        try:
            ended = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                timeout=limit,
                env=_environment(),
            ).returncode
        except subprocess.TimeoutExpired:
            raise _damaged(f"it is not read within {limit:.3g} s", file) from None
        except OSError as why:
            raise InputError(
                f"the program that reads it cannot be started: {why.strerror}",
                file=file,
                mend="check the installation of Python",
            ) from None
        if ended != 0:
            raise _damaged("reading it ends in a crash", file)
        out.seek(0)
        return _received(out, file)


def _environment() -> dict[str, str]:
    """What the process needs to find the same libraries."""
    found = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
    return os.environ | {
        "PYTHONPATH": found,
        "OPENBLAS_NUM_THREADS": "1",
        "HDF5_USE_FILE_LOCKING": "FALSE",
    }


def _received(out: Any, file: str) -> Packed:
    try:
        head = json.loads(out.readline())
        if "error" in head:
            raise _damaged(str(head["error"]), file)
        columns = {}
        for name, unit, count in head["columns"]:
            values = np.frombuffer(out.read(8 * count), np.float64)
            if values.size != count:
                raise ValueError("cut short")
            columns[name] = (unit, values)
        shapes = {name: tuple(shape) for name, shape in head.get("shapes", {}).items()}
        return Packed(head["attributes"], columns, head["texts"], shapes)
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _damaged("reading it ends too early", file) from None


def _damaged(words: str, file: str) -> InputError:
    return InputError(words, file=file, mend="export it again, or restore a copy")
