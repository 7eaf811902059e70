"""A search that was interrupted goes on with the round that it had reached: that round's tube is kept beside the compiled code.

A round of a crane's tube takes half a minute. What was kept is taken up by a search that asks the same of the same run, by the
same text of the library. It is a guess, as every tube of a search is: the checker repeats each inequality of the last one. A file
that somebody changed can end a search without a tube; it gives no verdict.
"""

from __future__ import annotations

import time
import zipfile
from contextlib import suppress
from dataclasses import fields, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from workbench.contract.as_written import text_digest
from workbench.numerics import code_cache
from workbench.verification.tube.checker.data import PARTS, PROGRAMS, TEXT, Tube
from workbench.verification.tube.checker.words import told

WORTH = 2.0  # s of processor time of a round, from which on the next one is kept
CHANGED = ("R", "σ", "reach", "segments", "balls", "splits")  # what rounds change of a tube
MOST_BYTES = 1_000_000_000  # of files that are kept; older ones are removed
PREFIX = "tube-"


class Kept:
    """Where the rounds of a search for this tube are kept. worth: as WORTH."""

    def __init__(self, asked: Tube, worth: float = WORTH) -> None:
        self.worth = worth
        self.target = _target(asked)
        self.begun = time.thread_time()

    def taken_up(self, c: Tube, most: int) -> tuple[int, Tube] | None:
        """(number of the round that comes next, below `most`, its tube); None where no earlier search kept one that fits c."""
        if self.target is None or not code_cache.whole(self.target):
            return None
        try:
            with np.load(self.target, allow_pickle=False) as arrays:
                found = {name: np.asarray(arrays[name], float) for name in CHANGED}
                number = int(arrays["number"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        alike = all(found[name].shape == getattr(c, name).shape for name in ("R", "reach", "balls"))
        if not alike or not 0 <= number < most:
            return None
        return number, replace(c, **found | {"σ": float(found["σ"])})

    def keep(self, number: int, c: Tube) -> None:
        """Keep the tube of the next round, where the last one took long."""
        spent = time.thread_time() - self.begun
        self.begun = time.thread_time()
        size = sum(np.asarray(getattr(c, name)).nbytes for name in CHANGED)
        if self.target is None or spent < self.worth or size > code_cache.LONGEST:
            return
        with suppress(OSError):  # a full disk: an interrupted search begins anew
            _write(self.target, number, c)


def _target(asked: Tube) -> Path | None:
    """The file for what is asked; None where the library's text in this process is not that of its files."""
    digest = text_digest()
    if digest is None:
        return None
    plain = [f.name for f in fields(Tube) if f.name not in (*PROGRAMS, *CHANGED, *TEXT)]
    programs = [getattr(getattr(asked, name), part) for name in PROGRAMS for part in PARTS]
    numbers = [*programs, *(getattr(asked, name) for name in plain)]
    texts = "\0".join([digest, np.__version__, *map(str, (*asked.names, *asked.told))])
    return code_cache.folder() / f"{PREFIX}{told(numbers, texts.encode())[:32]}.npz"


def _write(target: Path, number: int, c: Tube) -> None:
    with code_cache.building(target.parent) as folder:
        new = Path(folder) / target.name
        np.savez(new, number=number, **{name: np.asarray(getattr(c, name)) for name in CHANGED})
        code_cache.keep(new, target)
    files = sorted(target.parent.glob(f"{PREFIX}*.npz"), key=_age)
    total = accumulate(map(_size, files))
    for old in (file for file, bytes_so_far in zip(files, total) if bytes_so_far > MOST_BYTES):
        old.unlink(missing_ok=True)
        code_cache.seal(old).unlink(missing_ok=True)


def _size(file: Path) -> int:
    """Bytes of a file, 0 of one that another process has removed meanwhile."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _age(file: Path) -> float:
    """Smaller for younger files, and for one that another process has removed meanwhile."""
    try:
        return -file.stat().st_mtime
    except OSError:
        return -np.inf
