"""Commands that make many runs: what ran is kept in a journal, and `--resume` goes on from there."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from workbench.commands.codes import INTERRUPTED
from workbench.sweep.journal import Journal
from workbench.sweep.outcome import Outcome


@final
@dataclass(frozen=True)
class KeptNumbers:
    """Numbers of runs in a journal (`workbench.verification.answers.Store`)."""

    journal: Journal

    def get(self, key: str) -> list[float] | None:
        found = self.journal.known.get(key)
        return None if found is None else [float(value) for _, value, _ in found.results]

    def add(self, key: str, numbers: list[float]) -> None:
        self.journal.add(key, Outcome(tuple(("", float(number), "") for number in numbers)))


def interrupted(out: str) -> int:
    """The exit code of a study that was interrupted, after saying what is kept beside `out`."""
    from workbench.commands import terminal

    terminal.complain(
        f"interrupted; what ran is kept in {out}.journal: go on with --resume"
        if os.path.exists(f"{os.path.realpath(out)}.journal")
        else "interrupted before any run had finished; nothing was written"
    )
    return INTERRUPTED


def kept_beside(options, what: str, work: Callable[[KeptNumbers | None], int]) -> int:
    """`work` with a journal beside the file of the command, `FILE-WHAT.journal`; its exit code, or 130.

    In a folder that cannot be written to nothing is kept. Raises InputError for a journal of earlier runs that nobody asked to go
    on from, and one that another command writes to.
    """
    out = f"{os.path.splitext(options.file)[0]}-{what}"
    if not os.access(os.path.dirname(os.path.realpath(out)), os.W_OK) and not options.resume:
        return work(None)
    try:
        with Journal(out, options.resume, what, "run") as journal:
            code = work(KeptNumbers(journal))
            journal.forget()
    except KeyboardInterrupt:
        return interrupted(out)
    return code
