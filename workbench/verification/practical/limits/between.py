"""Values between those that a scan tries, at which the loop linearised at rest where its run starts has a mode that grows.

Stability is monotone in no number: a delay turns the phase of a resonance round and round. A scan tries a dozen values and may step
over a window in which the loop swings by itself. Up to the value that is asked for the linearised loop is looked at in LOOKS steps,
and at the worst value of every window the run is made as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from workbench.contract.errors import InputError
from workbench.verification.linear.frozen_time import TracedPoints
from workbench.verification.linear.modes import Mode
from workbench.verification.run import run as simulated

LOOKS = 48  # steps from the loop's own value to the one asked for
BRIEF = 3  # samples, or milliseconds without them, that a run lasts of which the start alone is looked at


class Growth(NamedTuple):
    """A value of a scanned number, and the mode that grows fastest there; None where none grows."""

    value: float
    mode: Mode | None

    @property
    def grows(self) -> bool:
        return self.mode is not None

    @property
    def rate(self) -> float:
        """How fast it grows, 1/s; −∞ where nothing does."""
        return -np.inf if self.mode is None else self.mode.s.real


def windows(make: Callable[[float], tuple], own: float, asked: float) -> tuple[Growth, ...]:
    """The worst value of every window between `own` and `asked` in which a mode grows; none where one grows at `own` already.

    make: value → (loop, scenario). Nothing is said of a loop that is called from Python, or does not rest where it starts.
    """
    if own == asked or make(asked)[0].hosted or _look(make, own).grows:
        return ()
    found = [_look(make, value) for value in np.linspace(own, asked, LOOKS + 1)[1:].tolist()]
    rows = groupby(found, key=lambda growth: growth.grows)
    return tuple(max(row, key=lambda growth: growth.rate) for grows, row in rows if grows)


def _look(make: Callable[[float], tuple], value: float) -> Growth:
    loop, scenario = make(value)
    length = BRIEF * (loop.period or 1e-3)
    try:
        points = TracedPoints(simulated(loop, replace(scenario, duration=length)))
        points.prepare()
        places = points.still(0, "at the start")
    except InputError:
        return Growth(value, None)
    fastest = [place.fastest for place in places]
    growing = [Growth(value, mode) for mode in fastest if mode is not None and not mode.aside]
    return max(growing, key=lambda growth: growth.rate, default=Growth(value, None))
