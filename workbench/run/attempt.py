"""A run tried at one pace: whether that followed its modes, and whether a divergence is the loop's.

A run that diverges is done again with shorter steps. That its loop diverges is said only if it then diverges at the same time.

Beyond the ends of its strokes no plant describes a machine: volumes of oil vanish there, and modes grow beyond all bounds. What a
run does there is followed no further than its steps happen to; only when it left its strokes has to be right.
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
    """What one pace made of a run.

    n, done    samples asked for, and done before a state stopped being finite
    T          s from one to the next
    look       eigenvalues at each of some shares (0 … 1) of what was done
    result     whatever the caller makes of it
    inside     samples before a drive left its stroke; what is never asked is not worked out
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
        """Whether a drive left its stroke on the way; a run that begins outside is one like any other."""
        return 0 < self.end < self.done

    def needs(self, most: float, implicit: bool, end: int | None = None) -> Pace:
        """The strictest pace that its modes ask for before sample `end` (all that was done), EVENLY and again near by.

        A kink is passed, stiffness stays.
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
    """(run, its pace, whether the integrator followed it) of the pace that suits its modes; it begins with `pace`."""
    made = attempt(pace)
    asked = made.needs(most, pace.implicit)
    if not pace.follows(asked) and made.strays:
        asked = _within_strokes(attempt, made, pace, most, asked)
    if not pace.follows(asked):
        pace = asked.with_those_of(pace)
        made = attempt(pace)
    return (made, pace, True) if made.completed else confirmed(attempt, made, pace, most)


def _within_strokes(attempt, made: Attempt, pace: Pace, most: float, asked: Pace) -> Pace:
    """What modes ask for before a run left its strokes; `asked`, as those of all of it do, where it leaves at no certain time."""
    inside = made.needs(most, pace.implicit, made.end)
    if not pace.follows(inside):
        return inside
    finer = attempt(pace.quartered(most))
    return pace if made.ends_as(finer) else asked


def confirmed(attempt, made: Attempt, pace: Pace, most: float) -> tuple[Attempt, Pace, bool]:
    """A run that diverged, made again with steps a quarter as long until it ends, or diverges at the same time.

    A time of a few samples is no time to compare: the same one has to come out of all tries. Of a run that left its strokes
    before it diverged the time at which it left them is compared.
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
