"""Instants of a run: its samples, the steps of its integrator, the rows of its log.

Which rows a log has changes no step: a log that a reader wants coarser is a whole one with rows left out (`as_asked`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from workbench.contract.capabilities import Jumps
from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.numerics.adaptive import fixed
from workbench.run.log import Log
from workbench.run.scenario import Scenario

MOST_ROWS = 4_000_000  # of a log with a row a step
MOST_SAMPLES, MOST_STEPS = 50_000_000, 5_000_000_000  # of a run: beyond it is a slip of the pen
MANY = 100_000  # times: longer arrays of them are not kept for the next run
FINER = 100  # times shorter than max_step a step may become to end on a jump
Rows = Literal["asked", "steps"]


@dataclass(frozen=True)
class Grid:
    """Times of a run: n samples T apart, each integrated in n1 steps of h1 up to the lag and n2 of h2 after it.

    every    samples from one row of the log to the next; 0: there is a row at the beginning of every step
    """

    T: float
    n: int
    n1: int
    h1: float
    n2: int
    h2: float
    every: int

    @property
    def rows(self) -> int:
        """Rows of the whole log."""
        return (self.n - 1) // self.every + 1 if self.every else self.n * (self.n1 + self.n2)

    def kept(self, done: int) -> int:
        """Rows of the first `done` samples."""
        if not self.every:
            return done * (self.n1 + self.n2)
        return (done - 1) // self.every + 1 if done else 0

    @property
    def rows_a_sample(self) -> int:
        """Rows of one sample, at most."""
        return 1 if self.every else self.n1 + self.n2

    def sample(self, row: int) -> int:
        """The sample that a row belongs to."""
        return row * self.every if self.every else row // (self.n1 + self.n2)

    @property
    def samples(self) -> np.ndarray:
        """Times of all samples, read only."""
        return evenly(self.n, self.T)

    def times(self, rows: int) -> np.ndarray:
        """Times of the first rows."""
        if self.every:
            return evenly(rows, self.T * self.every)
        return self.stages(0, self.n, (0.0,)).ravel()[:rows]

    def stages(self, first: int, count: int, offsets: tuple[float, ...]) -> np.ndarray:
        """All times (count, steps × stages) at which the flow's inputs are needed."""
        begins = np.concatenate(
            [np.arange(self.n1) * self.h1, self.n1 * self.h1 + np.arange(self.n2) * self.h2]
        )
        lengths = np.repeat([self.h1, self.h2], [self.n1, self.n2])
        one = (begins[:, None] + lengths[:, None] * np.array(offsets)).ravel()
        return (first + np.arange(count))[:, None] * self.T + one[None, :]


def evenly(count: int, apart: float) -> np.ndarray:
    """Times `apart` s from one to the next, from 0 on, read only: many runs have the same ones."""
    return _evenly(count, apart) if count <= MANY else _spread(count, apart)


def _spread(count: int, apart: float) -> np.ndarray:
    made = np.arange(count) * apart
    made.flags.writeable = False
    return made


_evenly = lru_cache(maxsize=8)(_spread)


def grid(system: System, scenario: Scenario, longest: float = math.inf) -> Grid:
    """Samples and steps of at most `longest` (s) for a run of `system`; steps end where an input that drives the flow jumps."""
    sampled = system.period is not None
    most = scenario.max_step
    if fixed(system):
        most = min(most, fixed(system).step)
    shortest = system.plant.own_step or 0.0
    most = max(most, shortest)
    bearable = system.plant.longest_step
    if bearable is not None and most > bearable:
        who = type(system.plant).__name__
        raise InputError(
            f"scenario: max_step = {most:g} s, and the {who} bears steps of up to {bearable:.3g} s only",
            key="max_step",
            mend="give a shorter max_step (and log_period for fewer rows)",
        )
    T = float(system.period) if sampled else row_step(scenario.log_period, most)
    wanted = scenario.length() / T
    if not wanted < MOST_SAMPLES:
        raise InputError(
            f"scenario: {wanted:.3g} samples are more than a run can hold",
            key="duration",
            mend="shorten the run or lengthen the sample time",
        )
    n = int(round(wanted)) + 1
    lag = float(system.lag) if sampled else 0.0
    at = [
        t - math.floor(t / T + 1e-9) * T
        for value in driving(system, scenario)
        for t in value.jumps()
        if t < n * T
    ]
    most = max(min(most, longest), shortest)
    n1 = steps(lag, most, at) if lag > 0 else 0
    n2 = steps(T - lag, most, [t - lag for t in at])
    if n * (n1 + n2) > MOST_STEPS:
        raise InputError(
            f"scenario: {n * (n1 + n2):.3g} steps of the integrator would take days",
            key="max_step",
            mend="shorten the run, or let a step be longer (max_step)",
        )
    every = max(1, round(scenario.log_period / T)) if scenario.log_period else 1
    return Grid(T, n, n1, lag / n1 if n1 else 0.0, n2, (T - lag) / n2, every)


def row_step(log_period: float | None, most: float) -> float:
    """Distance of the rows of a continuous loop, at most `most`, of which a whole number makes a log period."""
    if log_period is None:
        return most
    return log_period / max(1, math.ceil(log_period / most - 1e-9))


def driving(system: System, scenario: Scenario) -> list:
    """What jumps in the scenario and reaches the flow between samples."""
    given = [
        *scenario.disturbances.values(),
        *([scenario.reference] if system.period is None else []),
    ]
    return [value for value in given if isinstance(value, Jumps)]


def steps(span: float, most: float, at: list[float]) -> int:
    """Number of equal steps, none longer than `most`, into which `span` is cut so that one ends at each of `at` inside it."""
    if not span / most < MOST_STEPS:
        raise InputError(
            f"scenario: {span / most:.3g} steps of the integrator from one sample to the next",
            key="max_step",
            mend="let a step be longer (max_step)",
        )
    least = max(1, math.ceil(span / most - 1e-9))
    inside = [t / span for t in at if 1e-9 * span < t < (1 - 1e-9) * span]
    for n in range(least, FINER * least + 1):
        if all(abs(part * n - round(part * n)) < 1e-9 * n for part in inside):
            return n
    raise InputError(
        f"scenario: an input jumps {inside[0] * span:g} s after a sample, where no step can end",
        mend="let it jump on multiples of max_step (or of the sample time)",
    )


def logging(g: Grid, scenario: Scenario, rows: Rows, longest: float = math.inf) -> Grid:
    """The grid with the rows that are wanted; rows at steps as long as these are no more than MOST_ROWS."""
    if rows == "asked":
        return g
    several = g.T > (1 + 1e-9) * min(scenario.max_step, longest)
    return replace(g, every=0 if several and g.n * (g.n1 + g.n2) <= MOST_ROWS else 1)


def at_samples(log: Log) -> Log:
    """Of a log with a row a step, the rows at samples; it shares their memory."""
    g = log.provenance["grid"]
    if g["every"]:
        return log
    return thinned(log, g["n1"] + g["n2"], 1)


def as_asked(log: Log, loop: System, scenario: Scenario) -> Log:
    """Of a log with a row a sample, the rows that the scenario's `log_period` asks for."""
    g = grid(loop, scenario)
    return log if g.every == 1 else thinned(log, g.every, g.every)


def thinned(log: Log, k: int, every: int) -> Log:
    """Every k-th row of a log, which are those of evenly spaced samples."""
    grid_of_rows = {**log.provenance["grid"], "every": every}
    return replace(
        log,
        time=log.time[::k],
        values=log.values[::k],
        provenance={**log.provenance, "grid": grid_of_rows},
    )
