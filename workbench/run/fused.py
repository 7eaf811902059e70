"""A loop whose controller is an expression, ready to run at any pace: plant, controller, hold and integrator compiled as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from workbench.contract.reach import steady
from workbench.contract.system import System
from workbench.numerics import native, stiff
from workbench.numerics.adaptive import adaptive, fixed
from workbench.numerics.calculus import Traced, trace
from workbench.numerics.on_floats import FloatLoop, Text, refuse_implicit
from workbench.run.attempt import Attempt, confirmed, followed
from workbench.run.columns import Columns
from workbench.run.dead_ends import samples_inside
from workbench.run.demand import Demand
from workbench.run.grid import Grid, Rows, grid, logging
from workbench.run.pace import Pace, at_first, modes, modes_at
from workbench.run.scenario import Scenario

CHUNK = 4000  # samples between looks at the keyboard and the progress bar

AS_IT_IS = Pace()

_loops: dict = {}
_columns: dict = {}


def compiled_loop(traced, compiled: bool | None, monitored: bool = False) -> native.Loop:
    """The native.Loop of a trace, built once."""
    key = (id(traced), compiled, monitored)
    if key not in _loops:
        _loops[key] = (traced, native.Loop(traced, compiled, monitored))
    return _loops[key][1]


def text_of(system: System, live: Sequence[str]) -> Traced | Text:
    """The functions of a system as CasADi graphs; as Python on floats, where the plant has no graph."""
    return _text(system, tuple(live)) if system.plant.on_floats else trace(system, live)


_text = lru_cache(maxsize=64)(Text)


def own_integrator(system: System):
    """The integrator a plant brings with it; None for those of this package."""
    return system.plant.integrator


def integrator(
    system: System, traced, compiled: bool | None, pace: Pace = AS_IT_IS, monitored: bool = False
):
    """The compiled integrator of `system`, and its constants: the plant's own, the one for stiff flows where the plant or its
    pace asks for it, or the explicit one. monitored: see `native.Loop`; for calls of a sample each."""
    own = own_integrator(system)
    if own is not None:
        return own(system, traced, compiled)
    if isinstance(traced, Text):
        if pace.implicit:
            refuse_implicit(pace.why)
        made = system.plant.stepper
        own = FloatLoop(traced) if made is None else made(system, traced)
        return own, traced.constants(system)
    if pace.implicit or fixed(system) or adaptive(system):
        return stiff.stiff_loop(system, traced, compiled, pace.tolerance)
    return compiled_loop(traced, compiled, monitored), np.ascontiguousarray(
        traced.constants(system)
    )


def longest_of(system: System, scenario: Scenario) -> float:
    """Longest step of a run, s, where no pace of its own shortens it."""
    return min(scenario.max_step, fixed(system).step) if fixed(system) else scenario.max_step


def at_its_pace(
    system: System,
    scenario: Scenario,
    begin: Callable[[], Pace],
    run: Callable[[Pace], Attempt],
    at: Pace | None = None,
    halvings: int = 0,
) -> tuple[Attempt, Pace, bool]:
    """(run, its pace, whether the integrator followed it); `begin` gives the pace that suits the start.

    A plant with steps of its own keeps them: adaptive ones find theirs, equal ones are shortened where the run diverges.
    at: the pace, where it is known. halvings: how often the steps that would otherwise be taken are halved.
    """
    most = longest_of(system, scenario)
    if at is not None:
        return run(at), at, True

    def attempt(pace: Pace) -> Attempt:
        return run(pace.finer(most, halvings))

    if own_integrator(system) is not None or adaptive(system):
        return attempt(AS_IT_IS), AS_IT_IS.finer(most, halvings), True
    if fixed(system):
        made = attempt(AS_IT_IS)
        found = (
            (made, AS_IT_IS, True) if made.completed else confirmed(attempt, made, AS_IT_IS, most)
        )
    else:
        found = followed(attempt, begin(), most)
    made, pace, sure = found
    return made, pace.finer(most, halvings), sure


@dataclass(eq=False)
class Fused:
    """`at_pace` runs the loop; `advance` is its inner part, from any sample on."""

    loop: System
    scenario: Scenario
    demand: Demand
    x0: np.ndarray
    rows: Rows = "asked"
    compiled: bool | None = None
    progress: Callable[[float], None] | None = None
    halvings: int = 0

    def __post_init__(self):
        with steady():
            self.traced = text_of(self.loop, self.demand.live)
            times = self.grid.samples
            self.demand.check(times)
            self.inputs = self.demand.at(times)
        self.constants = np.ascontiguousarray(self.traced.constants(self.loop))

    @cached_property
    def grid(self) -> Grid:
        """Samples and steps at no other pace than the scenario's own."""
        return grid(self.loop, self.scenario)

    @property
    def columns(self) -> Columns:
        """Columns of the log: those of every run of this trace."""
        key = id(self.traced)
        if key not in _columns:
            _columns[key] = (self.traced, Columns.of(self.loop, self.demand))
        return _columns[key][1]

    @cached_property
    def begins(self) -> Pace:
        """The pace that suits the modes at the start, whatever steps the run takes after it."""
        λ = modes(self.traced, 0.0, self.x0, self.inputs[0], self.constants)
        return at_first(λ, longest_of(self.loop, self.scenario), self.scenario.length())

    def run(self) -> tuple[Attempt, Pace, bool]:
        """(run, its pace, whether the integrator followed it); the run's result is (grid, rows, last state)."""
        return at_its_pace(
            self.loop,
            self.scenario,
            lambda: self.begins,
            self.at_pace,
            halvings=self.halvings,
        )

    def at_pace(self, pace: Pace) -> Attempt:
        """The run at this pace."""
        g = self.grid_at(pace)
        machine, c = integrator(self.loop, self.traced, self.compiled, pace)
        begun = machine.begin(0.0, self.x0, self.inputs[0], c)
        state = np.concatenate([begun, np.zeros(self.traced.n_powers)])
        columns = self.columns
        logged = columns.room(g.rows)
        most = max(1, CHUNK // g.rows_a_sample)
        rows = np.empty((most * g.rows_a_sample, machine.row))
        done = 0
        while done < g.n:
            count = min(most, g.n - done)
            made = self.advance(machine, c, g, state, done, count, rows)
            part = slice(g.kept(done), g.kept(done + made))
            columns.take(logged[part], rows[: part.stop - part.start])
            done += made
            if made < count:
                break
            if self.progress:
                self.progress(done / g.n)
        return self.attempt(g, done, logged[: g.kept(done)], state)

    def grid_at(self, pace: Pace) -> Grid:
        """Samples, steps and rows of the run at this pace."""
        longer = pace.longest >= self.scenario.max_step
        g = self.grid if longer else grid(self.loop, self.scenario, pace.longest)
        return logging(g, self.scenario, self.rows, pace.longest)

    def attempt(self, g: Grid, done: int, logged: np.ndarray, state: np.ndarray) -> Attempt:
        """The run tried at one pace: number of samples done, their rows, the state at the end."""

        def instant(row: int) -> tuple[float, np.ndarray, np.ndarray]:
            k = g.sample(row)
            return k * self.grid.T, logged[row, : self.traced.n_states], self.inputs[k]

        def look(shares: Sequence[float]) -> list[np.ndarray]:
            if not done:
                return [np.zeros(0) for _ in shares]
            at = [instant(int(share * (len(logged) - 1))) for share in shares]
            return modes_at(self.traced, at, self.constants)

        inside = partial(samples_inside, self.loop.plant, self.columns.signals, logged, g.sample)
        return Attempt(g.n, done, g.T, look, (g, logged, state), inside)

    def advance(
        self, machine, c, g: Grid, state, first: int, count: int, rows, jumping: bool = True
    ) -> int:
        """Samples `first` to `first + count` from `state`, which is written, as are `rows`; how many were done."""
        own = np.ascontiguousarray(self.inputs[first : first + count])
        driving = self.driving(machine.offsets, g, first, count)
        jumps = jumping and self.loop.period is not None
        return machine.run(
            first, count, g.every, jumps, g.T, g.n1, g.h1, g.n2, g.h2, state, own, driving, c, rows
        )

    def driving(
        self, offsets: tuple[float, ...], g: Grid, first: int, count: int
    ) -> np.ndarray | None:
        """Inputs (count, stages, inputs) at all stages of samples; None where the flow takes those of its sample."""
        if not self.traced.flow_is_driven:
            return None
        stages = g.stages(first, count, offsets)
        values = self.demand.at(stages.ravel(), noise=False)
        values = values.reshape(*stages.shape, len(self.demand.live))
        kinds = [self.demand.kinds[name] for name in self.demand.live]
        held = [i for i, kind in enumerate(kinds) if kind == "noise"]
        if held:
            values = values.copy()
            values[:, :, held] = self.inputs[first : first + count][:, None, held]
        return np.ascontiguousarray(values)
