"""The tail of a run: what its errors do once the reference has come to rest.

The tail is cut into quarters, of which the first is left to settle; the width (largest minus smallest value) of each error is
compared from quarter to quarter:

    still      not wider than the floor in the last quarter
    decaying   narrower from quarter to quarter, in all by DECAY
    creeping   moving one way, or fewer than three periods of an oscillation
    restless   anything else: a limit cycle, hunting

With noise or quantisation no error is still to within a floor; there only periodic motion counts as restless.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workbench.run.limit_cycle import limit_cycle
from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run
from workbench.verification.scales import signal_floor

RANK = {"still": 0, "decaying": 1, "creeping": 2, "restless": 3}
DECAY = 0.95
TURNS = 6  # passes through the middle: three periods
SHORTEST = 16  # instants a quarter of a tail needs
CREEP = 0.25  # share of its width: what the mean of a signal that swings moves from one quarter to the next, at most


@dataclass(frozen=True)
class Rest:
    """What one error did in the tail: its width in the last quarter, in a word what that is, and what ended it, in words."""

    name: str
    width: float
    word: str
    frequency: float = float("nan")
    end: str = ""

    @property
    def lasts(self) -> bool:
        """Whether it swings for ever, or until it ends."""
        return self.word == "restless"


STANDS = Rest("", 0.0, "still")  # a loop without an error that could move


def most_moving(found: Iterable[Rest]) -> Rest | None:
    """The one that is furthest from standing still; None for none."""
    return max(found, key=lambda rest: (RANK[rest.word], rest.width), default=None)


def noisy(run: Run) -> bool:
    """True where noise or a converter keeps the loop from standing still."""
    if any(s.kind == "noise" for s in run.loop.inputs):
        return True
    around = run.loop.controller
    while around is not None:
        if type(around).__name__ == "Quantised":
            return True
        around = around.inner
    return False


def rests(end: Run, begin: float, floor: float) -> list[Rest]:
    """How every error moves from `begin` on, when the reference has ended."""
    time = end.log.time
    first = int(np.searchsorted(time, max(begin, moves_until(end))))
    found = []
    for name, error in joint_errors(end).items():
        least = max(floor, signal_floor(end.loop.plant, name))
        found.append(_rest(name, time[first:], error[first:], least, noisy(end)))
    return found


def moves_until(run: Run) -> float:
    """When the reference has come to rest."""
    return 0.0 if run.demand.reference is None else float(run.demand.reference.duration or 0.0)


def _rest(name: str, time: np.ndarray, error: np.ndarray, floor: float, noise: bool) -> Rest:
    if len(time) < 4 * SHORTEST:
        return Rest(name, 0.0, "decaying")
    quarters = np.array_split(error, 4)[1:]
    widths = [float(np.ptp(q)) for q in quarters]
    last = widths[-1]
    if last <= 2 * floor:
        return Rest(name, last, "still")
    falls = all(after < before for before, after in zip(widths, widths[1:]))
    if falls and last < DECAY * widths[0]:
        return Rest(name, last, "decaying")
    cycle = limit_cycle(time, error, floor=floor, settled=0.75)
    if cycle.detected:
        return Rest(
            name,
            2 * cycle.amplitude if np.isfinite(cycle.amplitude) else last,
            "restless",
            cycle.frequency,
        )
    steps = np.diff([float(q.mean()) for q in quarters])
    creeps = bool(np.all(steps > CREEP * last) or np.all(steps < -CREEP * last))
    if creeps or not _swings(error) or noise and cycle.few:
        return Rest(name, last, "creeping")
    if noise:
        return Rest(name, last, "still")
    return Rest(
        name, last, "decaying" if cycle.trend == "decaying" else "restless", _pace(time, error)
    )


def _turns(error: np.ndarray) -> int:
    """How often the last three quarters of a tail pass their middle."""
    part = error[len(error) // 4 :]
    signs = np.sign(part - 0.5 * (part.max() + part.min()))
    return int(np.count_nonzero(np.diff(signs[signs != 0])))


def _swings(error: np.ndarray) -> bool:
    """True where the tail shows three periods of what swings in it."""
    return _turns(error) >= TURNS


def _pace(time: np.ndarray, error: np.ndarray) -> float:
    """Swings a second through the middle, Hz; NaN below one and a half of them."""
    turns = _turns(error)
    return turns / 2 / (0.75 * float(time[-1] - time[0])) if turns >= 3 else float("nan")
