"""A run of a mechanism by the augmented Lagrangian of `integrator`, without a controller."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from plants.multibody.mechanism import Mechanism
from plants.multibody.penalty.integrator import Penalty, consistent, stepper
from workbench.contract.errors import InputError
from workbench.contract.system import Signal, names
from workbench.numerics.calculus import trace
from workbench.numerics.mapped import Mapped
from workbench.run.columns import signals_of
from workbench.run.demand import Demand
from workbench.run.log import Log, Status
from workbench.run.provenance import provenance
from workbench.run.scenario import Scenario
from workbench.run.start import start_state

ITERATIONS = Signal("iterations", "1", "Newton iterations of the step that ended here")


def simulate(
    mechanism,
    scenario: Scenario | None = None,
    settings: Penalty | None = None,
    *,
    compiled: bool | None = None,
) -> Log:
    """Run a mechanism (no controller) through `scenario` by the augmented Lagrangian, in steps of `scenario.max_step`.

    Returns the Log of `workbench.run.simulate` (powers integrated by the trapezoidal rule) with the iterations of every step.
    Raises InputError for a mechanism in minimal coordinates.
    """
    scenario = scenario or Scenario()
    settings = settings or Penalty()
    if not isinstance(mechanism, Mechanism) or mechanism.method == "minimal":
        raise InputError(
            "method: the augmented Lagrangian works on a mechanism with all its coordinates",
            mend="give a Mechanism with method 'penalty' or 'projected'",
        )
    h = scenario.max_step
    n = round(scenario.length() / h)
    every = max(1, round((scenario.log_period or h) / h))
    demand = Demand(mechanism, scenario, start_state(mechanism, scenario))
    times = np.arange(n + 1) * h
    live = demand.at(times)
    U = np.zeros((n + 1, len(mechanism.inputs)))
    for i, name in enumerate(demand.live):
        U[:, names(mechanism.inputs).index(name)] = live[:, i]
    machine, constants = stepper(mechanism, compiled)
    rows, counts, made = machine.run(
        consistent(mechanism, start_state(mechanism, scenario), U[0]), U, h, settings, constants
    )
    return _log(mechanism, scenario, rows[:made], counts[:made], U, h, every)


@lru_cache(maxsize=16)
def _mapped(log, flow):
    return Mapped(log), Mapped(flow)


def _log(mechanism, scenario, rows, counts, U, h, every) -> Log:
    T = mechanism.tree
    ny = len(mechanism.drive_states)
    at = T.n_z + 2 * T.n_v
    x = np.hstack([rows[:, : T.n_z + T.n_v], rows[:, at : at + ny]])
    traced = trace(mechanism, names(mechanism.inputs))
    monitors, flow = _mapped(traced.log, traced.flow)
    c = traced.constants(mechanism)
    t = np.arange(len(x))[:, None] * h
    u = U[: len(x)]
    arguments = (t, x, u if u.shape[1] else np.zeros((len(x), 0)), c)
    shown = monitors(*arguments)
    powers = flow(*arguments)[:, traced.n_states :]
    work = np.vstack(
        [np.zeros(powers.shape[1]), np.cumsum((powers[1:] + powers[:-1]) * h / 2, axis=0)]
    )
    given = tuple(Signal(s.name, s.unit, "reference") for s in mechanism.inputs)
    values = np.hstack([x, work, shown, counts[:, None], u])[::every]
    done = len(x) == len(U)
    status = (
        Status(True, "completed", float(t[-1, 0]))
        if done
        else Status(
            False,
            f"no step from t = {t[-1, 0]:.6g} s: Newton's method does not converge",
            float(t[-1, 0]),
            "iterations",
        )
    )
    return Log(
        t[::every, 0],
        values,
        (*signals_of(mechanism), ITERATIONS, *given),
        provenance(mechanism, scenario),
        status,
    )
