"""Many runs at once: those of one structure and one grid side by side in one compiled loop, blocks of them on all cores.

    simulate_many([(loop, scenario), …])                    [Log, …]
    simulate_many(jobs, measure)                            [measure(k, log), …], logs dropped as they are measured

A run among others gives the numbers that `simulate` gives alone, to the last bit: a lane makes the operations of a run alone in
their order (`workbench.numerics.lanes`), and a run that asks for another pace than it began with, or diverges, is done again
alone. Alone from the beginning are those that have no lane: laws called from Python, plants that bring their own integrator,
implicit steps, runs whose accuracy is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.contract.checks import check_plant
from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.numerics.adaptive import adaptive, fixed
from workbench.numerics.lanes import Lanes, width
from workbench.run.columns import Columns
from workbench.run.demand import Demand
from workbench.run.fused import Fused, at_its_pace, compiled_loop, own_integrator
from workbench.run.grid import Rows
from workbench.run.log import Log
from workbench.run.pace import Attempt, Pace, check, needed
from workbench.run.scenario import Scenario
from workbench.run.simulate import finish, simulate, start_state

CHUNK = 500  # samples of a block between looks at what its lanes made: their rows stay in the processor's cache
Job = tuple[System, Scenario]


def simulate_many(
    jobs: Sequence[Job],
    measure: Callable[[int, Log], Any] | None = None,
    *,
    rows: Rows = "asked",
    progress: Callable[[float], None] | None = None,
    threads: int | None = None,
) -> list:
    """The Log of every (loop, scenario), or what `measure(k, log)` makes of run k, in the order of the jobs.

    Logs of many runs are large: give `measure`, which is called as soon as a run is done, on one of the threads. `rows` as for
    `simulate`; progress: called with the share of the runs that is done. threads: as many as there are cores where left out.
    Raises InputError as `simulate` does, with the number of the run before its words.
    """
    keep = measure or (lambda k, log: log)
    return each_run(
        jobs, lambda k, log, demand: keep(k, log), rows=rows, progress=progress, threads=threads
    )


def each_run(
    jobs: Sequence[Job],
    keep: Callable[[int, Log, Demand], Any],
    refused: Callable[[int, InputError], Any] | None = None,
    *,
    rows: Rows = "asked",
    progress: Callable[[float], None] | None = None,
    threads: int | None = None,
) -> list:
    """`keep(k, log, demand)` of every run, as `simulate_many`; refused(k, why): of a run that cannot be made."""
    found: list = [None] * len(jobs)
    count = 0

    def put(k: int, value: Any) -> None:
        nonlocal count
        found[k] = value
        count += 1
        if progress:
            progress(count / len(jobs))

    turned_away = None if refused is None else (lambda k, why: put(k, refused(k, why)))
    most = threads or cores()
    with ThreadPoolExecutor(most) as pool:
        for k, value in _measured(pool, _blocks(jobs, rows, turned_away), keep, 2 * most):
            put(k, value)
    return found


def cores() -> int:
    """Processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@dataclass(frozen=True, eq=False)
class Waiting:
    """A run that waits for others to run beside it.

    number   of the job
    fused    the run; None where it goes alone
    pace     it begins with
    """

    number: int
    job: Job
    rows: Rows
    fused: Fused | None = None
    pace: Pace = Pace()

    def alone(self) -> tuple[Log, Demand]:
        """The run by itself, and what was demanded of it."""
        loop, scenario = self.job
        with _named(self.number):
            demand = Demand(loop, scenario, start_state(loop, scenario))
            return simulate(loop, scenario, rows=self.rows, demand=demand), demand

    def log(self, known: dict[Pace, Attempt]) -> Log:
        """The log, where lanes made some attempts of the run already."""
        f = self.fused

        def at(pace: Pace) -> Attempt:
            return known.get(pace) or f.at_pace(pace)

        with _named(self.number):
            run, pace, sure = at_its_pace(f.loop, f.scenario, lambda: f.modes(0, f.x0), at)
            return finish(f.loop, f.scenario, f.demand, f.inputs, run, pace, sure)


