"""Sampled, Delayed, Saturated, Filtered, Quantised, Noisy: a controller around a controller, never a subclass.

Write them from the law outwards: Sampled(Saturated(Filtered(Noisy(law, …), …), …), T_s=1e-3). What the machine measures
passes the wrappers from the outside in; what the law commands passes from the inside out.
"""

from __future__ import annotations

from workbench.contract.wrappers.delayed import MOST_HELD, Delayed, dead_time, undelayed
from workbench.contract.wrappers.filtered import Filtered
from workbench.contract.wrappers.noisy import Noisy
from workbench.contract.wrappers.quantised import Quantised
from workbench.contract.wrappers.sampled import Sampled
from workbench.contract.wrappers.saturated import Saturated

__all__ = [
    "Delayed",
    "Filtered",
    "MOST_HELD",
    "Noisy",
    "Quantised",
    "Sampled",
    "Saturated",
    "dead_time",
    "undelayed",
]
