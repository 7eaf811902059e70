"""The predictive controller of a loop, and whether it tracks a constant undisturbed, as the theorems about it ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.contract.capabilities import Predictive, Varies
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import innermost
from workbench.run.reference import Hold
from workbench.run.targets import target_name


def predictive(loop: Any) -> Any:
    """The loop's predictive controller, or None."""
    law = innermost(loop.controller)
    law = law.law if isinstance(law, Plain) else law
    return law if isinstance(law, Predictive) else None


def cost_asked(claim: Any, loop: Any) -> None:
    """InputError where the controller is not predictive."""
    if predictive(loop) is None:
        raise InputError(
            "this controller is not predictive: it has no cost and solves no problem",
            mend="ask it of an MPC loop, or remove this line",
        )


def constant(run: Any) -> tuple[np.ndarray | None, str]:
    """(constant value of what the predictive controller tracks, why there is none)."""
    law = predictive(run.loop)
    wanted = [target_name(s.name, 0) for s in law.follows]
    values = np.column_stack([run.log.array(name) for name in wanted])
    if not isinstance(run.demand.reference, Hold) or np.ptp(values, axis=0).any():
        return None, "the reference is constant"
    if any(isinstance(v, Varies) or v != 0.0 for v in run.scenario.disturbances.values()):
        return None, "no disturbance acts"
    return values[0], ""
