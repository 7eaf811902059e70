"""How far a scenario's path goes, by which tolerances are measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.run.demand import Demand
from workbench.run.deviated import undeviated
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.simulate import start_state
from workbench.verification.run import error_unit
from workbench.verification.scales import scales

ON_PATH = 0.1  # of a path's size: tracking error allowed by default on a plant without a tool
FARTHEST = 10.0  # lengths of a machine (its shortest stroke) that a path by which tolerances are measured may have


def path_size(loop, scenario) -> float:
    """How far a path goes, by which tolerances are measured: at most FARTHEST lengths of the machine, where it states one.

    A path that no machine of this size can follow makes no tolerance larger.
    """
    own = scales(loop.plant).of_unit(error_unit(loop))
    size = span(loop, scenario)
    return size if own is None else min(size, FARTHEST * own.value)


def span(loop, scenario) -> float:
    """How far a path goes from its middle or its start, in its own units; 0 where it does not say."""
    reference = None if scenario is None else undeviated(scenario.reference)
    if isinstance(reference, Sine):
        return float(np.abs(reference.amplitude).max())
    if isinstance(reference, Waypoints):
        points = reference.points
    elif isinstance(reference, Hold):
        points = (reference.point,)
    else:
        return 0.0
    whole = replace(scenario, reference=Waypoints(reference.space, ("start", *points), 1.0))
    try:
        demanded = Demand(loop, whole, start_state(loop, whole)).reference
    except InputError:  # the run will say why
        return 0.0
    return 0.0 if demanded is None else float(np.ptp(demanded.points, axis=0).max())
