"""Numbers that run on: at the end of a run they still move one way, no slower than before, so that no run has seen where they lead.

A motor that heats up, a gain that wears or adapts itself, a watchdog that adds up errors. Of equally spaced values in the second
half of a run, each is to one side of the one before, and the last third covers at least SLOWER of what the first third does. What
swings, settles, or stands does not run on.
"""

from __future__ import annotations

import numpy as np

RUNS_ON = "a number that the law remembers has run on, and the law"
ASKED = 60  # instants within the run at which a law is asked, and after it
LEAST = 0.05  # share of a gain: by how much less it may change where a number runs on that depends on measurements
OFF = 1e-3  # share of what a measurement covered, or of its size: what it is off by, to see a gain
LOOKS = 24  # values of a number that are looked at, equally spaced over the run
SLOWER = 0.5
ROUNDING = 1e-9  # share of its largest value: a number that moves by less stands


def within(time: np.ndarray, values: np.ndarray) -> float:
    """What a number covered, from its values at equally spaced instants; 0 of one that runs on, which time leads (`timed`).

    Whether it does is looked at as often as there: what ran on for one of the two and stood for the other would be led by neither.
    """
    looks = np.linspace(0, len(values) - 1, LOOKS).astype(int)
    runs_on = running_on(time[looks], values[looks]) is not None
    return 0.0 if runs_on else float(np.ptp(values))


def running_on(time: np.ndarray, values: np.ndarray) -> float | None:
    """The rate (1/s) at which a number runs on, from its values at equally spaced instants of a run; None where it does not."""
    half = len(values) // 2
    steps = np.diff(values[half:])
    covered = float(np.abs(values[-1] - values[half]))
    if not covered > ROUNDING * np.abs(values).max() or (steps.min() < 0 < steps.max()):
        return None
    third = max(1, len(steps) // 3)
    first, last = (float(np.abs(part.sum())) for part in (steps[:third], steps[-third:]))
    if last < SLOWER * first:
        return None
    return float(values[-1] - values[half]) / float(time[-1] - time[half])
