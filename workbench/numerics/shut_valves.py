"""Valves that are exactly shut, opened by a hair to one side, so that a loop can be linearised there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.contract.system import System, names

if TYPE_CHECKING:
    pass

HAIR = 1e-7  # V: how far a shut valve is opened to choose its side


def opened_by_a_hair(system: System, x: list, given: dict, side: int) -> list[str]:
    """Opens, by a hair to one side, every servo valve that is exactly shut; the names of their commands.

    x and given are changed in place: the command, and the spool's state where the valve lags.
    """
    states = names(system.states)
    opened = []
    valves = [(label, c.valve) for label, c in zip(system.labels, system.cylinders)]
    for label, valve in valves:
        command = f"u_{label}"
        spool = f"u_s_{label}"
        if command not in names(system.inputs):
            continue
        opening = x[states.index(spool)] if spool in states else given.get(command, 0.0)
        if abs(opening) > valve.dead_band:
            continue
        open_by = side * (valve.dead_band + HAIR)
        given[command] = open_by
        if spool in states:
            x[states.index(spool)] = open_by
        opened.append(command)
    return opened
