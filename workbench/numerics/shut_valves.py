"""Valves that are exactly shut, opened by a hair to one side, so that a loop can be linearised there."""

from __future__ import annotations

from workbench.contract.system import System, names

HAIR = 1e-7  # V: how far a shut valve is opened to choose its side


def opened_by_a_hair(system: System, x: list, given: dict, side: int) -> list[str]:
    """Opens, by a hair to one side, every servo valve that is exactly shut; the names of their commands.

    x and given are changed in place: the command, and the spool's state where the valve lags.
    """
    states = names(system.states)
    opened = []
    for valved in system.notched:
        if valved.command not in names(system.inputs):
            continue
        dead_band = valved.chambers.valve.dead_band
        place = states.index(valved.spool) if valved.spool else None
        opening = given.get(valved.command, 0.0) if place is None else x[place]
        if abs(opening) > dead_band:
            continue
        open_by = side * (dead_band + HAIR)
        given[valved.command] = open_by
        if place is not None:
            x[place] = open_by
        opened.append(valved.command)
    return opened
