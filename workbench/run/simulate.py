"""(system, scenario) → Log. Integrators, sampling and events live here and in driver.c only.

A loop whose controller is an expression runs fused: plant, controller, hold and integrator are one compiled loop. A `Plain`
controller is called from Python at every sample, around the compiled plant. Both give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass

import numpy as np

from workbench.contract.capabilities import HasJointRange, Posed
from workbench.contract.checks import check_plant
from workbench.contract.errors import InputError
from workbench.contract.parameters import digest, graph_key, leaves
from workbench.contract.reach import steady
from workbench.contract.remembered import remembered
from workbench.contract.system import System, names
from workbench.run.columns import Columns
from workbench.run.dead_ends import stopped
from workbench.run.demand import Demand
from workbench.run.fitted import fitted
from workbench.run.fused import CHUNK, Fused
from workbench.run.grid import Grid, Rows, as_asked, at_samples
from workbench.run.log import Log, Status
from workbench.run.pace import Attempt, Pace
from workbench.run.plain_data import SIMPLE
from workbench.run.room import release
from workbench.run.scenario import Scenario

MOST_HALVINGS = 6  # of the steps of a run whose accuracy is asked for


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


def simulate(
    loop: System,
    scenario: Scenario | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    compiled: bool | None = None,
    rows: Rows = "asked",
    demand: Demand | None = None,
) -> Log:
    """Run `loop` through `scenario`.

    progress: called with the fraction done, about every 4000 samples. compiled=False forces CasADi's virtual machine.
    rows: "asked" logs as the scenario's `log_period` asks; "steps" logs every sample, and every step of the integrator where
    a sample is longer than `max_step`. Equal steps are the same; adaptive ones end on these rows, too.
    demand: what the scenario demands of the loop, where the caller has it already.
    Returns the Log: states, power integrals ("E_…"), monitors at every logged sample, after the jump of that instant. A run
    that diverges, or comes to a dead end of the plant, ends there and says so in `log.status`.
    Raises InputError for references out of reach, signals that do not exist, and a system of the user's that is not what
    `workbench.contract.system` asks for.
    """
    plant = loop.plant
    if not plant.dead_ends:
        return _simulated(loop, scenario, progress, compiled, rows, demand)
    log = stopped(plant, _simulated(loop, scenario, progress, compiled, "steps", demand))
    return log if rows == "steps" else as_asked(at_samples(log), loop, scenario or Scenario())


def _simulated(loop, scenario, progress, compiled, rows, demand) -> Log:
    scenario = scenario or Scenario()
    with steady():
        check_plant(loop)
        demand = demand or Demand(loop, scenario, start_state(loop, scenario))
        if scenario.accuracy is None and not loop.hosted:  # a hosted law may do anything meanwhile
            return _once(loop, scenario, demand, rows, compiled, progress)
    if scenario.accuracy is None:
        return _once(loop, scenario, demand, rows, compiled, progress)
    whole = _accurate(loop, scenario, demand, compiled, progress)
    return whole if rows == "steps" else as_asked(at_samples(whole), loop, scenario)


def _once(loop, scenario, demand, rows: Rows, compiled, progress, halvings: int = 0) -> Log:
    """The run with its steps halved so many times."""
    if loop.hosted:
        from workbench.run.hosted import simulate_hosted

        return simulate_hosted(loop, scenario, progress, compiled, rows, demand, halvings=halvings)
    ready = Fused(loop, scenario, demand, demand.start, rows, compiled, progress, halvings)
    return finish(loop, scenario, demand, ready.inputs, *ready.run(), ready.columns)


def _accurate(loop, scenario, demand, compiled, progress) -> Log:
    """The run whose own error is what the scenario asks for, or the best of those tried."""
    from workbench.run.own_error import errors_of, share_of

    halvings = 0
    while True:
        whole = _once(loop, scenario, demand, "steps", compiled, progress, halvings)
        log = at_samples(whole)
        errors = errors_of(loop, scenario, log, demand)
        share, _ = share_of(log, errors, names(loop.states))
        if not errors or share <= scenario.accuracy or halvings >= MOST_HALVINGS:
            return whole
        halvings = min(
            MOST_HALVINGS, halvings + max(1, math.ceil(math.log2(share / scenario.accuracy) / 4))
        )


def finish(
    loop: System,
    scenario: Scenario,
    demand: Demand,
    inputs: np.ndarray,
    run: Attempt,
    pace: Pace,
    sure: bool,
    columns: Columns | None = None,
) -> Log:
    """The log of a run, whose result is (grid, table of its `Columns`, last state); `sure`: its integrator followed it."""
    g, rows, state = run.result
    rows = rows if g.every else rows[: _finite_rows(rows, len(loop.states))]
    time = g.times(len(rows))
    columns = columns or Columns.of(loop, demand)
    columns.give(rows, inputs[:: g.every][: len(rows)] if g.every else demand.at(time, noise=False))
    status = ended(loop, run, state, sure)
    if not len(rows):
        raise InputError(
            f"simulate: {status.state} is not finite at the start", mend="check the initial state"
        )
    return Log(
        time,
        rows,
        columns.signals,
        provenance(loop, scenario, g, pace),
        status,
    )


def ended(loop: System, run: Attempt, state: np.ndarray, sure: bool) -> Status:
    """How a run ended."""
    if run.completed:
        return Status(True, "completed", float((run.n - 1) * run.T))
    bad = np.flatnonzero(~np.isfinite(state[: len(loop.states)]))
    name = loop.states[int(bad[0])].name if len(bad) else ""
    t = float(run.done * run.T)
    what = f"{name} is not finite at t = {t:.6g} s"
    if sure:
        return Status(False, f"diverged: {what}", t, name)
    return Status(
        False,
        f"the integrator does not follow this loop: {what}, and with shorter steps at another time: "
        "give a shorter max_step",
        t,
        name,
        followed=False,
    )


def _finite_rows(rows: np.ndarray, n: int) -> int:
    """Rows before the first in which one of the n states is not finite."""
    for first in range(0, len(rows), CHUNK):
        bad = np.flatnonzero(~np.isfinite(rows[first : first + CHUNK, :n]).all(axis=1))
        if len(bad):
            return first + int(bad[0])
        release(rows)
    return len(rows)


def provenance(
    loop: System, scenario: Scenario, g: Grid | None = None, pace: Pace | None = None
) -> dict:
    """What is needed to run this again: scenario, parameters and their hash, versions, seed."""
    import platform

    import casadi

    import workbench

    return {
        "scenario": described(scenario),
        "parameters": {leaf.path: float(leaf.value) for leaf in leaves(loop)},
        "parameter_hash": digest(loop),
        "seed": scenario.seed,
        "grid": dict(vars(g)) if g else {},
        "pace": pace.told() if pace else {},
        "versions": {
            "fluidproof": workbench.__version__,
            "numpy": np.__version__,
            "casadi": casadi.__version__,
            "python": platform.python_version(),
        },
    }


def described(value):
    """Plain data for any frozen value (dataclass, mapping, tuple, number, text)."""
    if type(value) in SIMPLE:
        return value
    if is_dataclass(value):
        return {"type": type(value).__name__} | {
            k: described(v) for k, v in vars(value).items() if not k.startswith("_")
        }
    if isinstance(value, Mapping):
        return {k: described(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(v) for v in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, (int, float, str)) else repr(value)
