"""What a plant, or a loop, was given in its verified run and where it was: the exported code is held against it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.interop.export.law_graph import law_graph
from workbench.interop.export.replay import every_sample
from workbench.interop.export.system_graph import SystemGraph
from workbench.numerics.adaptive import adaptive, fixed
from workbench.numerics.calculus import trace
from workbench.run.demand import Demand
from workbench.run.grid import Grid
from workbench.run.log import Log
from workbench.run.scenario import Scenario
from workbench.run.start import start_state

ALONE = "export --part controller, or give a plant whose equations are written in its text"


@dataclass(frozen=True)
class SystemRun:
    """Samples of a run: time t (n,), inputs (n, w), states of the plant before each sample (n, x).

    stages: inputs (n, s, w) at the instants within a sample that its steps need; None where inputs are held.
    """

    t: np.ndarray
    inputs: np.ndarray
    stages: np.ndarray | None
    states: np.ndarray

    def first(self, count: int) -> SystemRun:
        """The first samples alone."""
        stages = None if self.stages is None else self.stages[:count]
        return SystemRun(self.t[:count], self.inputs[:count], stages, self.states[:count])

    @property
    def rows(self) -> np.ndarray:
        """One row a sample: t, inputs, inputs at the stages, states."""
        within = [] if self.stages is None else [self.stages.reshape(len(self.t), -1)]
        return np.column_stack([self.t, self.inputs, *within, self.states])


def system_graph(loop: ClosedLoop, scenario: Scenario, part: str) -> tuple[SystemGraph, SystemRun]:
    """The plant, or the loop, with its run through the scenario; part: "plant" or "loop".

    Raises InputError for what has no equations, no steps of this package or no samples, and for a run that ends early.
    """
    check_part(loop, part)
    log = every_sample(loop, scenario)
    pace = log.provenance["pace"]
    g = Grid(**log.provenance["grid"])
    demand = Demand(loop, scenario, start_state(loop, scenario))
    system = loop if part == "loop" else loop.plant
    start = demand.start[: len(system.states)]
    traced = trace(system, names(system.inputs))
    pushed = any(demand.kinds[name] == "disturbance" for name in demand.live)
    stiff = bool(pace["implicit"] or fixed(loop) or adaptive(loop))
    graph = SystemGraph(
        part=part,
        system=system,
        traced=traced,
        grid=g,
        start=start,
        driven=pushed,
        stiff=stiff,
        tolerance=pace["tolerance"],
    )
    return graph, _run(graph, demand, log)


def check_part(loop: ClosedLoop, part: str) -> None:
    """InputError for a plant, or a loop, that has no C of its own."""
    plant = loop.plant
    who = type(plant).__name__
    if part == "loop":
        law_graph(loop.controller)
    if plant.on_floats:
        raise InputError(
            f"{who} is called from Python and has no equations to export", key="plant", mend=ALONE
        )
    if plant.integrator is not None:
        raise InputError(
            f"{who} brings an integrator of its own, which has no C here", key="plant", mend=ALONE
        )
    if loop.period is None:
        raise InputError(
            f"the {part} has no samples, from one to the next of which it is exported",
            key="loop.sample_time",
            mend="give loop: {sample_time: 1 ms}",
        )
    if part == "plant" and loop.lag:
        raise InputError(
            f"commands change {loop.lag:g} s after a sample, and the exported plant holds them over whole samples",
            key="loop.delay",
            mend="export --part loop, or leave the delay out",
        )


def _run(graph: SystemGraph, demand: Demand, log: Log) -> SystemRun:
    """Inputs and states at every sample."""
    g = graph.grid
    given = demand.at(log.time)
    stages = None
    if graph.driven:
        times = g.stages(0, len(log), graph.method.offsets)
        within = demand.at(times.ravel(), noise=False).reshape(*times.shape, -1).copy()
        held = [i for i, name in enumerate(demand.live) if demand.kinds[name] != "disturbance"]
        within[:, :, held] = given[:, None, held]
        stages = _columns(graph, demand, log, within)
    states = np.column_stack([log[s.name] for s in graph.states[: graph.moving]])
    return SystemRun(log.time, _columns(graph, demand, log, given), stages, states)


def _columns(graph: SystemGraph, demand: Demand, log: Log, given: np.ndarray) -> np.ndarray:
    """All inputs of the graph out of the live ones (…, live): commands from the log, others at their defaults."""
    commanded = names(demand.loop.controller.commands) if graph.part == "plant" else []
    found = np.empty((*given.shape[:-1], len(graph.inputs)))
    for i, (signal, default) in enumerate(zip(graph.inputs, graph.defaults)):
        if signal.name in demand.live:
            found[..., i] = given[..., demand.live.index(signal.name)]
        elif signal.name in commanded:
            values = np.asarray(log[signal.name])
            found[..., i] = values.reshape(-1, *[1] * (given.ndim - 2))
        else:
            found[..., i] = default
    return found
