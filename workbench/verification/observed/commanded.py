"""What drives a loop with a period that is known, and what is left of an error without it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.contract.capabilities import periods
from workbench.run.deviated import undeviated
from workbench.run.reference import Sine
from workbench.verification.run import Run


def commanded_periods(run: Run) -> list[float]:
    """Periods (s) of what drives the loop, each once: a sine, a path walked again and again, a swell under the base."""
    given = (run.scenario.reference, *run.scenario.disturbances.values())
    return list(dict.fromkeys(period for one in given for period in periods(one)))


def commanded_waves(run: Run) -> list[float]:
    """Frequencies (Hz) of the sines that drive the loop."""
    given = (undeviated(run.scenario.reference), *run.scenario.disturbances.values())
    return [float(one.frequency) for one in given if isinstance(one, Sine)]


def uncommanded(
    time: np.ndarray, error: np.ndarray, periods: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """(t, e(t) − e(t − T)) for every commanded period T that fits three times: what a periodic command explains is gone.

    A cycle of another frequency stays, up to twice as large; growth stays growth.
    """
    for period in periods:
        if time[-1] - time[0] < 3 * period:
            continue
        later = time >= time[0] + period
        error = error[later] - np.interp(time[later] - period, time, error)
        time = time[later]
    return time, error
