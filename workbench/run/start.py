"""Where a run starts: the plant's start, or the scenario's, with its offsets."""

from __future__ import annotations

import numpy as np

from workbench.contract.capabilities import HasJointRange, Posed
from workbench.contract.errors import InputError
from workbench.contract.parameters import graph_key
from workbench.contract.remembered import remembered
from workbench.contract.system import System, names
from workbench.run.fitted import fitted
from workbench.run.scenario import Scenario


def start_state(loop: System, scenario: Scenario) -> np.ndarray:
    """Initial state of the scenario: the plant's start (or `start`, at rest) plus the offsets."""
    x0 = list(remembered(("initial", graph_key(loop)), loop, lambda: tuple(loop.initial())))
    plant = loop.plant
    if scenario.start is not None:
        _check_start(plant, scenario.start)
        if isinstance(plant, Posed):
            plant.check_pose(scenario.start, "scenario.start")
            x0[: len(plant.states)] = plant.rest(scenario.start)
        else:
            whole = names(plant.states)
            joints = list(plant.position_names)
            given = joints if len(scenario.start) == len(joints) else whole
            for name, value in zip(given, scenario.start):
                x0[whole.index(name)] = value
    known = names(loop.states)
    for name, amount in scenario.offset.items():
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 3)
            raise InputError(
                f"offset: there is no state {name!r}",
                mend=f"did you mean {' or '.join(near)}?"
                if near
                else f"choose from {', '.join(known)}",
            )
        x0[known.index(name)] += amount
    _check_moved(plant, scenario, x0)
    return np.array(fitted(loop, x0) if scenario.offset else x0, dtype=float)


def _check_start(plant: System, start: tuple) -> None:
    """InputError for a start that has not one number a joint, or more numbers than there are states."""
    joints = list(plant.joint_names) if isinstance(plant, HasJointRange) else []
    states = names(plant.states)
    if joints and len(start) != len(joints):
        raise InputError(
            f"start: expected {len(joints)} joint positions ({', '.join(joints)}), got {len(start)}",
            key="scenario.start",
            mend="give one a joint",
        )
    if len(start) > len(states):
        raise InputError(
            f"start: {len(start)} numbers, and there are {len(states)} states",
            key="scenario.start",
            mend=f"give the leading ones of {', '.join(states[:12])}",
        )


def _check_moved(plant: System, scenario: Scenario, x0: list) -> None:
    """InputError for an offset that puts a joint where the machine cannot stand."""
    if not scenario.offset or not isinstance(plant, HasJointRange):
        return
    joints = names(plant.states)[: plant.n]
    moved = [name for name in scenario.offset if name in joints]
    if not moved:
        return
    try:
        plant.check_pose([float(q) for q in x0[: plant.n]], "the start with its offset")
    except ValueError as reason:
        raise InputError(
            str(reason), key="scenario.offset", mend="give a smaller offset, or start elsewhere"
        ) from None
