"""What the switches of a law compare: comparisons, signs, magnitudes, the larger or the smaller of two.

The margin of a switch is the difference of the two values that it compares; its sign says which side is taken. A run has taken
a side where the margin had that sign at a sample. Of a law that is an expression the margins are read off its graph
(`expression`), of one that is called from Python off its text (`called`). A plant of the user's own has switches, too, which are
read off the graph of its flow under the law's command; what plants of this library do beyond their limits is asked by
`machine-limits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from workbench.verification.run import Run

MOST = 2000  # rows of a run that are looked at, at most
HELD = 200  # samples for which a law is held at a point: as long as a window of past samples may be


@dataclass(frozen=True, eq=False)
class Extent:
    """The least and the largest margin of every switch (k,) that runs had; NaN of a switch that they did not come to."""

    low: np.ndarray
    high: np.ndarray

    @staticmethod
    def of(low: np.ndarray, high: np.ndarray) -> Extent:
        """Of margins (k, N) along a run, the least and the largest of each instant."""
        return Extent(np.fmin.reduce(low, axis=1), np.fmax.reduce(high, axis=1))

    def one_sided(self) -> np.ndarray:
        """Places of the switches of which one side alone was taken."""
        return np.flatnonzero((self.low > 0) | (self.high < 0))

    def side(self, k: int) -> float:
        """The sign of the margins of a switch of which one side alone was taken."""
        return 1.0 if self.high[k] > 0 else -1.0

    def nearest(self, k: int) -> float:
        """The margin that came nearest to zero."""
        return float(min(self.low[k], self.high[k], key=abs))


def together(extents: Sequence[Extent]) -> Extent:
    """What several runs had."""
    return Extent(
        np.fmin.reduce([e.low for e in extents]), np.fmax.reduce([e.high for e in extents])
    )


class Beside(NamedTuple):
    """A law, and a plant of the user's own, at points beside a row of a run.

    low, high   least and largest margins (k, N)
    commands    (m, N)
    memory      what the law remembers after a sample (p, N)
    flow        rates of the plant's states under these commands (n, N); (0, N) of a plant of this library
    """

    low: np.ndarray
    high: np.ndarray
    commands: np.ndarray
    memory: np.ndarray
    flow: np.ndarray

    def margins(self, side: float) -> np.ndarray:
        """The margins of the runs that are the first to leave this side."""
        return self.low if side > 0 else self.high


class Switching(Protocol):
    """A law whose switches can be asked beside a row of a run: x are the plant's states, z what the law remembers.

    users       whether the law is the user's own: what those of this library remember beyond a limit is known
    """

    users: bool

    def margins(self, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows of a run (N,), least and largest margins there (k, N))."""
        ...

    def remembers(self, run: Run) -> bool:
        """Whether there are numbers in its memory."""
        ...

    def covered(self, run: Run) -> np.ndarray:
        """What the numbers in its memory covered along a run (p,)."""
        ...

    def at(self, run: Run, row: int) -> tuple[np.ndarray, np.ndarray]:
        """(x, z) at a row of a run."""
        ...

    def ask(self, run: Run, row: int, points: np.ndarray) -> Beside:
        """What is there at points (x, z) × N, else as in this row."""
        ...

    def whole_first(self, switches: Iterable[int]) -> list[int]:
        """Switches by number, a condition before the parts of it: a part that is met says nothing of the whole."""
        ...

    def held(self, run: Run, row: int, points: np.ndarray) -> Beside:
        """What a sampled law commands once the plant was held at points (x, z) × N for HELD samples, and the margins meanwhile."""
        ...

    def shown(self, run: Run, row: int, points: np.ndarray) -> Mapping[str, np.ndarray]:
        """Signals that follow from points (x, z) × N, such as lengths of cylinders, as far as it knows them."""
        ...

    def is_condition(self, k: int) -> bool:
        """Whether switch k is a condition made of several comparisons, whose margin has no size."""
        ...

    def parts(self, k: int) -> list[int]:
        """The comparisons of which condition k is made; none of any other switch."""
        ...

    def words(self, k: int, run: Run) -> str:
        """What switch k compares."""
        ...
