"""The switches of a law that is called from Python: what its text compares (`called.notes`), asked the samples of a run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise, zip_longest
from types import FunctionType

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.own_laws import LinearNearRest
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, names
from workbench.verification.linear.called_law import Asked, Memory, asked_of
from workbench.verification.observed.running_on import within
from workbench.verification.practical.called.notes import NOTE, Notes, noted
from workbench.verification.practical.called.numbers import counted, set_on
from workbench.verification.practical.called.reach import functions_of
from workbench.verification.practical.switches.margins import HELD, Beside
from workbench.verification.run import Run

MOST_ROWS = 20_000  # rows of a run at which a law is asked again, at most
SPAN = 10  # samples of a law that is held at a point, between looks at what it remembers
EVERY = 2000  # samples, at most, of which margins are kept one by one


class Called:
    """The switches of a law called from Python."""

    users = True

    def __init__(self, functions: Sequence[FunctionType]):
        self.notes = Notes()
        made = [(f, noted(f, self.notes)) for f in functions]
        self.codes = [(f, code) for f, code in made if code is not None]

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Have the law's comparisons noted meanwhile."""
        before = [f.__code__ for f, _ in self.codes]
        for f, code in self.codes:
            f.__globals__[NOTE] = self.notes
            f.__code__ = code
        self.notes.look()
        try:
            yield
        finally:
            for (f, _), code in zip(self.codes, before):
                f.__code__ = code
                f.__globals__.pop(NOTE, None)

    def margins(self, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self.codes:
            return np.zeros(1, int), np.zeros((0, 1)), np.zeros((0, 1))
        asked = asked_of(run)
        rows = _spans(asked)
        memory = asked.seen[0].copied()
        found = []
        with self.noting():
            for begin, end in pairwise(rows):
                for k in range(begin, end):
                    memory, _ = asked.step(memory, asked.y[k], k)
                found.append(self.notes.look())
        low, high = (np.array(part).T for part in zip(*found))
        return np.array(rows[:-1]), low, high

    def at(self, run: Run, row: int) -> tuple[np.ndarray, np.ndarray]:
        x = np.array([run.log.array(s.name)[row] for s in run.loop.plant.states])
        return x, np.array(counted(asked_of(run).until(row)))

    def ask(self, run: Run, row: int, points: np.ndarray) -> Beside:
        asked = asked_of(run)
        memory = asked.until(row)
        n = len(run.loop.plant.states)
        answers = []
        with self.noting():
            for point in points.T.tolist():
                y = _measured(run, asked, row, point[:n])
                u, after = self._answer(asked, set_on(memory, point[n:]), y, row)
                answers.append((*self.notes.look(), u, after))
        low, high, u, kept = zip(*answers)
        low, high, u = (np.array(part, float).T for part in (low, high, u))
        z = np.array(list(zip_longest(*kept, fillvalue=np.nan)), float).reshape(-1, len(answers))
        return Beside(low, high, u, z, np.zeros((0, points.shape[1])))

    def whole_first(self, switches: Iterable[int]) -> list[int]:
        return sorted(switches, key=lambda k: (not self.is_condition(k), -k))

    def held(self, run: Run, row: int, points: np.ndarray) -> Beside:
        asked = asked_of(run)
        n = len(run.loop.plant.states)
        answers = []
        with self.noting():
            for point in points[:n].T.tolist():
                u = self._held(asked, asked.until(row), _measured(run, asked, row, point), row)
                answers.append((*self.notes.look(), u))
        low, high, u = (np.array(part, float).T for part in zip(*answers))
        none = np.zeros((0, points.shape[1]))
        return Beside(low, high, u, none, none)

    def _held(self, asked: Asked, memory: Memory, y: list[float], row: int) -> np.ndarray:
        """The command once it measured this for HELD samples, or until it remembers nothing new."""
        before: list[float] = []
        for _ in range(HELD // SPAN):
            try:
                for _ in range(SPAN):
                    memory, u = asked.step(memory, y, row)
            except InputError:
                return np.full(len(asked.law.commands), np.nan)
            now = counted(memory)
            if now == before:
                break
            before = now
        return u

    def _answer(self, asked: Asked, memory: Memory, y: list[float], row: int) -> tuple:
        """(commands, numbers remembered) after a sample; NaN where the law fails."""
        before = len(counted(memory))
        try:
            after, u = asked.step(memory, y, row)
        except InputError:
            return np.full(len(asked.law.commands), np.nan), np.full(before, np.nan)
        return u, np.array(counted(after))

    def remembers(self, run: Run) -> bool:
        return bool(counted(asked_of(run).until(0)))

    def covered(self, run: Run) -> np.ndarray:
        if "covered" not in run.kept:
            run.kept["covered"] = _covered(asked_of(run))
        return run.kept["covered"]

    def shown(self, run: Run, row: int, points: np.ndarray) -> Mapping[str, np.ndarray]:
        return {}

    def is_condition(self, k: int) -> bool:
        return k in self.notes.conditions

    def parts(self, k: int) -> list[int]:
        return self.notes.parts(k)

    def words(self, k: int, run: Run) -> str:
        return self.notes.texts[k]


def _covered(asked: Asked) -> np.ndarray:
    """What every number that a law remembers covers along a run, looked at before spans of samples."""
    memory = asked.seen[0].copied()
    seen = [counted(memory)]
    for begin, end in pairwise(_spans(asked)):
        for k in range(begin, end):
            memory, _ = asked.step(memory, asked.y[k], k)
        seen.append(counted(memory))
    seen.pop()  # after the last sample
    if len({len(values) for values in seen}) > 1:
        return np.zeros(0)
    time = np.linspace(0.0, 1.0, len(seen))
    return np.array([within(time, values) for values in np.array(seen, float).T])


def _spans(asked: Asked) -> list[int]:
    """Samples of a run between which it is looked at a law."""
    last = min(len(asked.time), MOST_ROWS)
    return np.unique(np.linspace(0, last, EVERY + 1).astype(int)).tolist()


def _measured(run: Run, asked: Asked, row: int, x: list[float]) -> list[float]:
    """What the law measures of these states of the plant."""
    plant = run.loop.plant
    t = float(asked.time[row])
    seen = dict(zip(names(plant.outputs), plant.out(t, plant.project(t, x))))
    return [float(seen[name]) for name in names(asked.law.measured)]


def of_called(run: Run) -> Called | None:
    """The switches of this run's law; None where it is not called from Python."""
    law = innermost(run.loop.controller)
    if not isinstance(law, Plain) or isinstance(law.law, LinearNearRest):
        return None
    return called(tuple(functions_of(law.law)))


called = lru_cache(maxsize=8)(Called)
