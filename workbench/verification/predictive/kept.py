"""Limits on outputs that a predictive law states, held against what the run did: one that is exceeded for much of it is none.

A soft limit may be exceeded for a while where that pays off, and a hard one where the model is not the plant. What lies beyond its
limit at more than MUCH of the samples, by more than SLIGHTLY of the limit's own size, is not held by it: the weight of a soft
limit is too small, or the reference asks for more.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from workbench.contract.units import format_quantity as say

MUCH = 0.2
SLIGHTLY = 1e-3


def exceeded(law: Any, run: Any) -> str:
    """The limits that the run exceeds for much of its time, in words; "" where there is none."""
    if not is_dataclass(law) or "limits" not in {f.name for f in fields(law)}:
        return ""
    found = (_beyond(limit, run) for limit in law.limits if limit.name in run.log)
    return "; ".join(filter(None, found))


def _beyond(limit: Any, run: Any) -> str:
    values = run.log.array(limit.name)
    unit = run.log.signal(limit.name).unit
    low = -np.inf if limit.low is None else limit.low
    high = np.inf if limit.high is None else limit.high
    over = np.maximum(values - high, low - values)
    size = max(abs(end) for end in (low, high) if np.isfinite(end))
    share = float(np.mean(over > SLIGHTLY * size))
    if share <= MUCH:
        return ""
    most = say(float(over.max()), unit, 3)
    return f"{limit.name} is beyond its limit for {100 * share:.0f} % of the run, by up to {most}"
