"""The finished cases of a sweep, or runs of a search, kept as they come: killed, it loses nothing and runs nothing twice.

`TABLE.journal` has one line of JSON a case: the hash of its content and its outcome. A line is appended by one write and
flushed to the disk before the next case counts as finished; a line that a crash cut short is taken off again. The file is
locked while a sweep uses it, by the operating system: the lock of a killed sweep is gone with it.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from contextlib import suppress
from typing import final

from workbench.contract.errors import InputError
from workbench.sweep.outcome import Outcome

LONGEST_LINE = 10_000_000  # bytes; the outcome of a case has some thousand
# Without waiting for a pipe's other end, and not for the processes started later; Windows has neither.
_CALMLY = os.O_NONBLOCK | os.O_CLOEXEC if os.name == "posix" else 0


def head(what: str) -> str:
    """First line of a journal."""
    return f'{{"format": "fluidproof-{what}-journal", "version": 1}}\n'


HEAD = head("sweep")


@final
class Journal:
    """Outcomes by the hash of their case, in a file. A context manager; InputError as in `__enter__`.

    what   whose journal it is, "sweep" or "search";  cases  what it calls its outcomes
    """

    def __init__(
        self,
        out: str | os.PathLike,
        resume: bool = False,
        what: str = "sweep",
        cases: str = "case",
    ):
        self.what, self.cases = what, cases
        self.head = head(what)
        self.path, self.out, self.resume = (
            os.path.realpath(out) + ".journal",
            os.fspath(out),
            resume,
        )
        self.known: dict[str, Outcome] = {}
        self.alone = threading.Lock()

    def __enter__(self) -> Journal:
        """Open and lock. Refuses a file that another sweep uses, that is no journal, or that has cases nobody wants back."""
        try:
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _CALMLY, 0o666)
        except OSError as why:
            raise InputError(
                f"cannot be written: {why.strerror}",
                file=self.path,
                mend="write the table to a folder of yours",
            ) from why
        try:
            _lock(self.file, self._busy())
            if not stat.S_ISREG(os.fstat(self.file).st_mode):
                raise InputError(
                    f"this is a device or a pipe, not the journal of a {self.what}",
                    file=self.path,
                    mend="give the output another name",
                )
            if not os.path.exists(self.path) or not os.path.samestat(
                os.fstat(self.file), os.stat(self.path)
            ):
                raise self._busy()  # who had it took the file away in between
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
        whole = 0
        with open(self.path, "rb") as stream:
            head = self.head.encode()
            first = stream.readline(len(head))
            if not head.startswith(first):
                raise InputError(
                    f"this is not the journal of a {self.what}",
                    file=self.path,
                    mend="give the output another name",
                )
            if first == head:
                whole = stream.tell()
                for line in iter(lambda: stream.readline(LONGEST_LINE), b""):
                    if line.endswith(b"\n"):  # else cut short by a crash, or no line of ours
                        self._keep(line)
                        whole = stream.tell()
        if self.known and not self.resume:
            some = f"{len(self.known)} finished {self.cases}{'s' if len(self.known) > 1 else ''}"
            raise InputError(
                f"{some} of an earlier {self.what} are kept in {self.path}",
                file=self.out,
                mend="go on from there with --resume, or remove that file to start over",
            )
        os.ftruncate(self.file, whole)
        if not whole:
            self._append(self.head)

    def _keep(self, line: bytes):
        """The outcome in a line; a damaged one is left out, and its case runs again."""
        try:
            key, found = outcome_of(json.loads(line.decode("utf-8", "replace")))
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
            return
        self.known[key] = found

    def add(self, key: str, found: Outcome) -> None:
        """Keep an outcome; on return it is on the disk. Several threads may call it."""
        entry = {"key": key, "results": found.results, "error": found.error}
        with self.alone:
            self.known[key] = found
            self._append(json.dumps(entry, ensure_ascii=False) + "\n")

    def forget(self) -> None:
        """Nothing in it is needed any more: it is taken away at the end."""
        self.known.clear()

    def _busy(self) -> InputError:
        return InputError(
            f"another {self.what} is writing to this file",
            file=self.out,
            mend="wait for it, or give this one an output of its own",
        )

    def _append(self, line: str):
        data = line.encode("utf-8", "replace")
        try:
            if os.write(self.file, data) < len(data):
                raise OSError("the disk is full")
            os.fsync(self.file)
        except OSError as why:
            raise InputError(
                f"cannot be written: {why.strerror or why}",
                file=self.path,
                mend="free some space and go on with --resume; what is in it is kept",
            ) from why


def outcome_of(entry: object) -> tuple[str, Outcome]:
    """(key, Outcome) of a line. Raises ValueError, TypeError, KeyError or OverflowError where it is none."""
    key = entry["key"]
    error = entry["error"]
    results = tuple(tuple(result) for result in entry["results"])
    if not (isinstance(key, str) and isinstance(error, str)):
        raise ValueError("key and error are text")
    for name, value, unit in results:
        if not (
            isinstance(name, str)
            and isinstance(unit, str)
            and isinstance(value, str | int | float | None)
        ):
            raise ValueError("a result is a name, a number or text, and a unit")
        if isinstance(value, int) and not isinstance(value, bool):
            float(value)  # OverflowError for one that no table can hold
    return key, Outcome(results, error)


def _lock(file: int, busy: InputError) -> None:
    """An exclusive lock that ends with this process; `busy` is raised where another has it."""
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
        raise busy from why
