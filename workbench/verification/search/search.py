"""The runs of a search, made side by side and kept in the order in which they were asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.parameters import digest
from workbench.run.grid import at_samples
from workbench.run.many import each_run
from workbench.run.provenance import described
from workbench.verification.run import Run
from workbench.verification.search.direction import Direction
from workbench.verification.search.directions import moved, settled
from workbench.verification.search.moves import move
from workbench.verification.search.score import REFUSED, Score, score
from workbench.verification.verdict import Verdict


class Kept(Protocol):
    """Scores of runs that an earlier search made, by their key; every new one is added as soon as it is known."""

    def get(self, key: str) -> Score | None: ...
    def add(self, key: str, found: Score) -> None: ...


@dataclass
class Search:
    """Runs of a search: `places` (rows in [−1, 1]ⁿ, 0 where nothing deviates) and their `scores`.

    asked    requirements;  nominal  what the run without deviations says to them
    along    the directions;  tick  called after every generation;  kept  where scores are kept, if anywhere
    """

    run: Run
    asked: list
    nominal: list[Verdict]
    along: tuple[Direction, ...]
    tick: Callable[[], None] | None = None
    kept: Kept | None = None
    places: list[np.ndarray] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    _settled: dict[bytes, dict[Direction, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._content = "" if self.kept is None else self._digest()

    def amounts(self, place: np.ndarray) -> dict[Direction, float]:
        """Direction → value where it deviates, as far as the machine can follow."""
        key = place.tobytes()
        if key not in self._settled:
            told = {d: d.at(float(s)) for d, s in zip(self.along, place)}
            deviating = {d: value for d, value in told.items() if value != d.nominal}
            self._settled[key] = settled(self.run.loop, self.run.scenario, deviating)
        return self._settled[key]

    def values(self, points: np.ndarray) -> np.ndarray:
        """Scores of runs at points of the box [−1, 1]ⁿ, low to high; their places are kept."""
        places = self.place(points)
        found = self.judged(places)
        self.places += list(places)
        self.scores += found
        return np.array([s.value for s in found])

    def place(self, points: np.ndarray) -> np.ndarray:
        """Places of points of the box."""
        ends = [(float(d.low < d.nominal), float(d.nominal < d.high)) for d in self.along]
        below, above = np.array(ends).T
        return -below + (points + 1) / 2 * (below + above)

    def violates(self, place: np.ndarray) -> bool:
        return self.judged(place[None, :])[0].violated

    def judged(self, places: np.ndarray) -> list[Score]:
        """The runs at places, side by side; those that an earlier search made are taken from it."""
        every = [self.amounts(place) for place in places]
        known = [self._known(amounts) for amounts in every]
        todo = [i for i, one in enumerate(known) if one is None]
        for i, made in zip(todo, self._made([every[i] for i in todo])):
            known[i] = made
        if self.tick:
            self.tick()
        return [one for one in known if one is not None]

    def made(self, place: np.ndarray) -> tuple[Run, Score]:
        """The run at a place, with its score. Raises InputError where it cannot be made."""
        kept: list[tuple[Run, Score]] = []
        self._made([self.amounts(place)], lambda run, found: kept.append((run, found)))
        return kept[0]

    def _made(self, every: list[dict[Direction, float]], look=None) -> list[Score]:
        """Scores of runs with these values; look: called with each run and its score."""
        found = [Score(REFUSED)] * len(every)
        jobs = []
        numbers = []
        for i, amounts in enumerate(every):
            try:
                jobs.append(moved(self.run.loop, self.run.scenario, amounts))
                numbers.append(i)
            except InputError as why:
                found[i] = self._keep(amounts, Score(REFUSED, refused=why.message))

        def keep(k: int, whole, demand) -> Score:
            log = at_samples(whole)
            seen = Run(*jobs[k], log, None if log is whole else whole, demand)
            told = replace(score(self.asked, self.nominal, seen), moved=move(seen, self.run))
            one = self._keep(every[numbers[k]], told)
            if look:
                look(seen, one)
            return one

        def refused(k: int, why: InputError) -> Score:
            return self._keep(every[numbers[k]], Score(REFUSED, refused=why.message))

        for i, one in zip(numbers, each_run(jobs, keep, refused, rows="steps")):
            found[i] = one
        return found

    # ---- what an earlier search made ---------------------------------------------------------------------------------
    def _digest(self) -> str:
        """Hash of what every run of the search depends on, besides its values."""
        from workbench import __version__

        parts = [
            __version__,
            digest(self.run.loop),
            json.dumps(described(self.run.scenario), sort_keys=True),
            repr(self.asked),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _key(self, amounts: Mapping[Direction, float]) -> str:
        told = {d.name: float(value).hex() for d, value in amounts.items()}
        return hashlib.sha256(f"{self._content}{json.dumps(told)}".encode()).hexdigest()

    def _known(self, amounts: Mapping[Direction, float]) -> Score | None:
        return None if self.kept is None else self.kept.get(self._key(amounts))

    def _keep(self, amounts: Mapping[Direction, float], found: Score) -> Score:
        if self.kept is not None:
            self.kept.add(self._key(amounts), found)
        return found
