"""The finished cases of a sweep, kept as they come, so that a killed sweep loses nothing and runs nothing twice.

`TABLE.journal` has one line of JSON a case: the hash of its content and its outcome. A line is appended by one write and
flushed to the disk before the next case counts as finished; a line that a crash cut short is taken off again. The file is
locked while a sweep uses it, by the operating system: the lock of a killed sweep is gone with it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import final

from workbench.errors import InputError
from workbench.sweep.outcome import Outcome

HEAD = '{"format": "fluidproof-sweep-journal", "version": 1}\n'


@final
class Journal:
    """Outcomes by the hash of their case, in a file. A context manager; InputError as in `__enter__`."""

    def __init__(self, out: str | os.PathLike, resume: bool = False):
        self.path, self.out, self.resume = os.path.realpath(out) + ".journal", os.fspath(out), resume
        self.known: dict[str, Outcome] = {}

    def __enter__(self) -> Journal:
        """Open and lock. Refuses a file that another sweep uses, that is no journal, or that has cases nobody wants back."""
        try:
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as why:
            raise InputError(f"cannot be written: {why.strerror}", file=self.path,
                             mend="write the table to a folder of yours") from why
        try:
            _lock(self.file, self.out)
            if not os.path.exists(self.path) or not os.path.samestat(os.fstat(self.file), os.stat(self.path)):
                raise _busy(self.out)  # who had it took the file away in between
            self._read()
        except BaseException:
            os.close(self.file)
            raise
        return self

    def __exit__(self, *_):
        if not self.known:  # nothing happened: leave nothing behind
            with suppress(OSError):
                os.unlink(self.path)
        os.close(self.file)

    def _read(self):
        with open(self.path, "rb") as stream:
            data = stream.read()
        head = HEAD.encode()
        if not head.startswith(data[: len(head)]):
            raise InputError("this is not the journal of a sweep", file=self.path, mend="give the table another name with --out")
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.decode("utf-8", "replace").splitlines()[1:]
        for line in lines:
            with suppress(ValueError, TypeError, KeyError):  # a damaged line: its case runs again
                entry = json.loads(line)
                self.known[entry["key"]] = Outcome(tuple(tuple(r) for r in entry["results"]), entry["error"])
        if self.known and not self.resume:
            some = f"{len(self.known)} finished case{'s' if len(self.known) > 1 else ''}"
            raise InputError(f"{some} of an earlier sweep are kept in {self.path}", file=self.out,
                             mend="go on from there with --resume, or remove that file to start over")
        os.ftruncate(self.file, len(whole))
        if not whole:
            self._append(HEAD)

    def add(self, key: str, found: Outcome) -> None:
        """Keep an outcome; on return it is on the disk."""
        self.known[key] = found
        self._append(json.dumps({"key": key, "results": found.results, "error": found.error}, ensure_ascii=False) + "\n")

    def _append(self, line: str):
        data = line.encode("utf-8", "replace")
        try:
            if os.write(self.file, data) < len(data):
                raise OSError("the disk is full")
            os.fsync(self.file)
        except OSError as why:
            raise InputError(f"cannot be written: {why.strerror or why}", file=self.path,
                             mend="free some space and go on with --resume; what is in it is kept") from why


def _lock(file: int, out: str) -> None:
    """An exclusive lock that ends with this process."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        take = lambda: msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        take = lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        take()
    except OSError as why:
        raise _busy(out) from why


def _busy(out: str) -> InputError:
    return InputError("another sweep is writing to this file", file=out,
                      mend="wait for it, or give this one a table of its own with --out")
