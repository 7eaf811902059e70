"""Processes that judge entries of the list of faults, each ended when an entry takes too long."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import warnings
from pathlib import Path
from time import perf_counter

from tests.faults.entries import Entry
from tests.faults.judging import FAULT, KILLED, Outcome, digest, judged

LONGEST_WAIT = 1.0  # s, until the workers' processor time is looked at again


class Worker:
    """A process that judges entries one after another, and is ended when one takes too long."""

    def __init__(self):
        self.entry: Entry | None = None
        self.process = None
        self.begun = 0.0
        self.before = 0.0

    @property
    def busy(self) -> bool:
        return self.entry is not None

    def give(self, entry: Entry) -> None:
        """Have an entry judged, by a fresh process where there is none."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        self.entry = entry
        self.begun = perf_counter()
        self.before = processor_time(self.process.pid)
        self.pipe.send(entry)

    def take(self, limit: float) -> Outcome | None:
        """The outcome, if there is one by now."""
        if self.entry is None:
            return None
        entry = self.entry
        if self.pipe.poll():
            try:
                outcome = self.pipe.recv()
            except EOFError:
                outcome = self._ended(entry, FAULT, "the process ended")
            self.entry = None
            return outcome
        if self._spent() > limit:
            outcome = self._ended(entry, KILLED, f"took more than {limit:g} s of processor time")
            self.entry = None
            return outcome
        return None

    def _spent(self) -> float:
        """Processor time on this entry; a twentieth of the wall time where that is more: one that only waits is ended, too."""
        waited = perf_counter() - self.begun
        return max(processor_time(self.process.pid) - self.before, 0.05 * waited)

    def _ended(self, entry: Entry, code: int, why: str) -> Outcome:
        self.stop()
        return Outcome(
            name=entry.name,
            family=entry.family,
            sound=entry.sound,
            exit=code,
            seconds=perf_counter() - self.begun,
            named=None,
            text=(why,),
            holding=(),
            digest=digest(entry),
        )

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def processor_time(pid: int) -> float:
    """Of a process and its children that have ended, s; 0 where the system does not tell."""
    try:
        after = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in after[11:15]) / os.sysconf("SC_CLK_TCK")


def _serve(pipe) -> None:
    warnings.simplefilter("ignore")
    while True:
        try:
            entry = pipe.recv()
        except EOFError:
            return
        pipe.send(judged(entry))


def wait(workers: list[Worker]) -> None:
    multiprocessing.connection.wait([w.pipe for w in workers if w.busy], timeout=LONGEST_WAIT)
