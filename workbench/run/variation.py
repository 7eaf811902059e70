"""How a whole run changes along a direction: derivatives of every signal of its log, by the loop's own variation.

    Varying(loop, scenario, log).along(less, more, width)     d log / dε, in the rows and columns of the log

The direction is given by two jobs (loop, scenario) near the run on both sides, `width` apart in ε. What the loop does with its
numbers, its inputs and its state is differentiated exactly (`workbench.numerics.varied`); the start and the inputs of a run, which
Python computes, are differentiated by central differences between the two jobs. There is no variation where a law is called from
Python, where a plant brings its own integrator or ends at dead ends, where steps are implicit or find their own length, or where
the variation is not finite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.numerics.varied import Varied, constants, varied
from workbench.run.demand import Demand
from workbench.run.fused import CHUNK, Fused, compiled_loop
from workbench.run.grid import Grid
from workbench.run.log import Log
from workbench.run.many import Job, has_lane
from workbench.run.pace import Pace
from workbench.run.scenario import Scenario
from workbench.run.start import start_state

SAME = 1e-6  # share of a signal's largest value: what the pair's own run may differ by from the run


def has_variation(loop: System, scenario: Scenario, log: Log) -> bool:
    """Whether a run with this log has a variation."""
    return (
        has_lane(loop, scenario) and log.status.completed and not log.provenance["pace"]["implicit"]
    )


@dataclass(frozen=True, eq=False)
class Varying:
    """A run that was made, with a row a step in its log, of which `has_variation` is true."""

    loop: System
    scenario: Scenario
    log: Log

    @cached_property
    def fused(self) -> Fused:
        """The run."""
        return self._prepared(self.loop, self.scenario)

    @cached_property
    def pair(self) -> Varied:
        """The loop with its variation."""
        return varied(self.fused.traced)

    @cached_property
    def grid(self) -> Grid:
        """Steps and rows of the run."""
        longest = self.log.provenance["pace"]["longest"]
        return self.fused.grid_at(Pace(inf if longest is None else longest))

    def _prepared(self, loop: System, scenario: Scenario) -> Fused:
        """A run of the same length, ready."""
        same = replace(scenario, duration=self.scenario.length())
        x0 = start_state(loop, same)
        return Fused(loop, same, Demand(loop, same, x0), x0, "steps")

    def prepare(self) -> None:
        """Trace and compile what `along` needs: threads do not."""
        compiled_loop(self.pair.traced, None)

    def along(self, less: Job, more: Job, width: float) -> np.ndarray | None:
        """d log / dε (rows, signals); None where the jobs have another graph or other steps, or it leaves the numbers."""
        try:
            ends = [self._prepared(*job) for job in (less, more)]
        except (InputError, ArithmeticError):
            return None
        own = self.fused
        if any(end.traced is not own.traced or end.grid != own.grid for end in ends):
            return None
        slope = lambda of: (of(ends[1]) - of(ends[0])) / width
        numbers = own.traced.numbers(own.loop)
        moved = slope(lambda run: own.traced.numbers(run.loop))
        c = constants(self.pair, numbers, moved, own.constants)
        given = np.hstack([own.inputs, slope(lambda run: run.inputs)])
        state = self._begun(c, given[0], slope(lambda run: np.asarray(run.x0, float)))
        drives = lambda first, count: self._driving(ends, width, first, count)
        made = self._followed(c, np.ascontiguousarray(given), state, drives)
        if made is None:
            return None
        at = self.log.time
        shown = (
            given[:: self.grid.every, given.shape[1] // 2 :]
            if self.grid.every
            else slope(lambda run: run.demand.at(at, noise=False))
        )
        self.fused.columns.give(made, shown)
        return made if np.isfinite(made).all() else None

    def _begun(self, c: np.ndarray, given: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """The pair's first state, with its power integrals."""
        pair = self.pair
        begun = pair.traced.start(0.0, pair.paired(self.fused.x0, moved), given, c)
        return np.concatenate([np.array(begun).ravel(), np.zeros(pair.traced.n_powers)])

    def _driving(self, ends: list[Fused], width: float, first: int, count: int):
        """Inputs at the stages of some samples, and how they change; None where the flow takes those of its sample."""
        if not self.pair.traced.flow_is_driven:
            return None
        offsets = compiled_loop(self.pair.traced, None).offsets
        less, more = (end.driving(offsets, self.grid, first, count) for end in ends)
        own = self.fused.driving(offsets, self.grid, first, count)
        return np.ascontiguousarray(np.concatenate([own, (more - less) / width], axis=-1))

    def _followed(self, c, given, state, drives) -> np.ndarray | None:
        """The variation of every row, in the columns of the log."""
        machine = compiled_loop(self.pair.traced, None)
        g = self.grid
        own, other = self.pair.places()
        columns = self.fused.columns
        tables = [columns.room(g.rows) for _ in range(2)]
        rows = np.empty((CHUNK * g.rows_a_sample, machine.row))
        jumping = self.loop.period is not None
        for first in range(0, g.n, CHUNK):
            count = min(CHUNK, g.n - first)
            segments = (g.T, g.n1, g.h1, g.n2, g.h2)
            some = np.ascontiguousarray(given[first : first + count])
            driving = drives(first, count)
            made = machine.run(
                first, count, g.every, jumping, *segments, state, some, driving, c, rows
            )
            if made < count:
                return None
            part = slice(g.kept(first), g.kept(first + count))
            for table, places in zip(tables, (own, other)):
                columns.take(table[part], rows[: part.stop - part.start, places])
        return tables[1] if self._is_the_run(tables[0]) else None

    def _is_the_run(self, made: np.ndarray) -> bool:
        """Whether the pair's own rows, without live inputs, are those of the log."""
        if len(made) != len(self.log.values):
            return False
        kept = slice(0, len(self.fused.columns.keep))
        known = self.log.values[:, kept]
        off = np.abs(made[:, kept] - known).max(axis=0)
        return bool((off <= SAME * np.abs(known).max(axis=0) + 1e-300).all())
