"""The row of a run at which most parts of a condition were met that was never met as a whole.

An example is `0.2 < r < 0.3 and |e| > 0.1`, at the part of the path with such r, however short. At each row these are counted:
parts that Python evaluated (it stops an `and` at the first part that is false, and skips what is below an `if` that is not met),
and parts on the side that they had less often in the run. The row is the middle of the longest stretch with the largest count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.verification.practical.switches.margins import Extent, Switching
from workbench.verification.run import Run

MOST = 8  # switches that are looked at


def met_in_part(run: Run, law: Switching, seen: Extent) -> list[int]:
    """Rows of the run, one for each switch of a user's own law that had one side only."""
    asked = [law.parts(k) or [k] for k in seen.one_sided().tolist()[:MOST]] if law.users else []
    if not asked:
        return []
    rows, low, _ = law.margins(run)
    return [int(rows[_in_the_middle(_count(low[own]))]) for own in asked]


def _count(margins: np.ndarray) -> np.ndarray:
    """For each row: how many of these parts (k, N) were evaluated, plus how many were on their rarer side."""
    sides = np.sign(margins)
    rarer = -np.sign(np.nansum(sides, axis=1, keepdims=True))
    return np.isfinite(margins).sum(axis=0) + (sides == rarer).sum(axis=0)


def _in_the_middle(count: Sequence[int]) -> int:
    """The middle of the longest stretch at which this is largest."""
    most = np.asarray(count) == np.max(count)
    edges = np.flatnonzero(np.diff([False, *most, False]))
    begins = edges[::2]
    ends = edges[1::2]
    longest = int(np.argmax(ends - begins))
    return int(begins[longest] + ends[longest] - 1) // 2
