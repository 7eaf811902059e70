"""The longest delay, or sample time, with which loops still behave: by bisection on a ladder of values, many loops side by side.

A loop "bears" a value if the judge finds its run with that delay or sample time good. The ladder has two values an octave, from
half a sample on. `borne` bisects, and so assumes that a loop which bears a value bears every shorter one. `climbed` does not: it
tries every value up to the first one that fails, as the claims on delay and sample time do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.wrappers import MOST_HELD, dead_time
from workbench.run.scenario import Scenario
from workbench.verification.practical.limits.claims import queue
from workbench.verification.practical.limits.scanned import Outcome
from workbench.verification.run import Run, run_many
from workbench.verification.variant import variant

OCTAVE = 2  # values
Judge = Callable[[Run], Outcome]
Job = tuple[Any, Scenario]


@dataclass(frozen=True)
class Ladder:
    """The values to try, s, rising. what: "delay" or "sample time"; own: the value that the loop has."""

    what: str
    own: float
    values: tuple[float, ...]

    def index(self, near: float) -> int:
        """Index of the value at which a search begins: the last one up to `near`, else the middle one."""
        below = [k for k, value in enumerate(self.values) if value <= near]
        return below[-1] if below else len(self.values) // 2

    def job(self, loop: ClosedLoop, scenario: Scenario, value: float) -> Job:
        """The run of a loop with another delay or sample time."""
        if self.what == "sample time":
            return variant(loop, scenario, T_s=value)
        samples = value / float(loop.period or 1e-3)
        return variant(loop, scenario, delay=value, capacity=queue(samples))


def ladder(loop: ClosedLoop, what: str, up_to: float, floor: float | None) -> Ladder:
    """The ladder of a loop, from its own delay or sample time up to `up_to` [s]; `floor` [s], if given, is one of its values."""
    T = float(loop.period or 1e-3)
    if what == "sample time":
        own = T
        first = 2 ** (1 / OCTAVE) * T
        end = max(up_to, floor or 0.0)
        rising = _octaves(first, end)
    else:
        own = dead_time(loop.controller)
        end = min(max(up_to, floor or 0.0), (MOST_HELD - 1) * T)
        rising = [own + d for d in _octaves(T / 2, end - own)]
    values = {*rising, *([floor] if floor is not None and floor > own else [])}
    if not values:
        raise InputError(
            f"the loop's own {what} is {own:g} s already, and the scan ends at {end:g} s",
            mend="let the claim scan further (up_to)",
        )
    return Ladder(what, own, tuple(sorted(values)))


def _octaves(first: float, end: float) -> list[float]:
    values = []
    while first <= end * (1 + 1e-9):
        values.append(first)
        first *= 2 ** (1 / OCTAVE)
    return values


def borne(
    rungs: Ladder,
    loops: Sequence[ClosedLoop],
    scenario: Scenario,
    judge: Judge,
    tick: Callable,
    near: float = 0.0,
) -> list[float]:
    """The longest value [s] that each loop bears, by growing steps from `near`, then bisection; 0 where it bears none.

    judge: run → Outcome, which says whether the loop still behaves. tick() is called after every run.
    """
    brackets = [Bracket(len(rungs.values), rungs.index(near)) for _ in loops]
    while todo := [i for i, b in enumerate(brackets) if b.open]:
        asked = [brackets[i].next() for i in todo]
        jobs = [rungs.job(loops[i], scenario, rungs.values[k]) for i, k in zip(todo, asked)]
        for i, k, seen in zip(todo, asked, run_many(jobs, judge, tick)):
            brackets[i].told(k, seen.good)
    return [rungs.values[b.low] if b.low >= 0 else 0.0 for b in brackets]


@dataclass(eq=False)
class Bracket:
    """The bracket of one loop, by index in the ladder: low, the highest value known to be borne (−1: none); high, the lowest known
    not to be (count: none)."""

    count: int
    first: int
    low: int = -1
    high: int = -1
    step: int = 1

    def __post_init__(self) -> None:
        self.high = self.count

    @property
    def open(self) -> bool:
        """Whether there are values between low and high."""
        return self.high - self.low > 1

    def next(self) -> int:
        """Index of the value to try next."""
        below = self.low >= 0
        above = self.high < self.count
        if below and above:
            return (self.low + self.high) // 2
        if not below and not above:
            return self.first
        step, self.step = self.step, 2 * self.step
        return min(self.low + step, self.count - 1) if below else max(self.high - step, 0)

    def told(self, rung: int, borne: bool) -> None:
        """Take the result of a value: whether it is borne."""
        if borne:
            self.low = rung
        else:
            self.high = rung


def climbed(
    rungs: Ladder, loop: ClosedLoop, scenario: Scenario, judge: Judge, tick: Callable, beside: int
) -> float:
    """The longest value [s] such that the loop bears it and every shorter one; they are tried in rising order, `beside` at once."""
    good = 0.0
    for first in range(0, len(rungs.values), beside):
        some = rungs.values[first : first + beside]
        for value, seen in zip(
            some, run_many([rungs.job(loop, scenario, v) for v in some], judge, tick)
        ):
            if not seen.good:
                return good
            good = value
    return good
