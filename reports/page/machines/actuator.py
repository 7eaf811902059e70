"""Actuators alone: a cylinder on its mount, its load on a rail, seen from the side."""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.ieha.actuator import IEHA
from plants.linear_actuator import LinearActuator
from reports.page.machines.scene import Machine3, Posed, Ram, Solid
from workbench.run.log import Log

LEAST = 5e-3  # m to both sides, of an actuator whose stroke is not known
ROOM = 1.5  # such strokes are drawn that the largest travel is this part of them
LEFT = -3.0  # strokes to one side, where the cylinder is mounted


def actuator(plant: Any, log: Log) -> Machine3 | None:
    """An actuator that moves a load along one line; None for other plants."""
    if not isinstance(plant, IEHA | LinearActuator) or "Y" not in log:
        return None
    reach = float(plant.stop_Y.limit) if isinstance(plant, IEHA) else _travel(log)
    box = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
    load = box * (0.6 * reach, 0.5 * reach, 0.5 * reach)
    foot = box * (0.22 * reach, 0.5 * reach, 0.5 * reach)
    rail = box * (2.55 * reach, 0.06 * reach, 0.62 * reach)
    mount = np.array([LEFT * reach, 0.0, 0.0])
    under = np.array([-0.75 * reach, -0.57 * reach, 0.0])
    behind = mount - (0.2 * reach, 0.0, 0.0)
    still = np.eye(3)

    def at(q) -> Posed:
        carried = np.array([float(q[0]), 0.0, 0.0])
        near = carried - (0.6 * reach, 0.0, 0.0)
        frames = [(carried, still), (behind, still), (under, still)]
        return Posed(frames, [np.array([mount, near])], np.zeros((0, 3)), None)

    solids = [Solid("load", load, "block"), Solid("mount", foot, "block")]
    ram = Ram(plant.name, "cylinder", (-LEFT - 1.7) * reach, 0.62 * reach)
    drawn = [*solids, Solid("rail", rail, "block")]
    return Machine3(drawn, [ram], at, ["Y"], [0.0], view="side")


def _travel(log: Log) -> float:
    """A stroke that a run fits in, m."""
    Y = log.array("Y")
    seen = Y[np.isfinite(Y)]
    return max(LEAST, ROOM * float(np.abs(seen).max())) if seen.size else LEAST
