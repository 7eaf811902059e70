"""Cases of a sweep one after the other, or on processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.run import processes
from workbench.sweep.outcome import Outcome, outcome


def here(
    study: Callable, todo: Sequence[tuple[int, Any]], answer: Callable = outcome
) -> Iterator[tuple[int, Any]]:
    """One case after the other in this process: (place, `answer(study, point)`)."""
    for i, point in todo:
        yield i, answer(study, point)


def on_processes(
    study: Callable, todo: Sequence[tuple[int, Any]], jobs: int, answer: Callable = outcome
) -> Iterator[tuple[int, Any]]:
    """(place, `answer(study, point)`) of every (place, point), as they finish; an Outcome that says so where its process died."""
    return processes.on_processes(study, todo, jobs, answer, lost)


def lost(how: str) -> Outcome:
    """What is told of a case that took its process with it; it is run again another time."""
    return Outcome(error=how, kept=False)