class _named:
    """Says which run an InputError speaks of."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, why: Any, _: Any) -> None:
        if isinstance(why, InputError):
            where = f"run {self.number + 1}: {why.message}"
            raise InputError(where, key=why.key, mend=why.mend) from None


def _measured(pool, blocks: Iterator[list[Waiting]], keep, most: int) -> Iterator[tuple[int, Any]]:
    """(number, what was kept of its log) of every run; at most so many blocks are under way."""
    under_way: list[Future] = []
    for block in blocks:
        under_way.append(pool.submit(_one_block, block, keep))
        if len(under_way) >= most:
            yield from under_way.pop(0).result()
    for future in under_way:
        yield from future.result()


def _one_block(block: list[Waiting], keep) -> list[tuple[int, Any]]:
    if block[0].fused is None:
        return [(w.number, keep(w.number, *w.alone())) for w in block]
    lanes = _lanes.get(id(block[0].fused.traced))
    known = [{} for _ in block]
    if lanes is not None and lanes[1].lib is not None:
        attempts = side_by_side([w.fused for w in block], block[0].pace)
        known = [{w.pace: made} for w, made in zip(block, attempts)]
    return [
        (w.number, keep(w.number, w.log(made), w.fused.demand)) for w, made in zip(block, known)
    ]


def _blocks(jobs: Sequence[Job], rows: Rows, refused=None) -> Iterator[list[Waiting]]:
    """Runs that go side by side, as soon as there are enough of a kind; the rest at the end."""
    kinds: dict[Any, list[Waiting]] = {}
    for k, job in enumerate(jobs):
        try:
            with _named(k):
                waiting, kind = _prepared(k, job, rows)
        except InputError as why:
            if refused is None:
                raise
            refused(k, why)
            continue
        if kind is None:
            yield [waiting]
            continue
        same = kinds.setdefault(kind, [])
        same.append(waiting)
        if len(same) == 2:
            lanes_of(waiting.fused.traced)  # compiled here: threads do not trace
        if len(same) == width():
            yield kinds.pop(kind)
    yield from kinds.values()


def _prepared(number: int, job: Job, rows: Rows) -> tuple[Waiting, Any]:
    """(the run, which others can go beside it; None: none can)."""
    loop, scenario = job
    alone = Waiting(number, job, rows)
    if loop.hosted or scenario.accuracy is not None or loop.plant.dead_ends:
        return alone, None
    if own_integrator(loop) is not None or adaptive(loop) or fixed(loop):
        return alone, None
    check_plant(loop)
    x0 = start_state(loop, scenario)
    fused = Fused(loop, scenario, Demand(loop, scenario, x0), x0, rows)
    λ = fused.modes(0, x0)
    check(λ, scenario.length())
    pace = needed(λ, scenario.max_step, scenario.length())
    if pace.implicit:
        return alone, None
    whole = Waiting(number, job, rows, fused, pace)
    return whole, (id(fused.traced), pace, replace(fused.grid_at(pace), n=0))


_lanes: dict = {}


def lanes_of(traced) -> Lanes:
    """The Lanes of a trace, built once."""
    if id(traced) not in _lanes:
        _lanes[id(traced)] = (traced, Lanes(compiled_loop(traced, None)))
    return _lanes[id(traced)][1]


def side_by_side(runs: list[Fused], pace: Pace) -> list[Attempt]:
    """What `pace` makes of runs of one trace whose grids differ in their length at most."""
    lanes = lanes_of(runs[0].traced)
    block = _Block(lanes, runs, pace)
    longest = max(g.n for g in block.grids)
    done = 0
    while done < longest and block.advance(done, min(CHUNK, longest - done)):
        done += CHUNK
    return block.attempts()


class _Block:
    """Runs in the lanes of one compiled loop; lanes without a run repeat the first."""

    def __init__(self, lanes: Lanes, runs: list[Fused], pace: Pace) -> None:
        self.lanes, self.runs = lanes, runs
        self.grids = [run.grid_at(pace) for run in runs]
        self.columns = [Columns.of(run.loop, run.demand) for run in runs]
        self.logged = [c.room(g.rows) for c, g in zip(self.columns, self.grids)]
        self.done = [0] * len(runs)
        own = list(range(len(runs))) + [0] * (lanes.count - len(runs))
        alone = lanes.alone
        begun = [alone.begin(0.0, r.x0, r.inputs[0], r.constants) for r in runs]
        self.own = own
        self.state = lanes.room(alone.n_x + alone.n_q)
        self.state[: alone.n_x] = np.array([begun[i] for i in own]).T
        self.c = lanes.room(max(1, len(runs[0].constants)))
        self.c[: len(runs[0].constants)] = np.array([runs[i].constants for i in own]).T
        self.W = lanes.room(CHUNK, alone.n_w)
        self.rows = lanes.room(CHUNK * self.grids[0].rows_a_sample, lanes.row)

    def advance(self, first: int, count: int) -> bool:
        """Samples `first` to `first + count` of every run that is not at its end; whether one still goes on."""
        left = [min(g.n - first, count) for g in self.grids]
        wanted = [k if done == first else 0 for k, done in zip(left, self.done)]
        if not any(k > 0 for k in wanted):
            return False
        samples = np.zeros(self.lanes.count, dtype=np.int64)
        samples[: len(wanted)] = np.maximum(wanted, 0)
        g, jumping = self.grids[0], self.runs[0].loop.period is not None
        F = self._given(first, count)
        segments = (g.T, g.n1, g.h1, g.n2, g.h2)
        self.lanes.run(
            first, samples, g.every, jumping, segments, self.state, self.W, F, self.c, self.rows
        )
        for i, made in enumerate(samples[: len(wanted)]):
            if wanted[i] > 0:
                self._take(i, first, int(made))
        return True

    def _given(self, first: int, count: int) -> np.ndarray | None:
        """Inputs of the samples into W; those at the stages of their steps, where the flow is driven by them."""
        for lane, i in enumerate(self.own):
            given = self.runs[i].inputs[first : first + count]
            self.W[: len(given), :, lane] = given
        if not self.runs[0].traced.flow_is_driven:
            return None
        offsets = self.lanes.alone.offsets
        stages = [r.driving(offsets, g, first, count) for r, g in zip(self.runs, self.grids)]
        F = self.lanes.room(*stages[0].shape)
        for lane, i in enumerate(self.own):
            F[..., lane] = stages[i]
        return F

    def _take(self, i: int, first: int, made: int) -> None:
        """Put what lane i made into the table of its run."""
        g = self.grids[i]
        part = slice(g.kept(first), g.kept(first + made))
        self.columns[i].take(self.logged[i][part], self.rows[: part.stop - part.start, :, i])
        self.done[i] = first + made

    def attempts(self) -> list[Attempt]:
        """What became of every run."""
        table = zip(self.runs, self.grids, self.done, self.logged)
        return [
            run.attempt(g, done, logged[: g.kept(done)], self.state[:, i].copy())
            for i, (run, g, done, logged) in enumerate(table)
        ]
