"""Many runs at once: those of one graph and one grid side by side in one compiled loop, blocks of them on all cores.

    simulate_many([(loop, scenario), …])                    [Log, …]
    simulate_many(jobs, measure)                            [measure(k, log), …], logs dropped as they are measured

A run among others gives the numbers that `simulate` gives alone, to the last bit: a lane makes the operations of a run alone in
their order (`workbench.numerics.lanes`), and a run that asks for another pace than it began with, or diverges, is done again
alone. Alone from the beginning are those that have no lane: laws called from Python, plants that bring their own integrator,
implicit steps, plants on floats, runs whose accuracy is asked for.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from workbench.contract.checks import check_plant
from workbench.contract.errors import InputError
from workbench.contract.reach import steady
from workbench.contract.system import System, check_system
from workbench.numerics.adaptive import adaptive, fixed
from workbench.numerics.laned import width
from workbench.run.attempt import Attempt
from workbench.run.block import known_lanes, lanes_of, side_by_side
from workbench.run.demand import Demand
from workbench.run.ending import finish
from workbench.run.fused import Fused, at_its_pace, own_integrator
from workbench.run.grid import Rows
from workbench.run.log import Log
from workbench.run.pace import Pace
from workbench.run.scenario import Scenario, stated
from workbench.run.simulate import simulate
from workbench.run.start import start_state
from workbench.run.workers import Workers

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

    jobs      pairs of a loop and its scenario
    measure   called as soon as a run is done, on one of the threads: logs of many runs are large
    rows      as for `simulate`
    progress  called with the share of the runs that is done
    threads   how many; left out, as many as there are cores

        errors = fp.simulate_many(
            [(fp.ClosedLoop(fp.changed(crane, {"payload.mass": m}), law), scenario) for m in (0.0, 50.0)],
            lambda k, log: float(abs(log["e_q_1"]).max()),
        )

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
    with Workers(most) as pool, steady():
        try:
            for k, value in _measured(pool, _blocks(jobs, rows, turned_away), keep, 2 * most):
                put(k, value)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
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
            run, pace, sure = at_its_pace(f.loop, f.scenario, lambda: self.pace, at)
            return finish(f.loop, f.scenario, f.demand, f.inputs, run, pace, sure, f.columns)


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
    under_way: deque[Future] = deque()
    for block in blocks:
        under_way.append(pool.submit(_one_block, block, keep, pool.submit))
        if len(under_way) >= most:
            yield from _results(under_way.popleft())
    for future in under_way:
        yield from _results(future)


def _results(block: Future) -> Iterator[tuple[int, Any]]:
    for run in block.result():
        yield run.result()


def _one_block(block: list[Waiting], keep, submit) -> list[Future]:
    """The runs of a block, side by side where they have lanes; what is kept of each is measured by itself."""
    known: list[dict] = [{} for _ in block]
    first = block[0].fused
    if first is not None and known_lanes(first.traced) is not None:
        attempts = side_by_side([w.fused for w in block], block[0].pace)
        known = [{w.pace: made} for w, made in zip(block, attempts)]
    return [submit(_kept, w, made, keep) for w, made in zip(block, known)]


def _kept(waiting: Waiting, made: dict[Pace, Attempt], keep) -> tuple[int, Any]:
    """(number, what is kept) of one run, of which lanes made some attempts already."""
    if waiting.fused is None:
        return waiting.number, keep(waiting.number, *waiting.alone())
    return waiting.number, keep(waiting.number, waiting.log(made), waiting.fused.demand)


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


def has_lane(loop: System, scenario: Scenario) -> bool:
    """Whether runs of a loop can go side by side, unless their modes ask for implicit steps."""
    if loop.hosted or loop.plant.on_floats:
        return False
    if scenario.accuracy is not None or loop.plant.dead_ends:
        return False
    return own_integrator(loop) is None and not adaptive(loop) and not fixed(loop)


def _checked(job: Any) -> Job:
    """The loop and the scenario of a job. InputError for anything but such a pair."""
    if not isinstance(job, (tuple, list)) or len(job) != 2:
        raise InputError(
            f"expected a loop and its scenario, got {type(job).__name__}",
            mend="write simulate_many([(loop, scenario), …])",
        )
    loop, scenario = job
    check_system(loop)
    return loop, stated(scenario)


def _prepared(number: int, job: Job, rows: Rows) -> tuple[Waiting, Any]:
    """(the run, which others can go beside it; None: none can)."""
    job = loop, scenario = _checked(job)
    alone = Waiting(number, job, rows)
    if not has_lane(loop, scenario):
        return alone, None
    check_plant(loop)
    x0 = start_state(loop, scenario)
    fused = Fused(loop, scenario, Demand(loop, scenario, x0), x0, rows)
    pace = fused.begins
    if pace.implicit:
        return alone, None
    whole = Waiting(number, job, rows, fused, pace)
    return whole, (id(fused.traced), pace, replace(fused.grid_at(pace), n=0))
