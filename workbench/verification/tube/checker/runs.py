"""Many runs of the loop side by side, from a set of states around a centre: what is known of them before every stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .balls import UNIT, up
from .interval import Interval
from .spread import Spread


@dataclass(eq=False)
class Runs:
    """Many runs side by side, rows first.

    centre   bounds of the state, one Interval a state, of the run from the centre of the start
    reaches  |x − centre| before every stage and after the last one, as the certificate says, (rows, stages + 1, states)
    sides    between which bounds the states of a row are, where a split cuts them
    segments, ball, more    the set {Γζ + Bu + a : |ζ_i| ≤ 1, |u| ≤ 1, |a| ≤ more} that x − centre is in before the next stage
    apart    rows are sides of splits: the centre's run may be on another, so derivatives are taken, not forms beside it
    maps, errors    every stage's matrix, and what it may add to that
    low, high       between which every run stays, extended as they go on
    known, found    the centre's course, stage by stage, as it was found before (if it was), and now
    """

    centre: list
    reaches: np.ndarray
    sides: tuple[np.ndarray, np.ndarray]
    segments: np.ndarray | None = None
    ball: np.ndarray | None = None
    more: Any = 0.0
    apart: bool = False
    maps: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    low: Any = None
    high: Any = None
    known: Any = None
    found: list = field(default_factory=list)

    def course(self, find: Any) -> tuple[list, list]:
        """Of the centre's run alone: where it is during the next stage and after it, as `find` encloses it."""
        if self.known is None:
            self.found.append(find())
        else:
            low, high, less, more = np.moveaxis(self.known[:, len(self.maps)], 1, 0)
            each = range(low.shape[1])
            alone = [Interval(low[:, i], high[:, i]) for i in each]
            self.found.append((alone, [Interval(less[:, i], more[:, i]) for i in each]))
        return self.found[-1]

    @property
    def reach(self) -> np.ndarray:
        """|x − centre| of every state before the next stage, (rows, states)."""
        return self.reaches[:, len(self.maps)]

    @property
    def beyond(self) -> np.ndarray:
        """|x − centre| after the next stage."""
        return self.reaches[:, len(self.maps) + 1]

    @property
    def ends(self) -> list:
        """The set before the next stage as one end of a spread; none where it is known as a box alone."""
        return [] if self.segments is None else [(self.segments, self.ball)]

    def spread(self) -> Spread:
        """What is known of x − centre before the next stage."""
        return Spread(self.reach, self.ends, np.broadcast_to(self.more, self.reach.shape))

    def take(self, centre: list, Φ: np.ndarray, added: np.ndarray) -> None:
        """Go on: e → Φ e, less than `added` off."""
        if self.segments is not None:
            self.segments, self.ball, self.more = self.led(Φ)
            self.more = up(self.more + added)
        self.centre = centre
        self.maps.append(Φ)
        self.errors.append(added)

    def led(self, Φ: np.ndarray) -> tuple:
        """(Γ, B, more) after e → Φ e, with what rounding adds."""
        size = np.abs(self.segments).sum(axis=2) + np.sqrt((self.ball**2).sum(axis=2))
        lost = (Φ.shape[-1] + 2) * UNIT * size + np.broadcast_to(self.more, size.shape)
        more = up(np.einsum("rij,rj->ri", np.abs(Φ), lost))
        return Φ @ self.segments, Φ @ self.ball, more

    def cut(self, values: list, held: np.ndarray) -> None:
        """Restrict the bounds of states `held` until the next sample to the values that the jump gave them."""
        low, high = (side.copy() for side in self.sides)
        for i in np.flatnonzero(held):
            low[:, i] = np.maximum(low[:, i], values[i].lo)
            high[:, i] = np.maximum(np.minimum(high[:, i], values[i].hi), low[:, i])
        self.sides = low, high

    def seen(self, box: list) -> None:
        rows = len(self.reaches)
        low = np.stack([np.broadcast_to(b.lo, rows) for b in box], axis=-1)
        high = np.stack([np.broadcast_to(b.hi, rows) for b in box], axis=-1)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)


def around(centre: list, reach: np.ndarray, sides: Any = None) -> list:
    """The box centre ± reach, cut to the side of a kink that a row looks at."""
    box = [c + Interval(-reach[:, i], reach[:, i]) for i, c in enumerate(centre)]
    if sides is None:
        return box
    low, high = sides
    return [
        Interval(np.clip(b.lo, low[:, i], high[:, i]), np.clip(b.hi, low[:, i], high[:, i]))
        for i, b in enumerate(box)
    ]
