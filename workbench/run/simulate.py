"""(system, scenario) → Log. Integrators, sampling and events live here and in driver.c only.

A loop whose controller is an expression runs fused: plant, controller, hold and integrator are one compiled loop. A `Plain`
controller is called from Python at every sample, around the compiled plant. Both give the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from workbench.contract.checks import check_plant
from workbench.contract.reach import steady
from workbench.contract.system import System, check_system, names
from workbench.run.dead_ends import stopped
from workbench.run.demand import Demand
from workbench.run.ending import finish
from workbench.run.fused import Fused
from workbench.run.grid import Rows, as_asked, at_samples
from workbench.run.hosted import simulate_hosted
from workbench.run.log import Log
from workbench.run.own_error import errors_of, share_of
from workbench.run.scenario import Scenario, stated
from workbench.run.start import start_state

MOST_HALVINGS = 6  # of the steps of a run whose accuracy is asked for


def simulate(
    loop: System,
    scenario: Scenario | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    compiled: bool | None = None,
    rows: Rows = "asked",
    demand: Demand | None = None,
    watched: bool = True,
) -> Log:
    """Run a loop, or a plant alone, through a scenario.

    scenario  left out, one that states nothing but what the plant itself has
    progress  called with the fraction done, about every 4000 samples
    compiled  False forces CasADi's virtual machine
    rows      "asked" logs as the scenario's `log_period` asks; "steps" logs every sample, and every step of the integrator where
              a sample is longer than `max_step`. An integrator of equal steps makes the same run either way; one that chooses
              its steps also ends a step on every row
    demand    references, disturbances and noise of the scenario as arrays, where the caller has worked them out already
    watched   False leaves out what only the log would need of a law called from Python, such as the residual of an optimum;
              these signals are then NaN

        log = fp.simulate(loop, fp.Scenario(reference=path))
        print(log.status, log["q_1"][-1])

    Returns the Log: states, power integrals ("E_…") and monitors at every logged sample, after the jump of that instant. A run
    that diverges, or reaches a place where the plant's equations end, stops there and says so in `log.status`.

    Raises InputError for what is no loop, plant or scenario, for references out of reach, signals that do not exist, and a
    user's own system that breaks the contract of `workbench.contract.system`.
    """
    check_system(loop)
    scenario = stated(scenario)
    plant = loop.plant
    if not plant.dead_ends:
        return _simulated(loop, scenario, progress, compiled, rows, demand, watched)
    whole = _simulated(loop, scenario, progress, compiled, "steps", demand, watched)
    log = stopped(plant, whole)
    return log if rows == "steps" else as_asked(at_samples(log), loop, scenario)


def _simulated(loop, scenario, progress, compiled, rows, demand, watched: bool) -> Log:
    with steady():
        check_plant(loop)
        demand = demand or Demand(loop, scenario, start_state(loop, scenario))
        if scenario.accuracy is None and not loop.hosted:  # a hosted law may do anything meanwhile
            return _once(loop, scenario, demand, rows, compiled, progress)
    if scenario.accuracy is None:
        return _once(loop, scenario, demand, rows, compiled, progress, watched=watched)
    whole = _accurate(loop, scenario, demand, compiled, progress)
    return whole if rows == "steps" else as_asked(at_samples(whole), loop, scenario)


def _once(
    loop,
    scenario,
    demand,
    rows: Rows,
    compiled,
    progress,
    halvings: int = 0,
    watched: bool = True,
) -> Log:
    """The run with its steps halved so many times."""
    if loop.hosted:
        return simulate_hosted(
            loop,
            scenario,
            progress,
            compiled,
            rows,
            demand,
            halvings=halvings,
            watched=watched,
        )
    ready = Fused(
        loop=loop,
        scenario=scenario,
        demand=demand,
        x0=demand.start,
        rows=rows,
        compiled=compiled,
        progress=progress,
        halvings=halvings,
    )
    return finish(loop, scenario, demand, ready.inputs, *ready.run(), ready.columns)


def _accurate(loop, scenario, demand, compiled, progress) -> Log:
    """The run whose own error is what the scenario asks for, or the best of those tried."""
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
