"""sweep: a study over a grid, one row of a table a case."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from typing import Any

from workbench.contract.errors import InputError
from workbench.run.processes import cores
from workbench.sweep.cluster import check_address, on_cluster
from workbench.sweep.grid import Grid
from workbench.sweep.journal import Journal
from workbench.sweep.local import here, on_processes
from workbench.sweep.outcome import Outcome, digest, outcomes
from workbench.sweep.table import Table, ending, tabulated


def sweep(
    study: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    grid: Grid | Mapping[str, Sequence],
    *,
    out: str | os.PathLike | None = None,
    resume: bool = False,
    jobs: int | None = None,
    scheduler: str | None = None,
    units: Mapping[str, str] | None = None,
    about: Mapping[str, Any] | None = None,
    progress: Callable[[float, str], None] | None = None,
    told: Callable[[int, int], None] | None = None,
) -> Table:
    """`study(point)` for every point of `grid` → Table, the same bit for bit wherever and in whatever order the cases ran.

    study      point (parameter → value as the grid has it) → results: name → number, text or None, or (number, unit)
    grid       Grid, or parameter → values
    out        file of the table (.nc or .parquet). Beside it lies `OUT.journal` with every finished case
    resume     take finished cases from there; cases are known by the hash of what they depend on (`outcome.digest`)
    jobs       processes on this machine, by default one a core; 1: this process
    scheduler  address of a Dask scheduler, such as tcp://10.0.0.1:8786, instead
    units      parameter → SI unit of values given as plain numbers
    about      plain data kept with the table
    progress   called with (fraction, words);  told  with (cases taken from the journal, cases in all) before any runs

    In a script call it below `if __name__ == "__main__":`, since every process reads the script again. A study that raises makes
    its row an error, the others go on. Equal cases run once. Raises InputError for outputs that cannot be written or that another
    sweep writes to, an unknown scheduler, and a study that cannot be sent to other processes.
    """
    grid = grid if isinstance(grid, Grid) else Grid(grid)
    jobs = cores() if jobs is None else jobs
    _check_asked(jobs, scheduler, out)
    tell = progress or (lambda fraction, words="": None)
    points = grid.points()
    keys = [digest(study, point) for point in points]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    with Journal(out, resume) if out is not None else nullcontext() as journal:
        done: dict[str, Outcome] = (
            {k: journal.known[k] for k in first if k in journal.known} if journal else {}
        )
        if told:
            told(sum(key in done for key in keys), len(keys))
        todo = [(i, points[i]) for i in sorted(i for key, i in first.items() if key not in done)]
        with closing(_running(study, todo, jobs, scheduler)) as finished:
            _gather(finished, keys, done, journal, len(todo), tell)
        table = tabulated(points, [done[key] for key in keys], units or {}, about or {})
        if out is not None:
            _save(table, out)
    return table


def _check_asked(jobs: int, scheduler: str | None, out) -> None:
    """InputError for a number of processes, a scheduler or an output that cannot be."""
    if jobs < 1:
        raise InputError(
            f"{jobs} processes, expected one or more", mend="leave --jobs out to use every core"
        )
    if scheduler is not None:
        check_address(scheduler)
    if out is not None:
        _check_out(out)


def _gather(finished, keys, done: dict[str, Outcome], journal, asked: int, tell) -> None:
    """Take every finished case into `done` and the journal, of `asked` that are run."""
    before = len(done)
    failed = sum(bool(outcome.error) for outcome in done.values())
    for i, outcome in finished:
        if journal and outcome.kept:
            journal.add(keys[i], outcome)
        done[keys[i]] = outcome
        failed += bool(outcome.error)
        words = f"{len(done)} of {before + asked}"
        tell((len(done) - before) / asked, words + (f", {failed} failed" if failed else ""))


def _save(table: Table, out) -> None:
    try:
        table.save(out)
    except InputError as why:
        mend = f"{why.mend}; then go on with --resume, which runs nothing again"
        raise InputError(why.message, file=why.file, mend=mend) from why


def _running(study, todo, jobs, scheduler) -> Iterator[tuple[int, Outcome]]:
    if todo and scheduler is not None:
        return on_cluster(study, todo, scheduler)
    several = study.beside([point for _, point in todo]) if hasattr(study, "beside") else 1
    if several > 1:
        return _in_groups(study, todo, jobs, several)
    return here(study, todo) if not todo or jobs == 1 else on_processes(study, todo, jobs)


def _in_groups(study, todo, jobs, several: int) -> Iterator[tuple[int, Outcome]]:
    """Cases that go side by side in a process; those whose process died run again, each apart."""
    groups = [todo[i : i + several] for i in range(0, len(todo), several)]
    asked = [(k, [point for _, point in group]) for k, group in enumerate(groups)]
    made = here(study, asked, outcomes) if jobs == 1 else on_processes(study, asked, jobs, outcomes)
    for k, found in made:
        if isinstance(found, Outcome):
            yield from on_processes(study, groups[k], jobs)
        else:
            yield from ((i, one) for (i, _), one in zip(groups[k], found))


def _check_out(out) -> None:
    from workbench.files.atomic import check_writable

    ending(out)
    check_writable(out)
