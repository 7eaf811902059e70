"""What a law was given in a run, and what it commanded, sample by sample: the exported law is held against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.interop.export.law_graph import LawGraph
from workbench.numerics.c_code import address
from workbench.numerics.calculus import trace
from workbench.run.demand import Demand
from workbench.run.fused import integrator
from workbench.run.log import Log
from workbench.run.scenario import Scenario
from workbench.run.simulate import simulate
from workbench.run.start import start_state


@dataclass(frozen=True)
class Replay:
    """Samples of a run: time t (n,), measured y, references r, memory z and commands u after each of them, one row a sample."""

    t: np.ndarray
    measured: np.ndarray
    references: np.ndarray
    memory: np.ndarray
    commands: np.ndarray

    def first(self, count: int) -> Replay:
        """The first samples alone."""
        return Replay(*(values[:count] for values in vars(self).values()))

    @property
    def inputs(self) -> np.ndarray:
        """(n, 1 + measured + references): what the law is given, in order."""
        return np.column_stack([self.t, self.measured, self.references])


def replay(loop: ClosedLoop, scenario: Scenario, graph: LawGraph) -> Replay:
    """The loop run through the scenario, as its law saw it.

    Raises InputError where the run does not come to its end.
    """
    every = replace(scenario, log_period=None)
    log = every_sample(loop, scenario)
    demand = Demand(loop, every, start_state(loop, every))
    given = demand.at(log.time)
    return Replay(
        log.time,
        _measured(loop, demand, log, given),
        _references(loop, graph, demand, given),
        np.column_stack([log[s.name] for s in graph.memory] or [np.empty((len(log), 0))]),
        np.column_stack([log[s.name] for s in graph.commands]),
    )


def every_sample(loop: ClosedLoop, scenario: Scenario) -> Log:
    """The run with a row a sample.

    Raises InputError where it does not come to its end.
    """
    log = simulate(loop, replace(scenario, log_period=None))
    if not log.status.completed:
        raise InputError(
            f"the run that is to be replayed ended early: {log.status.message}",
            key="scenario",
            mend="give a scenario that the loop completes",
        )
    return log


def _measured(loop: ClosedLoop, demand: Demand, log: Log, given: np.ndarray) -> np.ndarray:
    """y(t_k), worked out of the logged states by the compiled loop's own text; of a plant on floats as it was logged."""
    if loop.plant.on_floats:
        return np.column_stack([log[s.name] for s in loop.controller.measured])
    machine, constants = integrator(loop, trace(loop, demand.live), None)
    states = np.ascontiguousarray(np.column_stack([log[s.name] for s in loop.states]))
    outputs = np.array([_outputs(machine, *row, constants) for row in zip(log.time, states, given)])
    known = names(loop.plant.outputs)
    return outputs[:, [known.index(s.name) for s in loop.controller.measured]]


def _outputs(machine: Any, t: float, x: np.ndarray, w: np.ndarray, c: np.ndarray) -> np.ndarray:
    """All outputs of the plant at an instant."""
    out = machine.traced.out
    if machine.lib is None:
        return np.array(out(t, x, w, c[: out.size1_in(3)])).ravel()
    y = np.empty(out.size1_out(0))
    work = np.empty(machine.work)
    given = (np.ascontiguousarray(a) for a in (x, w, c))
    machine.lib.measure(float(t), *(address(a) for a in given), address(y), address(work))
    return y


def _references(loop: ClosedLoop, graph: LawGraph, demand: Demand, given: np.ndarray) -> np.ndarray:
    """Columns of the law's references; one that nothing provides stays at its default."""
    defaults = loop.defaults()
    columns = [
        given[:, demand.live.index(s.name)]
        if s.name in demand.live
        else np.full(len(given), float(defaults.get(s.name, 0.0)))
        for s in graph.references
    ]
    return np.column_stack(columns) if columns else np.empty((len(given), 0))
