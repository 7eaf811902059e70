"""How far a scenario's path goes, by which tolerances are measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.contract.errors import InputError
from workbench.run.demand import Demand
from workbench.run.deviated import undeviated
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.start import start_state
from workbench.verification.run import error_unit
from workbench.verification.scales import scales

ON_PATH = 0.1  # share of a path's size: tracking error allowed by default on a plant without a tool
INSTANTS = 200  # instants of a path at which its tool is sought
FARTHEST = 10.0  # lengths of a machine (its shortest stroke) that a path by which tolerances are measured may have


def path_size(loop, scenario) -> float:
    """How far a path goes, by which tolerances are measured: at most FARTHEST lengths of the machine, where it states one.

    A path that no machine of this size can follow makes no tolerance larger. Where the tool's error is judged, it is how far
    the tool goes, in m, whatever the joints turn by.
    """
    own = scales(loop.plant).of_unit(error_unit(loop))
    of_tool = scenario is not None and loop.plant.has_tool and _moves_tool(scenario.reference)
    size = tool_span(loop, scenario) if of_tool else span(loop, scenario)
    return size if own is None else min(size, FARTHEST * own.value)


def _moves_tool(reference) -> bool:
    return reference is not None and reference.space != "output"


def tool_span(loop, scenario) -> float:
    """How far the tool goes from the middle of its path, of a path that holds one point from where it starts, m; 0 if unknown."""
    reference = undeviated(scenario.reference)
    if not isinstance(reference, Sine | Waypoints | Hold):
        return 0.0
    whole = reference.ramp + 1.0 / reference.frequency if isinstance(reference, Sine) else 0.0
    t = np.linspace(0.0, max(scenario.length(), whole), INSTANTS)
    x0 = start_state(loop, scenario)
    try:
        wanted = Demand(loop, scenario, x0).desired_tool(t)
        if isinstance(reference, Hold):
            begun = replace(scenario, reference=Hold(reference.space, "start"))
            at = Demand(loop, begun, x0).desired_tool(t[:1])
            return float(np.abs(wanted[0] - at[0]).max())
    except InputError:  # the run will say why
        return 0.0
    return 0.0 if wanted is None else 0.5 * float(np.ptp(wanted, axis=0).max())


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
