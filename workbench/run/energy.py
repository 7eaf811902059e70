"""Where the energy of a run went: pure functions of what a log holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class EnergyAccount:
    """Where the energy of a run went.

    by       cause → energy it brought over the whole run, J (taken away: negative)
    change   of the energy stored, J; the sum of `by` but for the drift at the end
    drift    largest gap along the run between the change of the energy stored and what all causes brought, J
    through  what passed through, J: half of what all causes moved either way, from sample to sample
    rounding what the energy stored is rounded to, J: a smaller drift is none
    """

    by: dict[str, float]
    change: float
    drift: float
    through: float
    rounding: float = 0.0

    @property
    def share(self) -> float:
        """Drift as a part of what passed through; NaN where nothing did."""
        return self.drift / self.through if self.through else math.nan


def energy_account(stored, flows: dict) -> EnergyAccount:
    """Account of a run from the energy stored (N,) and the integrated power of each cause, name → (N,), all in J."""
    stored = np.asarray(stored, dtype=float)
    moved = {name: np.asarray(e, dtype=float) for name, e in flows.items()}
    gap = energy_gap(stored, moved)
    through = sum(float(np.abs(np.diff(e)).sum()) for e in moved.values()) / 2
    return EnergyAccount(
        {name: float(e[-1] - e[0]) for name, e in moved.items()},
        float(stored[-1] - stored[0]),
        float(np.abs(gap).max()),
        through,
        4 * float(np.finfo(float).eps * np.abs(stored).max()),
    )


def energy_gap(stored, flows: dict) -> np.ndarray:
    """(N,) J: the change of the energy stored since the start, less what all causes have brought; 0 for an exact run."""
    stored = np.asarray(stored, dtype=float)
    return stored - stored[0] - sum(np.asarray(e, dtype=float) - e[0] for e in flows.values())
