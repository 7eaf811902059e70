"""What finished runs answered, kept by what each depends on: a study that is interrupted makes none of them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.contract.parameters import digest
from workbench.run.provenance import described

Job = tuple[Any, Any]  # loop, scenario
Numbers = list[float]


class Store(Protocol):
    """Where answers are kept."""

    def get(self, key: str) -> Numbers | None: ...
    def add(self, key: str, numbers: Numbers) -> None: ...


@dataclass(frozen=True, eq=False)
class Answers:
    """Numbers that runs answer a question with. question: in words that say all that the numbers depend on besides the run."""

    store: Store
    question: str

    def of(self, jobs: Sequence[Job], make: Callable[[Sequence[Job]], list]) -> list[Numbers]:
        """The numbers of every job: those that are kept, and what `make` answers for the others."""
        keys = [self._key(job) for job in jobs]
        known = {key: found for key in keys if (found := self.store.get(key)) is not None}
        todo = {key: job for key, job in zip(keys, jobs) if key not in known}
        for key, numbers in zip(todo, make(list(todo.values())) if todo else []):
            self.store.add(key, numbers)
            known[key] = numbers
        return [known[key] for key in keys]

    def _key(self, job: Job) -> str:
        """Hash of the version, the question, the loop with its numbers, and the scenario."""
        from workbench import __version__

        loop, scenario = job
        told = json.dumps(described(scenario), sort_keys=True)
        parts = [__version__, self.question, digest(loop), told]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
