"""Where on a run most of a condition was met that never was met as a whole: `0.2 < r < 0.3 and |e| > 0.1` on the part of the
path with such r, however short.

Of every part of the condition that took both sides in the run, the rarer side counts; so does that a part was come to at all:
Python leaves `and` where it is decided, and comes to what stands below an `if` only where that is met. The row is in the middle of
the longest stretch with the largest count: where the path rests there, that rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.verification.practical.switches.margins import Extent, Switching
from workbench.verification.run import Run

MOST = 8  # switches that are looked at


def met_in_part(run: Run, law: Switching, seen: Extent) -> list[int]:
    """Rows of the run, one for each switch of a law of the user's own of which one side alone was taken."""
    asked = [law.parts(k) or [k] for k in seen.one_sided().tolist()[:MOST]] if law.users else []
    if not asked:
        return []
    rows, low, _ = law.margins(run)
    return [int(rows[_in_the_middle(_count(low[own]))]) for own in asked]


def _count(margins: np.ndarray) -> np.ndarray:
    """How many of these parts (k, N) were come to, and how many were on their rarer side, at each row."""
    sides = np.sign(margins)
    rarer = -np.sign(np.nansum(sides, axis=1, keepdims=True))
    return np.isfinite(margins).sum(axis=0) + (sides == rarer).sum(axis=0)


def _in_the_middle(count: Sequence[int]) -> int:
    """The middle of the longest stretch at which this is largest."""
    most = np.asarray(count) == np.max(count)
    edges = np.flatnonzero(np.diff([False, *most, False]))
    begins, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - begins))
    return int(begins[longest] + ends[longest] - 1) // 2
