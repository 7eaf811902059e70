"""The default claims of a predictive law, and why its stability argument is left out where it is."""

from __future__ import annotations

from typing import Any

from workbench.run.reference import Hold
from workbench.verification import claims as C

ARGUMENT = ("mpc-stability", "cost-decrease")
NO_SET = (
    "the argument needs a terminal set as a constraint (terminal: set), and without one the cost may rise; runs from other starts"
    " (practical-stability) and the law away from its limits (linear-stability) decide"
)


def predictive_claims(about: Any, unasked: list) -> list:
    """What a predictive law solves, its stability argument; of every loop with limits, from where it comes back.

    `about` is the loop and its scenario as `defaults` looks at them; claims that are left out are added to `unasked`.
    """
    from workbench.verification.linear.limited_loop import saturates

    found: list = []
    if about.predictive is not None:
        found.append(C.Solves())
        why = left_out(about)
        if why:
            unasked += [(key, why) for key in ARGUMENT]
        else:
            found += [C.MPCStability(), C.CostDecrease()]
    if about.closed and not about.jointed and about.linear and saturates(about.loop):
        found.append(C.RegionOfAttraction(counted=False))
    return found


def left_out(about: Any) -> str:
    """Why the textbook's argument is not about this loop; empty where it is."""
    scenario = about.scenario
    if about.jointed or not about.linear:
        return "the argument is about a linear plant, and this one is not"
    if scenario is not None and not isinstance(scenario.reference, Hold | None):
        return "the argument is about a reference that stands still (Hold), and this one moves"
    if scenario is not None and scenario.disturbances:
        return "the argument is about a loop that nothing disturbs"
    if about.predictive.observer is not None:
        return "the argument is about a law that measures every state, and this one estimates them"
    if about.predictive.terminal != "set":
        return NO_SET
    return ""
