"""Paths of a file that gives none: the paper's, and that of a machine of one's own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.run.reference import Waypoints
from workbench.run.scenario import Scenario

# The paper's path, for the shipped crane: a square around (3, 1) m at 5 s a leg.
DEMO = Waypoints(
    "cartesian", ("start", (2.5, 1.0), (3.0, 1.5), (3.5, 1.0), (3.0, 0.5), (2.5, 1.0), "start"), 5.0
)
# s: of a machine's own path, each leg, between two, and at its end.
LEG = 5.0
DWELL = 1.0
REST = 4.0
SHARE = 0.7  # share of what pump and valves give, that a path asks for which had to be slowed down
LOOKED_AT = 601  # instants of such a path


def to_both_sides(plant: Any) -> Scenario:
    """From the start to the machine's own points on both sides of it and back, at rest between them and for a while at the end.

    A leg takes LEG seconds. Where that asks for more than its pump and valves give, it takes as many as ask for SHARE of that.
    """
    path = Waypoints("joint", ("start", *plant.demo_path, "start"), LEG, DWELL)
    leg = _bearable_leg(plant, path)
    duration = (len(plant.demo_path) + 1) * (leg + DWELL) + REST
    return Scenario(duration, replace(path, leg=leg))


def _bearable_leg(plant: Any, path: Waypoints) -> float:
    """Time of a leg, s: LEG, or so many half seconds that pump and valves can walk the path."""
    walked = path.resolve(tuple(float(v) for v in plant.initial()[: plant.n]))
    t = np.linspace(0.0, walked.duration, LOOKED_AT)
    share = plant.effort(t, walked.sample(t, 0)[0].T)
    if share <= 1.0:
        return LEG
    return 0.5 * math.ceil(2.0 * LEG * share / SHARE)
