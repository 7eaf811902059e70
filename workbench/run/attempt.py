"""An attempt at a run with one pace of steps: were its modes followed, and is a divergence that of the loop or of the steps?

A run that diverges is made again with shorter steps. The loop is said to diverge only if it then diverges at the same time.

Beyond the ends of its strokes a plant's equations describe no machine: volumes of oil vanish there, and modes become arbitrarily
fast. Steps need not follow them there; only the time at which the run left its strokes has to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from workbench.run.pace import MOST_STEPS, Pace, needed

EVENLY = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a run: where its modes are looked at
NEAR = 0.01  # share of a run, from one such instant to the one beside it
TRIES = 4  # with steps a quarter as long each, of a run that diverges, at most
SAME = 0.02  # share of its time by which a divergence may move under shorter steps
FEW = 20  # samples before a divergence that say little about its time


def unlimited() -> float:
    """Samples within the strokes of a plant that has none."""
    return inf


@dataclass(frozen=True, eq=False)
class Attempt:
    """A run made with one pace.

    n, done    number of samples wanted, and of those made before a state was no longer finite
    T          sample time, s
    look       shares (0 … 1) of the samples made → eigenvalues of the flow at each of them, 1/s
    result     whatever the caller stores with it
    inside     function that returns the number of samples before a drive left its stroke
    """

    n: int
    done: int
    T: float
    look: Callable[[Sequence[float]], list[np.ndarray]]
    result: object
    inside: Callable[[], float] = unlimited

    @property
    def completed(self) -> bool:
        return self.done == self.n

    @cached_property
    def end(self) -> int:
        """Samples before the run diverged, or a drive left its stroke."""
        return int(min(self.done, self.inside()))

    @property
    def strays(self) -> bool:
        """Whether a drive left its stroke during the run; False where it began outside."""
        return 0 < self.end < self.done

    def needs(self, most: float, implicit: bool, end: int | None = None) -> Pace:
        """The strictest pace that the modes at the shares EVENLY of the run need, up to sample `end` (by default all made).

        A mode counts only if it is as fast a little before or after: at a kink of the flow it is fast for an instant only.
        """
        length = self.n * self.T
        whole = 1.0 if end is None else end / max(self.done, 1)
        shares = [whole * share for share in EVENLY]
        seen = self.look(shares)
        asked = Pace(implicit=implicit)
        if needed(np.concatenate(seen), most, length, implicit) == asked:  # no mode asks for more
            return asked
        for share, λ in zip(shares, seen):
            here = needed(λ, most, length, implicit)
            if asked.follows(here):
                continue
            aside = -NEAR if share > 0.5 * whole else NEAR
            (near,) = self.look([share + whole * aside])
            beside = needed(near, most, length, implicit)
            if not asked.follows(beside):
                asked = here.with_those_of(asked)
        return asked

    def ends_as(self, finer: Attempt) -> bool:
        """Whether a run with shorter steps diverged, or left its strokes, at the same time."""
        return abs(finer.end - self.end) <= 1 + SAME * finer.end


def followed(
    attempt: Callable[[Pace], Attempt], pace: Pace, most: float
) -> tuple[Attempt, Pace, bool]:
    """(run, its pace, whether the integrator followed it): made at `pace`, and again at a stricter one if its modes need it."""
    made = attempt(pace)
    asked = made.needs(most, pace.implicit)
    if not pace.follows(asked) and made.strays:
        asked = _within_strokes(attempt, made, pace, most, asked)
    if not pace.follows(asked):
        pace = asked.with_those_of(pace)
        made = attempt(pace)
    return (made, pace, True) if made.completed else confirmed(attempt, made, pace, most)


def _within_strokes(attempt, made: Attempt, pace: Pace, most: float, asked: Pace) -> Pace:
    """The pace that modes within the strokes need; `asked`, that of all modes, where it is not certain when a stroke is left."""
    inside = made.needs(most, pace.implicit, made.end)
    if not pace.follows(inside):
        return inside
    finer = attempt(pace.quartered(most))
    return pace if made.ends_as(finer) else asked


def confirmed(attempt, made: Attempt, pace: Pace, most: float) -> tuple[Attempt, Pace, bool]:
    """A run that diverged, made again with steps a quarter as long until it reaches its end, or diverges at the same time.

    Times of a few samples are too short to compare: then all TRIES must agree. Where the run left its strokes before it diverged,
    the time at which it left them is compared.
    """
    same = False
    for _ in range(TRIES):
        finer = pace.quartered(most)
        if made.n * made.T / finer.longest > MOST_STEPS:
            break
        again = attempt(finer)
        if again.completed:
            return again, replace(finer, why="longer steps diverge"), True
        same = made.ends_as(again)
        if same and again.end >= FEW:
            return made, pace, True
        made = again
        pace = finer
    return made, pace, same
