"""Machines as they are drawn in space, one kind of plant a file; `scene.Machine3` says what a machine is.

To add a kind: a file with a function of a plant and the log of its run that returns a `Machine3`, or None where it is not of
this kind; its name in `KINDS`, in front of more general ones.
"""

from __future__ import annotations

from typing import Any

from reports.page.machines.actuator import actuator
from reports.page.machines.crane import crane
from reports.page.machines.flat import flat
from reports.page.machines.mechanism import mechanism
from reports.page.machines.scene import Machine3
from workbench.run.log import Log

KINDS = (crane, mechanism, actuator, flat)


def machine3(plant: Any, log: Log) -> Machine3 | None:
    """How `plant` is drawn in space; None for a plant that looks like nothing."""
    found = (kind(plant, log) for kind in KINDS)
    return next((drawn for drawn in found if drawn is not None), None)
