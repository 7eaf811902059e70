"""Whether a loop can be held at rest where the path of its run ends, and the scenario that holds it there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.contract.capabilities import Varies, ends
from workbench.run.reference import Hold
from workbench.run.scenario import Scenario
from workbench.verification.observed.response import driven
from workbench.verification.run import Run


def comes_to_rest(run: Run) -> bool:
    """True where the reference ends, so that the loop can be held there, and nothing else drives it on, time itself included."""
    reference = run.scenario.reference
    stops = reference is None or np.isfinite(ends(reference))
    return stops and _can_be_held(run)


def held_from_its_start(run: Run) -> Scenario | None:
    """The scenario with its reference held, from its start on, where it is at the end of the run.

    None where no reference can be held, or where something else drives the loop on.
    """
    return held_there(run) if _can_be_held(run) else None


def held_there(run: Run) -> Scenario | None:
    """The scenario with its reference held where it is at the end of the run, whatever else drives the loop on.

    None where no reference can be held.
    """
    reference = run.demand.reference
    if reference is None:
        return None
    return replace(run.scenario, reference=stays_at(reference, float(run.log.time[-1])))


def stays_at(reference: Any, t: float) -> Hold:
    """The reference that stays where this one is at an instant t (s)."""
    (there,) = reference.sample(np.array([t]), 0)[0]
    return Hold(reference.space, tuple(map(float, there)))


def _can_be_held(run: Run) -> bool:
    """Whether there is a reference, and neither a disturbance nor the plant's own motion in time goes on for ever."""
    if run.demand.reference is None or pushed(run):
        return False
    return not driven(run, after=run.scenario.length())


def pushed(run: Run) -> bool:
    """True where a disturbance moves for ever."""
    return any(map(never_ends, run.scenario.disturbances.values()))


def never_ends(motion: Any) -> bool:
    """Whether a reference or disturbance moves for ever."""
    return isinstance(motion, Varies) and not np.isfinite(ends(motion))
