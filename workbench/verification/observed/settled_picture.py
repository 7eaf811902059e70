"""What the figure of the claim `settled` is drawn of: every error in the settled half of the run and at rest after it."""

from __future__ import annotations

import numpy as np

from workbench.verification.observed.requirements import joint_errors
from workbench.verification.run import Run
from workbench.verification.scales import signal_floor


def courses(end: Run, begin: float, rest: float | None, floor: float) -> list[dict]:
    """One entry an error, the one that moves most above its floor in the last quarter first.

    end     the run, held at its end where it was
    begin   from when it is drawn, s; from the last row on where that is earlier
    rest    when the rest begins, s; None where the run was not held
    """
    time = end.log.time
    first = min(int(np.searchsorted(time, begin)), len(time) - 1)
    found = []
    for name, error in joint_errors(end).items():
        least = max(floor, signal_floor(end.loop.plant, name))
        entry = {"signal": name, "unit": end.log.signal(name).unit, "floor": least, "rest": rest}
        found.append(entry | {"t": time[first:], "error": error[first:]})
    return sorted(found, key=lambda one: -_width(one) / one["floor"])


def _width(entry: dict) -> float:
    """Largest minus smallest value of the error in the last quarter of what is looked at."""
    since = entry["t"][0] if entry["rest"] is None else entry["rest"]
    late = entry["error"][entry["t"] >= entry["t"][-1] - 0.25 * (entry["t"][-1] - since)]
    return float(np.ptp(late)) if len(late) else 0.0
