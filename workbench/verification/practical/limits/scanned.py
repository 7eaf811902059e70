"""Values of a number tried one after the other, away from the nominal one, until a run fails; then the edge is bracketed.

Stability need not be monotone in a number, so everything nearer than the edge is tried, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.verification.run import Run, run_many

# By this factor the distance from the last good value to the first bad one becomes shorter.
NARROWED = 9
FEWEST = 2  # values that a bracket is divided by, at least


class Outcome(NamedTuple):
    """Of a run: whether it still behaves, its largest settled v (J) and tool error, and why it does not behave."""

    good: bool
    v: float
    error: float
    why: str


@dataclass(frozen=True)
class Reach:
    """What a scan found.

    tried   value → outcome, values rising
    good    the last good value before the first bad one
    bad     the first bad value; None where nothing failed
    """

    tried: Mapping[float, Outcome]
    good: float
    bad: float | None

    @property
    def values(self) -> tuple[float, ...]:
        """The values that were tried."""
        return tuple(self.tried)

    @property
    def data(self) -> dict:
        """What was tried and seen, as plain data."""
        seen = self.tried.values()
        return {
            "values": self.values,
            "ok": tuple(one.good for one in seen),
            "v": tuple(one.v for one in seen),
            "error": tuple(one.error for one in seen),
            "why": tuple(one.why for one in seen),
            "good": self.good,
            "bad": self.bad,
        }


@dataclass(frozen=True)
class Scan:
    """How values of a number are tried.

    make     value → (loop, scenario)
    judge    run → Outcome
    tick     called after every run
    down     whether values fall, away from 1; else they rise, away from 0
    beside   runs that are made at once
    over     whether nobody wants to know any more; asked before every run
    """

    make: Callable[[float], tuple]
    judge: Callable[[Run], Outcome]
    tick: Callable[[], None] | None = None
    down: bool = False
    beside: int = 1
    over: Callable[[], bool] = lambda: False

    def along(
        self,
        values: Sequence[float],
        known: Mapping[float, Run] | None = None,
        rounds: int | None = None,
    ) -> Reach:
        """Outcomes along `values` until one fails, then the edge bracketed.

        The bracket lies between the last good value before the first bad one and that one; in `rounds` it becomes NARROWED times
        shorter. What is beyond a value that failed is not tried any more.
        known: runs there are already, by value.
        """
        tried = {value: self.judge(run) for value, run in (known or {}).items()}
        if all(one.good for one in tried.values()):
            tried |= self._until_one_fails([value for value in values if value not in tried])
        good, bad = self._edge(tried)
        for _ in range(self._rounds() if rounds is None else rounds):
            if good is None or bad is None or self.over():
                break
            tried |= self._until_one_fails(self._between(good, bad))
            good, bad = self._edge(tried)
        nominal = 1.0 if self.down else 0.0
        return Reach(dict(sorted(tried.items())), nominal if good is None else good, bad)

    def _edge(self, tried: Mapping[float, Outcome]) -> tuple[float | None, float | None]:
        """(the last good value before the first bad one, the first bad one); None where there is none."""
        good = None
        for value in sorted(tried, reverse=self.down):
            if not tried[value].good:
                return good, value
            good = value
        return good, None

    def _between(self, good: float, bad: float) -> list[float]:
        """Values that divide a bracket by equal factors; by equal steps where an end is not positive."""
        parts = self._inside() + 1
        shares = [i / parts for i in range(1, parts)]
        if good > 0 and bad > 0:
            return [good ** (1 - share) * bad**share for share in shares]
        return [good + share * (bad - good) for share in shares]

    def _inside(self) -> int:
        """How many values divide a bracket."""
        return max(self.beside, FEWEST)

    def _rounds(self) -> int:
        """How often a bracket is divided until it is NARROWED times shorter."""
        return math.ceil(math.log(NARROWED) / math.log(self._inside() + 1) - 1e-9)

    def _until_one_fails(self, todo: Sequence[float]) -> dict[float, Outcome]:
        """Outcomes of values in their order, which leads away from the nominal one, up to the first batch with one that failed."""
        seen: dict[float, Outcome] = {}
        for i in range(0, len(todo), self.beside):
            if self.over():
                break
            batch = todo[i : i + self.beside]
            jobs = [self.make(value) for value in batch]
            seen |= dict(zip(batch, run_many(jobs, self.judge, self.tick)))
            if not all(seen[value].good for value in batch):
                break
        return seen
