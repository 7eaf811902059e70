"""Whether time itself changes, after a run, what the loop does: gains that fade, a mode that is switched on by the clock.

A run shows what a loop does until its end. What depends on time beyond its references and disturbances may be another loop later:

    g(t) = (f(t, x), f(t, x + δ) − f(t, x))      x, w and r held at what they were at an instant of the run

is evaluated at many instants within the run, and at many after it, up to a day and to a thousand times its length; behind every
instant, too, at which a comparison with time changes its side (`crossings`). Where a value leaves the range that it had within the
run, nothing that the run showed is said of then: undecided. What repeats (a sine in the law, a pump seen piston by piston) stays in
its range, and so does what ends within the run (a soft start). f is the flow and the jump of a traced loop, the flow and the
outputs of a plant beside a law called from Python, and the step of such a law (`clock`). A plant that has no flow, an FMU by
co-simulation, is run on (`run_on`).

A number that a law counts up sample by sample, whatever it measures, is a clock as well, and is set on together with time. So are
numbers of its memory that run on at the end of its run (`traced_memory`, `clock`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import casadi as ca
import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.calculus import Traced, trace
from workbench.verification.practical.later.clock import of_called
from workbench.verification.practical.later.crossings import crossings
from workbench.verification.practical.later.run_on import of_run_on, seen_until
from workbench.verification.practical.later.stray import moved, straight, stray
from workbench.verification.practical.later.traced_memory import of_memory
from workbench.verification.practical.switches.graph import of_time
from workbench.verification.run import Run
from workbench.verification.verdict import STABILITY, Assumption, Verdict

# Instants of the run at which everything else is held, shares of its length.
ROWS = (0.05, 0.5, 1.0)
MEND = "run it for as long as that, or keep time and counters out of law and plant"


def timed(run: Run) -> str:
    """When, and of what, the loop does something that it did at no time of the run, in words; "" where nothing was found."""
    if "timed" not in run.kept:
        run.kept["timed"] = _timed(run)
    return run.kept["timed"]


def _timed(run: Run) -> str:
    if not run.log.status.completed or len(run.log.time) < 2:
        return ""
    if not run.loop.hosted:
        return of_traced(run) or of_memory(run)
    return of_plant(run) or of_called(run)


def of_traced(run: Run) -> str:
    """Of a loop that is an expression: its flow and its jumps. One that knows no time, and has no clock, costs nothing."""
    loop = run.loop
    traced = trace(loop, run.demand.live)
    maps = [traced.flow] if loop.period is None else [traced.flow, traced.jump]
    clocks = _clocks(run, maps[-1])
    if not clocks and not _knows_time(*maps):
        return ""
    margins = of_time(traced, maps, list(clocks))
    asked = (_Traced(run, traced, maps, clocks, margins, row) for row in _rows(run))
    return _first(run, asked, names(loop.states))


def _knows_time(*maps: ca.Function) -> bool:
    """Whether time has a part in what any of these functions of (t, …) says."""
    return any(f.jac_sparsity(0, 0).nnz() for f in maps)


class _Asked(Protocol):
    """What is asked at any time, everything else held, and the margins of its comparisons with time."""

    def __call__(self, t: float) -> np.ndarray: ...

    def margins(self, times: np.ndarray) -> np.ndarray: ...


def _first(run: Run, asked: Iterable[_Asked], what: Sequence[str]) -> str:
    """What `stray` says of the first of these that leaves its range."""
    length = run.scenario.length()
    found = (stray(one, length, what, also=crossings(one.margins, length)) for one in asked)
    return next(filter(None, found), "")


class _Traced:
    """g(t) of a loop that is an expression, everything else as in this row."""

    def __init__(
        self,
        run: Run,
        traced: Traced,
        maps: Sequence,
        clocks: Mapping,
        margins: ca.Function | None,
        row: int,
    ):
        self.maps, self.clocks, self.compared = maps, clocks, margins
        self.n = len(run.loop.states)
        self.x = np.array([run.log.array(s.name)[row] for s in run.loop.states])
        self.w = run.demand.at(run.log.time[[row]])[0]
        self.off = moved(run)
        self.constants = traced.constants(run.loop)

    def __call__(self, t: float) -> np.ndarray:
        here = self._at(t, self.x.copy())
        return np.concatenate([here, self._at(t, self.x + self.off) - here])

    def margins(self, times: np.ndarray) -> np.ndarray:
        """Margins of the comparisons that know the time, (k, N), at N times."""
        if self.compared is None:
            return np.zeros((0, len(times)))
        x = np.repeat(self.x[:, None], len(times), axis=1)
        for i, (begin, rate) in self.clocks.items():
            x[i] = begin + rate * times
        return np.array(self.compared(times[None, :], x, self.w, self.constants))

    def _at(self, t: float, x: np.ndarray) -> np.ndarray:
        for i, (begin, rate) in self.clocks.items():
            x[i] = begin + rate * t
        found = [np.array(f(t, x, self.w, self.constants)).ravel()[: self.n] for f in self.maps]
        kept = np.array(found)
        kept[:, list(self.clocks)] = 0.0
        return kept.ravel()


def _clocks(run: Run, step) -> dict[int, tuple[float, float]]:
    """States of the law that run on whatever is measured: place → (value at t = 0, rate in 1/s)."""
    first = len(run.loop.plant.states)
    on_states = np.array(step.jac_sparsity(0, 1)) != 0
    on_inputs = np.array(step.jac_sparsity(0, 2)) != 0
    found = {}
    for i, signal in enumerate(run.loop.controller.states, first):
        others = np.delete(on_states[i], i)
        if not others.any() and not on_inputs[i].any():
            line = straight(run.log.time, run.log.array(signal.name))
            found |= {i: line} if line else {}
    return found


def of_plant(run: Run) -> str:
    """Of a plant beside a law called from Python: its flow and what is measured of it, where it has a flow.

    One that is an expression and knows no time costs nothing.
    """
    plant = run.loop.plant
    what = [*names(plant.states), *names(plant.outputs)]
    try:
        traced = None if plant.on_floats else trace(plant, names(plant.inputs))
        if traced is not None and not _knows_time(traced.flow, traced.out):
            return ""
        return _first(run, (_Plant(run, traced, row) for row in _rows(run)), what)
    except InputError:  # no flow that could be asked
        return of_run_on(run)


class _Plant:
    """g(t) of the plant, its commands as in this row."""

    def __init__(self, run: Run, traced: Traced | None, row: int):
        self.plant = run.loop.plant
        self.x = np.array([run.log.array(s.name)[row] for s in self.plant.states])
        self.u = inputs_at(run, row)
        self.off = moved(run)[: len(self.x)]
        self.traced = traced
        self.compared = None if traced is None else of_time(traced, [traced.flow], [])

    def __call__(self, t: float) -> np.ndarray:
        here = self._at(t, self.x)
        return np.concatenate([here, self._at(t, self.x + self.off) - here])

    def margins(self, times: np.ndarray) -> np.ndarray:
        """Margins of the comparisons that know the time, (k, N), at N times."""
        if self.traced is None or self.compared is None:
            return np.zeros((0, len(times)))
        constants = self.traced.constants(self.plant)
        return np.array(self.compared(times[None, :], self.x, self.u, constants))

    def _at(self, t: float, x: np.ndarray) -> np.ndarray:
        flow = self.plant.rhs(t, x.tolist(), self.u)
        return np.array([*flow, *self.plant.out(t, x.tolist())], float)


def inputs_at(run: Run, row: int) -> list[float]:
    """Every input of the plant at a row of a run whose law is called from Python; what no law commands is at its default."""
    plant = run.loop.plant
    commanded = {c: float(run.log.array(c)[row]) for c in names(run.loop.controller.commands)}
    given = {**plant.defaults(), **commanded}
    return [float(given.get(s.name, 0.0)) for s in plant.inputs]


def _rows(run: Run) -> Iterable[int]:
    """Rows of the log at which everything but time is held."""
    last = len(run.log.time) - 1
    return dict.fromkeys(round(share * last) for share in ROWS)


def beyond_the_run(run: Run, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts; what holds about stability is undecided where time itself changes, after the run, what the loop does."""
    if not any(_speaks(v) for v in verdicts):
        return list(verdicts)
    found = timed(run)
    if not found:
        until = seen_until(run)
        return [_with(v, until) if _speaks(v) else v for v in verdicts]
    why = f"time itself may change the loop: {found}; {MEND}"
    return [v.overruled(why) if _speaks(v) else v for v in verdicts]


def _with(v: Verdict, more: tuple[Assumption, ...]) -> Verdict:
    return replace(v, assumptions=(*v.assumptions, *more))


def _speaks(v: Verdict) -> bool:
    return v.counted and v.holds is True and v.key in STABILITY
