"""Runs of machines drawn at random, and what each says to every sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.parameters import bind
from workbench.verification.answers import Answers
from workbench.verification.observed.requirement_claims import missing_in
from workbench.verification.probability.draws import Law
from workbench.verification.run import Run, no_machine, run_many
from workbench.verification.run import run as simulated
from workbench.verification.scales import scales
from workbench.verification.search.moves import MATTERS, move
from workbench.verification.temporal.sentence import Scale, Sentence
from workbench.verification.temporal.signals import columns


@dataclass(frozen=True)
class Said:
    """What one run says to one sentence: whether it meets it, and by how much (−∞ of a run that does not count as one).

    asked: whether the run puts the sentence to the test. A condition of an `implies` that never came true does not.
    """

    met: bool
    margin: float
    asked: bool = True


NUMBERS = 3  # that a `Said` is kept as
# Of a run that cannot be made, diverges, leaves the sentence open, or meets it where no machine can be.
LOST = Said(False, -math.inf)


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of `run`'s loop and scenario with numbers of the plant exchanged; the law keeps what it believes."""

    run: Any
    sentences: Sequence[Sentence]
    laws: Sequence[Law]
    kept: Answers | None = None

    @property
    def noisy(self) -> bool:
        """Whether the scenario's seed changes a run."""
        return any(s.kind == "noise" for s in self.run.loop.inputs)

    def said(self, drawn: Sequence[Mapping[str, float]], seeds: Sequence[int]) -> list[list[Said]]:
        """What runs with these numbers (name → SI) and seeds of the noise say to each sentence."""
        found: list[list[Said]] = [[LOST] * len(self.sentences)] * len(drawn)
        jobs = []
        places = []
        for i, (values, seed) in enumerate(zip(drawn, seeds)):
            try:
                jobs.append((self._loop(values), replace(self.run.scenario, seed=int(seed))))
            except (ValueError, ArithmeticError):  # no such machine
                continue
            places.append(i)
        for i, one in zip(places, self._each(jobs)):
            found[i] = one
        return found

    def idle(self) -> list[str]:
        """Names of the numbers that, a deviation up or down, move no signal of the run that is not drawn."""
        return [law.name for law in self.laws if not self._moves(law)]

    def _moves(self, law: Law) -> bool:
        for value in law.values(np.array([-1.0, 1.0])):
            try:
                seen = simulated(self._loop({law.name: float(value)}), self.run.scenario)
            except (ValueError, ArithmeticError):  # no such machine
                return True
            if move(seen, self.run) > MATTERS:
                return True
        return False

    def _loop(self, values: Mapping[str, float]) -> ClosedLoop:
        drawn = [law for law in self.laws if law.name in values]
        named = {leaf: values[law.name] for law in drawn for leaf in law.named}
        for leaf, value in named.items():
            if not leaf.info.bound.admits(value):
                raise InputError(f"{leaf.path} must be {leaf.info.bound.words}")
        plant = bind(self.run.loop.plant, {leaf.path: v for leaf, v in named.items()})
        return ClosedLoop(plant, self.run.loop.controller)

    def _each(self, jobs: Sequence[tuple[Any, Any]]) -> list[list[Said]]:
        if self.kept is None:
            return self._made(jobs)
        numbers = self.kept.of(jobs, lambda some: [_numbers(one) for one in self._made(some)])
        return [_said(one) for one in numbers]

    def _made(self, jobs: Sequence[tuple[Any, Any]]) -> list[list[Said]]:
        try:
            return run_many(jobs, self._of)
        except (ValueError, ArithmeticError):  # one of them cannot be run: each apart
            return [self._apart(job) for job in jobs]

    def _apart(self, job: tuple[Any, Any]) -> list[Said]:
        try:
            return self._of(simulated(*job))
        except (ValueError, ArithmeticError):
            return [LOST] * len(self.sentences)

    def _of(self, run: Run) -> list[Said]:
        return [said(sentence, run, self._scale) for sentence in self.sentences]

    @cached_property
    def _scale(self) -> Scale:
        """What is large in a unit, of the machine that is not drawn: margins of all draws are shares of the same."""
        known = scales(self.run.loop.plant)

        def scale(unit: str) -> float:
            large = known.of_unit(unit)
            return 0.0 if large is None else large.value

        return scale


def _numbers(row: Sequence[Said]) -> list[float]:
    """What a run said, as numbers."""
    return [number for one in row for number in (float(one.met), one.margin, float(one.asked))]


def _said(numbers: Sequence[float]) -> list[Said]:
    """What these numbers stand for."""
    columns_of = (numbers[i::NUMBERS] for i in range(NUMBERS))
    return [Said(bool(met), margin, bool(asked)) for met, margin, asked in zip(*columns_of)]


def said(sentence: Sentence, run: Run, scale: Scale | None = None) -> Said:
    """What a run says to a sentence; one that ends early, or that would leave it undecided, does not meet it."""
    if not run.log.status.completed:
        return LOST
    found = columns(run, sentence.names)
    if missing_in(found):
        return LOST
    try:
        answer = sentence.on(run.fine.log.time, found, scale=scale)  # type: ignore[arg-type]
    except ValueError:
        return LOST
    if answer.holds is None or answer.holds and no_machine(run):
        return LOST
    beyond = math.inf if answer.holds else -math.inf
    idle = answer.holds and (answer.idle or answer.blind or answer.time is None)
    return Said(answer.holds, beyond if answer.margin is None else answer.margin, not idle)
