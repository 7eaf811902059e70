"""Functions of time that leave, after a run, the range that they had during it; and values that grow along a straight line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.contract.units import format_quantity as say
from workbench.verification.practical.starts import SPREAD, sizes
from workbench.verification.run import Run

DAY = 86400.0  # s
LENGTHS = 1e3  # times the length of the run: the horizon, at least
INSIDE = 400  # instants within the run
LATER = 150  # instants after it
SLACK = 0.05  # share of the range during the run by which a value may leave it
SAME = 1e-9  # share of the largest value: a smaller change counts as none
STEADY = 1e-9  # share by which a clock may deviate from a straight line


def stray(
    answer: Callable[[float], np.ndarray],
    length: float,
    what: Sequence[str],
    within: int = INSIDE,
    after: int = LATER,
    least: float = SAME,
    also: Sequence[float] = (),
) -> str:
    """In words, the first tried instant after a run of `length` s at which a value of answer(t) leaves its range; "" for none.

    what       whose values they are, in the order of answer(t), repeated where there are more values than names
    within     number of instants tried during the run;  after: after it, up to `until(length)`;  also: further instants after it
    least      share of its largest size by which a value may change in any case
    """
    rng = np.random.default_rng(1)
    inside = np.array([answer(t) for t in (0.0, length, *length * rng.uniform(size=within))])
    low = inside.min(axis=0)
    high = inside.max(axis=0)
    room = SLACK * (high - low) + least * np.abs(inside).max(axis=0)
    drawn = length * np.exp(rng.uniform(0.0, np.log(until(length) / length), after))
    for t in np.sort([*drawn, *also]):
        value = answer(float(t))
        over = np.maximum(value - high, low - value) - room
        over[~np.isfinite(over)] = np.inf
        over[~np.isfinite(inside).all(axis=0)] = -np.inf
        if (over > 0).any():
            who = what[int(np.argmax(over)) % len(what)]
            return f"at t = {say(float(t), 's', 3)} {who} does what it did at no time of the run"
    return ""


def until(length: float) -> float:
    """The horizon [s] after a run of this length [s]."""
    return max(DAY, LENGTHS * length)


def straight(time: np.ndarray, values: np.ndarray) -> tuple[float, float] | None:
    """(value at t = 0, rate) of values on a straight line over time; None for others, and for a constant."""
    rate = (values[-1] - values[0]) / (time[-1] - time[0])
    line = values[0] + rate * (time - time[0])
    apart = np.abs(values - line).max()
    if rate == 0 or not apart <= STEADY * np.abs(values).max():
        return None
    return float(values[0] - rate * time[0]), float(rate)


def moved(run: Run) -> np.ndarray:
    """δ, the displacement of the loop's states in f(t, x + δ): that of other starts, 0 for the law's memory."""
    amounts = sizes(run, SPREAD)
    return np.array([amounts.get(s.name, 0.0) for s in run.loop.states])
