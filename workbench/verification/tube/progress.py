"""The share of a progress bar of work whose length is not known."""

from __future__ import annotations

from collections.abc import Callable

STEP = 0.12  # share of what is left, every time


class Share:
    """Every step takes the same part of what is left of the bar, so that it neither ends early nor goes back.

    tick: called once for every unit that is done, None where nobody listens. work: units in all.
    """

    def __init__(self, tick: Callable[[], None] | None, work: int):
        self.tick, self.work = tick, work
        self.left = 1.0
        self.told = 0

    def step(self) -> None:
        self.left *= 1 - STEP
        self._tell(int(self.work * (1 - self.left)))

    def done(self, part: float) -> None:
        """This part of the work is done."""
        self._tell(int(self.work * part))

    def end(self) -> None:
        self._tell(self.work)

    def _tell(self, units: int) -> None:
        while self.tick and self.told < units:
            self.told += 1
            self.tick()
