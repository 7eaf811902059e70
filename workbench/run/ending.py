"""How a run ends: its log, cut where a state is no number, with how it ended and where it came from."""

from __future__ import annotations

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System, names
from workbench.run.attempt import Attempt
from workbench.run.columns import Columns
from workbench.run.demand import Demand
from workbench.run.fused import CHUNK
from workbench.run.log import Log, Status
from workbench.run.pace import Pace
from workbench.run.provenance import provenance
from workbench.run.room import release
from workbench.run.scenario import Scenario

# How to mend a law that gives no number.
BELIEF = "check the law's gains, and what it believes of the machine (controller: model)"


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
        of_plant = status.state in names(loop.plant.states)
        raise InputError(
            f"simulate: {status.state} is not finite at the start",
            mend="check the initial state" if of_plant else BELIEF,
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
