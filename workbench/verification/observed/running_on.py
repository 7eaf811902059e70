"""Numbers that "run on": at the end of a run they still move in one direction, hardly slower than before.

Examples are a motor that heats up, a gain that wears or adapts itself, a watchdog that adds up errors; where they lead, the run
does not show. The criterion: of equally spaced values in the second half of the run, all steps have the same sign, and the last
third of the steps covers at least SLOWER times what the first third does. A number that swings, settles, or stays does not run on.
"""

from __future__ import annotations

import numpy as np

RUNS_ON = "a number that the law remembers has run on, and the law"
ASKED = 60  # instants within the run at which a law is asked, and after it
LEAST = 0.05  # share of a gain by which it may change while a number that depends on measurements is extrapolated
OFF = 1e-3  # share of a measurement's range, or of its size: the change of it by which gains are taken
LOOKS = 24  # values of a number that are examined, equally spaced over the run
SLOWER = 0.5
ROUNDING = 1e-9  # share of its largest value: a number that moves by less stays


def within(time: np.ndarray, values: np.ndarray) -> float:
    """The range of a number over a run, from its values at equally spaced instants; 0 where it runs on.

    Numbers that run on are extrapolated in time instead (`practical.later`). Both use the same LOOKS values, so that every number
    is treated in one of the two ways.
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
