"""The signals that a sentence may name: those of the log, the time, and what is worked out of a run.

    time          s, from the start of the run
    tool_error    distance of the tool from where it should be; of a plant without a tool, of the outputs that follow a reference
    e_NAME        desired minus actual of a joint or output NAME that follows a reference; e_tcp_x, e_tcp_y, e_tcp_z of the tool
    p_lowest, p_highest    the least and the largest of all chamber pressures, Pa
    at_limit      share of the run for which the command most often at its limit has been there so far; `at LIMIT`: that of a limit
                  of the machine which it bears for a while
    overshoot     how far outputs go beyond all that their reference asks for, as a share of the way it asks for
    v             the accompanying function of a law that states one, J; a signal of the log that is called v goes before

Every one has a row a step of the integrator, whatever rows the scenario keeps for its reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.run.columns import Columns
from workbench.run.demand import Demand
from workbench.run.scenario import Scenario
from workbench.run.start import start_state
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.observed.overshoot import overshoot
from workbench.verification.observed.requirements import joint_errors
from workbench.verification.observed.shares import (
    AT_LIMIT,
    at_limit,
    at_machine_limit,
    command_limits,
    name_of,
)
from workbench.verification.run import Run, error_unit
from workbench.verification.temporal.windows import largest

AXES = ("x", "y", "z")


# What these names say of every loop.
MEANT = (
    "tool_error",
    "overshoot",
    AT_LIMIT,
    "p_lowest",
    "p_highest",
)


def table(loop: System, demand: Demand) -> dict[str, str]:
    """Signal → SI unit of everything that a sentence about this loop may name.

    Raises InputError where a signal of the loop has a name of MEANT: a sentence on it would not say what it seems to.
    """
    logged = {s.name: s.unit or "1" for s in Columns.of(loop, demand).signals}
    made = _worked_out(loop, demand, logged)
    taken = next((name for name in MEANT if name in made and name in logged), None)
    if taken is not None:
        raise InputError(
            f"{taken} is a signal of this loop, and what requirements call something else",
            key=taken,
            mend="give the signal another name",
        )
    return {"time": "s", **made, **logged}


def table_before(loop: System, scenario: Scenario) -> dict[str, str]:
    """The signals that a sentence may name, with their units, before there is a run."""
    return table(loop, Demand(loop, scenario, start_state(loop, scenario)))


def _worked_out(loop: System, demand: Demand, logged: dict[str, str]) -> dict[str, str]:
    found = {}
    if demand.reference is not None:
        found |= {"tool_error": error_unit(loop), "overshoot": "1"}
        known = {s.name: s.unit for s in (*loop.plant.states, *loop.plant.outputs)}
        followed = [name for name, order in demand.wanted if order == 0]
        joints = followed if _outputs(loop, demand) else list(loop.plant.joint_names)
        found |= {f"e_{n}": known.get(n, "1") or "1" for n in joints}
        if not _outputs(loop, demand) and "tcp_x" in logged:
            found |= {f"e_tcp_{axis}": "m" for axis in AXES}
    if loop.plant.pressure_names:
        found |= {"p_lowest": "Pa", "p_highest": "Pa"}
    if command_limits(loop):
        found[AT_LIMIT] = "1"
    found |= {name_of(limit): "1" for limit in loop.plant.machine_limits() if limit.bearable}
    if has_ledger(loop):
        found["v"] = "J"
    return found


def _outputs(loop: System, demand: Demand) -> bool:
    """Whether outputs follow the reference, rather than a tool."""
    reference = demand.reference
    return reference is not None and (reference.space == "output" or not loop.plant.has_tool)


def columns(run: Run, names: Sequence[str]) -> dict[str, np.ndarray | None]:
    """Values (N,) of signals at the steps of a run; None for one that this run does not have."""
    fine = run.fine
    made: dict[str, np.ndarray | None] = {}
    for name in names:
        made[name] = fine.log.array(name) if name in ("time", *fine.log.names) else _made(run, name)
    return made


def _made(run: Run, name: str) -> np.ndarray | None:
    fine = run.fine
    special: dict[str, Callable[[], np.ndarray | None]] = {
        "tool_error": lambda: fine.tool_error,
        "v": lambda: storage(run),
        AT_LIMIT: lambda: at_limit(fine),
        "overshoot": lambda: overshoot(fine),
        "p_lowest": lambda: np.min(_chambers(fine), axis=0),
        "p_highest": lambda: np.max(_chambers(fine), axis=0),
        **{f"e_tcp_{axis}": lambda i=i: _tool(fine, i) for i, axis in enumerate(AXES)},
    }
    if name in special:
        return special[name]()
    reached = at_machine_limit(fine, name)
    return joint_errors(fine).get(name.removeprefix("e_")) if reached is None else reached


def _tool(fine: Run, axis: int) -> np.ndarray | None:
    wanted = fine.demand.desired_tool(fine.log.time)
    return None if wanted is None else wanted[:, axis] - fine.log.array(f"tcp_{AXES[axis]}")


def _chambers(fine: Run) -> list[np.ndarray]:
    return [fine.log.array(name) for name in fine.loop.plant.pressure_names]


def storage(run: Run) -> np.ndarray | None:
    """v at every step: the largest that it had since the step before, where samples make it jump."""
    if not has_ledger(run.loop) or len(run.log.time) < 2:
        return None
    t, v = run.storage
    time = run.fine.log.time
    last = np.maximum(np.searchsorted(t, time, "right") - 1, 0)
    first = np.minimum(np.concatenate([[0], last[:-1] + 1]), last)
    return largest(np.asarray(v, float), first, last)
